// One server. A line shows its state. When it is opened, it shows the actions, the tools, the offers, all facts and the
// logs of the server.

import { h, replace, setAttribute, setText, show } from '../elements/dom.js';
import { problemLines, serverFacts } from './serverfacts.js';
import { hubNow } from '../hub/state.js';
import { confirmButton } from '../now/cancelcontrol.js';
import { clockTime, duration, serverStateWord, shortName, visible } from '../words/text.js';
import { browseView } from '../browse/browse.js';
import { toolList } from './toollist.js';
import { plural, t } from '../words/t.js';
import type {
  ServerJson as Server,
  ServerStateJson as ServerState,
} from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page, Reply } from '../page.js';
import type { IconName } from '../elements/icon.js';

export type Call = Page['call'];

/** The sign of each state. The signs differ in shape, so that no state is shown by its colour alone. */
const icons: Record<ServerState, string> = {
  SERVER_STATE_UNSPECIFIED: '?',
  SERVER_STATE_STOPPED: '○',
  SERVER_STATE_CONNECTING: '◌',
  SERVER_STATE_READY: '●',
  SERVER_STATE_STOPPING: '◌',
  SERVER_STATE_FAILED: '✕',
  SERVER_STATE_DISABLED: '–',
  SERVER_STATE_BROKEN: '!',
  SERVER_STATE_GIVEN_UP: '✕',
};

/**
 * The actions for a server. when is tested on the state in words (see update). loses returns the question that is shown
 * if running calls would end.
 */
const actions: {
  label: string;
  glyph?: IconName;
  testid?: string;
  loses?: (calls: number) => string;
  when: RegExp;
  act: (call: Call, server: string) => Promise<Reply>;
}[] = [
  // An entry of the workspace counts only after the consent of the user. The question shows what it would run.
  {
    label: t('Review the workspace’s entry'),
    testid: 'review-entry',
    when: /waiting/,
    act: (call, server) => call('StartServer', { server, workspaceEntry: true }),
  },
  {
    label: t('Start'),
    glyph: 'start',
    when: /STOPPED|FAILED|GIVEN_UP/,
    act: (call, server) => call('StartServer', { server }),
  },
  {
    label: t('Restart'),
    glyph: 'restart',
    testid: 'restart-server',
    loses: (n) => plural(n, 'Restart, which cancels {0} request?', 'Restart, which cancels {0} requests?'),
    when: /READY|CONNECTING/,
    act: (call, server) => call('RestartServer', { server }),
  },
  {
    label: t('Stop'),
    glyph: 'stop',
    loses: (n) => plural(n, 'Stop, which cancels {0} request?', 'Stop, which cancels {0} requests?'),
    when: /READY|CONNECTING/,
    act: (call, server) => call('StopServer', { server }),
  },
  {
    label: t('Disable'),
    loses: (n) => plural(n, 'Disable, which cancels {0} request?', 'Disable, which cancels {0} requests?'),
    when: /^SERVER_STATE_(?!DISABLED|BROKEN)/,
    act: (call, server) => call('SetServerEnabled', { server, enabled: false }),
  },
  { label: t('Enable'), when: /DISABLED/, act: (call, server) => call('SetServerEnabled', { server, enabled: true }) },
  {
    label: t('Allow questions'),
    testid: 'allow-questions',
    when: /silenced/,
    act: (call, server) => call('MuteServer', { server, muted: false }),
  },
  { label: t('Sign in'), when: /sign-in:.*NEEDED/, act: (call, server) => call('SignIn', { server }) },
  {
    label: t('Sign out'),
    loses: (n) => plural(n, 'Sign out, which cancels {0} request?', 'Sign out, which cancels {0} requests?'),
    when: /sign-in:.*SIGNED_IN/,
    act: (call, server) => call('SignOut', { server }),
  },
];

export interface ServerView {
  element: HTMLElement;
  /** opens the view */
  head: HTMLElement;
  open: () => void;
  update: () => void;
  updateLogs: () => void;
  toolsChanged: () => void;
  offersChanged: () => void;
  subscribed: () => void;
  requestsChanged: () => void;
  tick: () => void;
}

export function serverView(page: Page, name: string): ServerView {
  const { state, surface } = page;
  const shownName = shortName(name);
  const icon = h('span', { 'class': 'icon', 'aria-hidden': 'true' });
  const word = h('span', { class: 'state' });
  const head = h(
    'button',
    { 'class': 'head', 'aria-expanded': 'false', 'onclick': () => expand() },
    icon,
    h('span', { class: 'name', text: shownName }),
    word,
  );
  const trouble = h('p', { class: 'problem', hidden: true });
  const refused = h('p', { class: 'problem', role: 'alert' });
  const problems = h('div', {});
  const facts = h('div', {});
  // People open a server mainly for its tools, so the other parts are folded. The details are unfolded if the server
  // does not run, or if an entry waits for consent, since they say why.
  const details = h('details', { dataset: { testid: 'server-details' } }, h('summary', { text: t('Details') }), facts);
  const logs = {
    stderr: logView(t('What {0} writes to stderr', shownName)),
    messages: logView(t('Log messages of {0}', shownName)),
  };
  const body = h('div', { class: 'body', hidden: true });
  const element = h('li', { class: 'server', dataset: { testid: `server-${name}` } }, h('h3', {}, head), trouble, body);
  /** Is made when the server is first opened. */
  let tools: ReturnType<typeof toolList> | undefined;
  let offers: ReturnType<typeof browseView> | undefined;

  const calls = () => [...state.requests.values()].filter((r) => r.server === name && r.method !== 'initialize').length;
  const buttons = actions.map((action) => ({
    action,
    button: confirmButton({
      label: action.label,
      about: shownName,
      glyph: action.glyph,
      ...(action.testid && { testid: action.testid }),
      question: () => (action.loses && calls() ? action.loses(calls()) : ''),
      act: async () => {
        const { error } = await action.act(page.call, name);
        setText(refused, visible(error?.message));
      },
    }),
  }));

  // These are for entries of files. An entry in a text that the host has passed to the hub cannot be written.
  const entryButtons = [
    { label: t('Edit…'), testid: 'edit-entry', act: () => page.adding?.openEditForm(name) },
    { label: t('Remove…'), testid: 'remove-entry', act: () => page.adding?.openRemove(name) },
  ].map(({ label, testid, act }) =>
    h('button', {
      'text': label,
      'aria-label': `${label.replace('…', '')} ${shownName}`,
      'dataset': { testid },
      'hidden': !page.adding,
      'onclick': act,
    }),
  );

  function expand() {
    const open = Boolean(body.hidden);
    show(body, open);
    head.setAttribute('aria-expanded', String(open));
    if (!open) return;
    if (!tools) {
      tools = toolList(page, name);
      offers = browseView(page, name);
      const server = state.servers.get(name);
      details.open = server?.state !== 'SERVER_STATE_READY' || (server.waitingForConsent?.length ?? 0) > 0;
      replace(
        body,
        h('div', { class: 'actions' }, ...buttons.map(({ button }) => button), ...entryButtons),
        refused,
        problems,
        tools.element,
        offers.element,
        details,
        logs.stderr.element,
        logs.messages.element,
      );
    }
    update();
    updateLogs();
    tools.load();
    offers?.load();
  }

  function update() {
    const server = state.servers.get(name);
    if (!server) return;
    const now = server.state ?? 'SERVER_STATE_UNSPECIFIED';
    setAttribute(element, 'data-state', now);
    setText(icon, icons[now]);
    tick();
    const error = now === 'SERVER_STATE_READY' ? '' : visible(server.lastError);
    const fatal = server.problems?.some((p) => p.fatal) ?? false;
    show(trouble, error !== '' || fatal);
    const worst = server.problems?.find((p) => p.fatal);
    setText(trouble, error || visible([worst?.key, worst?.message].filter(Boolean).join(': ')));
    if (body.hidden) return;
    const what = `${now} sign-in:${server.signIn ?? ''}${server.waitingForConsent?.length ? ' waiting' : ''}${server.questionsMuted ? ' silenced' : ''}`;
    for (const { action, button } of buttons) {
      const fits = action.when.test(what);
      if (!fits && button === document.activeElement) head.focus();
      show(button, fits);
    }
    replace(problems, ...problemLines(surface, server.problems ?? []));
    replace(facts, serverFacts(surface, server));
    offers?.update();
  }

  function tick() {
    const server = state.servers.get(name);
    if (server) setText(word, stateText(server, hubNow(state)));
  }

  function updateLogs() {
    if (body.hidden) return;
    const log = state.logs.get(name);
    logs.stderr.update(log?.stderr ?? []);
    logs.messages.update(
      log?.messages.map((m) => [clockTime(m.time), m.level, m.logger, m.text].filter(Boolean).join(' ')) ?? [],
    );
  }

  return {
    element,
    head,
    open: () => body.hidden && expand(),
    update,
    updateLogs,
    tick,
    toolsChanged: () => tools?.changed(!body.hidden),
    offersChanged: () => offers?.changed(!body.hidden),
    subscribed: () => offers?.subscribed(),
    requestsChanged: () => {
      tools?.requestsChanged();
      offers?.requestsChanged();
    },
  };
}

function stateText(
  { state, nextStartTime, failures = 0, signIn, launchConsent, waitingForConsent, questionsMuted }: Server,
  now: number,
) {
  const parts = [serverStateWord(state)];
  if (nextStartTime)
    parts.push(
      t('next start in {0}', duration(Math.max(0, Math.ceil((Date.parse(nextStartTime) - now) / 1000) * 1000))),
    );
  if (failures > 1) parts.push(t('{0} failures in a row', failures));
  if (signIn === 'SIGN_IN_STATE_NEEDED') parts.push(t('sign-in required'));
  if (launchConsent === 'LAUNCH_CONSENT_DECLINED') parts.push(t('start declined'));
  if (questionsMuted) parts.push(t('questions are silenced'));
  if (waitingForConsent?.length) parts.push(t('another entry waits for your consent'));
  return parts.join(' · ');
}

/** Returns a view of log lines, which is shown on demand. */
function logView(label: string) {
  const text = h('pre', { 'class': 'code log', 'tabindex': 0, 'role': 'region', 'aria-label': label });
  const summary = h('summary', { text: label });
  const element = h('details', { hidden: true, ontoggle: () => paint() }, summary, text);
  let lines: readonly string[] = [];
  function paint() {
    if (!element.open) return;
    const atEnd = text.scrollHeight - text.scrollTop - text.clientHeight < 20;
    setText(text, lines.map(visible).join('\n'));
    if (atEnd) text.scrollTop = text.scrollHeight;
  }
  return {
    element,
    update: (now: readonly string[]) => {
      lines = now;
      show(element, lines.length > 0);
      setText(summary, `${label} (${lines.length})`);
      paint();
    },
  };
}
