// The card of a prompt. It is opened, answered once, and closed with a note. Each kind of card has its own file.
import { exact } from './cardparts.js';
import { formCard, inputCard } from './cardform.js';
import { launchCard } from './cardlaunch.js';
import { samplingCard } from './cardsampling.js';
import { closesIn, closingNote, opened, transition } from './cardstate.js';
import { keepTyped, stay } from './closedcard.js';
import { toolCard } from './cardtool.js';
import { signInCard, urlCard } from './cardurl.js';
import { keepDrafts } from './carddraft.js';
import { h, setText } from '../elements/dom.js';
import { guardMs } from '../elements/guardtime.js';
import { iconButton } from '../elements/icon.js';
import { forgetMoves, watchMoves } from '../elements/moves.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type {
  PromptAnswerJson as Answer,
  PromptClosedJson as PromptClosed,
  PromptJson as Prompt,
} from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { ReplyJson as Reply } from '../../../host/src/gen/mcphub/v1/editor_pb.js';
import type { HubErrorJson as HubError, RequestJson } from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type { Kind, Kit } from './cardparts.js';
import type { Surface } from '../surface.js';
import type { ServerJson } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page } from '../page.js';

export interface CardActions {
  answer: (answer: Answer) => Promise<Reply>;
  surface: Surface;
  serverOf: (name: string) => ServerJson | undefined;
  requestOf?: (id: string) => RequestJson | undefined;
  announce: (text: string, urgency?: 'polite' | 'assertive') => void;
  /** returns the time by the hub's clock, which counts for deadlines */
  now: () => number;
  /** of this window */
  windowId: () => string;
  drafts?: Page['drafts'];
  /** is called when the card has left the page, after its note */
  gone?: () => void;
}

export interface Card {
  element: HTMLElement;
  heading: HTMLElement;
  /** the question in one line */
  title: string;
  /** turns the card into a note, which leaves the page by itself */
  closed: (closed: PromptClosed) => void;
  /** sets the focus, but never on an accept button */
  focus: () => void;
  problem: (error: HubError | undefined) => void;
}

let serial = 0;

function known(prompt: Prompt, kit: Kit): Kind | undefined {
  const server = prompt.server ?? '';
  if (prompt.toolApproval) return toolCard(prompt.toolApproval, kit);
  if (prompt.sampling) return samplingCard(prompt.sampling, kit);
  if (prompt.elicitationForm) return formCard(prompt.elicitationForm, kit);
  if (prompt.elicitationUrl) return urlCard(prompt.elicitationUrl, kit);
  if (prompt.signIn) return signInCard(prompt.signIn, server, kit);
  if (prompt.serverLaunch) return launchCard(prompt.serverLaunch, server, kit);
  if (prompt.configInput) return inputCard(prompt.configInput, kit);
  return undefined;
}

function kindOf(prompt: Prompt, kit: Kit): Kind {
  let kind: Kind | undefined;
  try {
    kind = known(prompt, kit);
  } catch (error) {
    reportError(error); // a question that cannot be shown must not hide the others
  }
  return (
    kind ?? {
      title: t('A question that this page cannot show'),
      body: [],
      accept: undefined,
      decline: { text: t('Decline'), note: t('Declined') },
    }
  );
}

export function promptCard(prompt: Prompt, actions: CardActions): Card {
  const { promptId = '', server = '' } = prompt;
  const id = `card-${++serial}`;
  let state = opened;
  const born = performance.now();
  let guarded = born;
  let guarding: ReturnType<typeof setTimeout> | undefined;
  /** The note for the answer of this card. */
  let note = '';
  let escaped = false;
  /** The button that had the focus until it was disabled. */
  let left: HTMLElement | undefined;
  const buttons: HTMLButtonElement[] = [];
  const acceptButtons: HTMLButtonElement[] = [];

  const problemLine = h('p', { class: 'field-error', role: 'alert' });
  const status = h('p', { class: 'muted card-status', role: 'status' });
  const enable = () => {
    const busy = state.phase === 'sending' || state.phase === 'running';
    const focused = document.activeElement;
    for (const button of buttons)
      button.disabled = busy && (state.phase === 'sending' || acceptButtons.includes(button));
    // A button that is disabled loses the focus, so the heading takes it.
    if (focused instanceof HTMLButtonElement && focused.disabled && buttons.includes(focused)) {
      left = focused;
      heading.focus();
    } else if (!busy && left && focused === heading) left.focus();
    article.setAttribute('aria-busy', String(busy));
    article.dataset['phase'] = state.phase;
  };

  /** Marks the accept buttons as disabled until the guard is over: an ignored click would look like a fault. */
  const guard = () => {
    guarded = performance.now();
    for (const made of acceptButtons) made.setAttribute('aria-disabled', 'true');
    clearTimeout(guarding);
    guarding = setTimeout(() => {
      for (const made of acceptButtons) made.removeAttribute('aria-disabled');
    }, guardMs);
  };

  const problem = (error: HubError | undefined) => {
    const closed = error?.reason === 'PROMPT_CLOSED';
    setText(
      problemLine,
      !error
        ? ''
        : closed
          ? t('This question was closed already; the answer changed nothing.')
          : visible(error.message) || t('The answer could not be sent.'),
    );
  };

  const send = (answer: Answer, name: string, runs: boolean = false, settled: (ok: boolean) => void = () => {}) => {
    const action = answer.accept ? 'accept' : answer.decline ? 'decline' : 'dismiss';
    const next = transition(state, { answer: action, runs });
    if (next === state) {
      settled(false);
      return;
    }
    state = next;
    note = name;
    problem(undefined);
    setText(status, runs ? t('Running the model…') : t('Sending…'));
    enable();
    void actions.answer({ promptId, ...answer }).then(({ error }) => {
      settled(!error);
      if (!error || state.answers !== next.answers) return;
      if (error.reason === 'PROMPT_CLOSED') {
        late(error);
        return;
      }
      state = transition(state, { refused: next.answers });
      setText(status, '');
      enable();
      problem(error);
    });
  };

  /** Is called when the hub refuses the answer because the question has already ended in another way. */
  const late = (error: HubError) => {
    note = '';
    setText(status, '');
    if (end) setText(end.line, `${subject} — ${closingNote(end.closed, undefined, actions.windowId())}`);
    else problem(error);
  };

  const accept = (how: Kind['accept'], { detail: clicks }: MouseEvent) => {
    if (!how || state.phase !== 'open' || performance.now() - (clicks > 0 ? guarded : born) < guardMs) return;
    const content = how.content();
    if (!content) return;
    if (!how.opens) {
      send({ accept: content }, how.note, how.runs);
      return;
    }
    // A browser opens a tab only during a click. The tab gets its address when the hub has accepted the answer.
    const tab = window.open('about:blank', '_blank');
    if (!tab) {
      problem({ message: t('The browser did not open a new tab. Allow this page to open tabs, and try again.') });
      return;
    }
    tab.opener = null;
    const { opens } = how;
    send({ accept: content }, how.note, false, (ok) => (ok ? tab.location.replace(opens) : tab.close()));
  };

  const button = (text: string, className: string, onclick: (event: MouseEvent) => void, testid: string) => {
    const made = h('button', { class: className, text, dataset: { testid }, onclick });
    buttons.push(made);
    return made;
  };
  const acceptButton = (text: string, onclick: (event: MouseEvent) => void, testid = 'accept') => {
    const made = button(text, 'primary', onclick, testid);
    watchMoves(made, guard);
    acceptButtons.push(made);
    guard();
    return made;
  };

  const kind = kindOf(prompt, {
    id,
    surface: actions.surface,
    label: (text) => main && setText(main, text),
    acceptButton: (text, content) =>
      acceptButton(text, (event) => accept({ text, note: t('Answered by hand'), content }, event), 'accept-by-hand'),
  });
  const subject = `${shortName(server)}: ${kind.title}`;
  const main = kind.accept && acceptButton(kind.accept.text, (event) => accept(kind.accept, event));

  // The second click of a double click is meant for the question that the first click has closed, not for the question
  // that has moved into its place.
  const once =
    (act: () => void) =>
    ({ detail: clicks }: MouseEvent) => {
      if (clicks < 2) act();
    };
  const { reason } = kind.decline;
  const decline = () => send({ decline: reason?.value ? { reason: reason.value } : {} }, kind.decline.note);
  const silence = () => send({ decline: {}, muteServer: true }, t('Declined, and its questions are silenced'));
  const dismiss = () => send({ dismiss: {} }, t('Dismissed'));
  reason?.addEventListener('keydown', (event) => event.key === 'Enter' && !event.isComposing && decline());

  const call = actions.requestOf?.(prompt.parentRequestId || prompt.requestId || '');
  const deadline = h('p', { class: 'muted card-deadline' });
  const heading = h('h3', { id: `${id}-title`, tabindex: -1, text: kind.title });
  const self = actions.serverOf(server);
  const dismissing = iconButton('close', t('Dismiss'), { dataset: { testid: 'dismiss' }, onclick: once(dismiss) });
  buttons.push(dismissing);
  // Only a server's own questions can be silenced. The other questions come from the hub.
  const silencing =
    (prompt.sampling || prompt.elicitationForm || prompt.elicitationUrl)
    && button(t('Decline and silence'), 'link', once(silence), 'silence');
  if (silencing) {
    silencing.setAttribute('aria-label', t('Decline and silence {0}', shortName(server)));
    silencing.title = t(
      'This and all its questions to come are declined, until somebody starts it anew or allows its questions.',
    );
  }
  const article = h(
    'article',
    { 'class': 'card', 'aria-labelledby': `${id}-title`, 'dataset': { testid: `prompt-${promptId}` } },
    h('div', { class: 'card-head' }, heading, dismissing),
    h(
      'p',
      { class: 'card-from' },
      `${t('Server')} `,
      exact(shortName(server)),
      self?.title
        && self.title !== server
        && h('span', { class: 'muted', text: t(', title “{0}”', shortName(self.title)) }),
    ),
    prompt.parentRequestId
      && h(
        'p',
        { class: 'muted' },
        `${t('Asked by the call')} `,
        exact(shortName(call?.title || call?.tool || call?.subject || prompt.parentRequestId)),
      ),
    call?.caller && h('p', { class: 'muted' }, `${t('Called by')} `, exact(shortName(call.caller))),
    deadline,
    h('div', { class: 'card-body' }, ...kind.body),
    problemLine,
    status,
    h(
      'div',
      { class: 'card-buttons' },
      silencing,
      button(kind.decline.text, 'secondary', once(decline), 'decline'),
      ...(kind.choices ?? []),
      main,
    ),
  );

  article.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) {
      if (escaped) setText(status, '');
      return void (escaped = false);
    }
    event.stopPropagation();
    // A key that is held down counts once: the repeats would go to the next question, which has the focus by then.
    if (end || event.repeat) return;
    if (kind.edited?.() && !escaped) {
      escaped = true;
      setText(status, t('Press Escape again to dismiss.'));
    } else dismiss();
  });

  keepDrafts(article, promptId, kind, actions.drafts);

  let clock: ReturnType<typeof setTimeout> | undefined;
  const tick = () => {
    setText(deadline, closesIn(prompt.deadline, actions.now()));
    const left = Date.parse(prompt.deadline ?? '') - actions.now();
    if (left > 0) clock = setTimeout(tick, Math.min(left > 301_000 ? left - 300_000 : 1000, 2 ** 31 - 1));
  };
  tick();
  enable();
  actions.announce(
    t(
      '{0} asks: {1}',
      shortName(server),
      [kind.title, visible(kind.message?.slice(0, 200))].filter(Boolean).join(': '),
    ),
  );

  let end: { closed: PromptClosed; line: HTMLElement } | undefined;
  /** Moves the focus to the next question, or else to the heading of the section. */
  const passFocus = () => {
    const cards = [...document.querySelectorAll('article.card:not(.card-note)')];
    const next =
      cards.find((other) => article.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) ?? cards.at(-1);
    const target =
      next?.querySelector('h3') ?? article.closest('section')?.querySelector('h2') ?? document.querySelector('h1');
    if (!(target instanceof HTMLElement)) return;
    if (!target.hasAttribute('tabindex')) target.tabIndex = -1;
    target.focus();
  };

  return {
    element: article,
    heading,
    title: kind.title,
    problem,
    focus: () => (kind.focus ?? (() => heading.focus()))(),
    closed(closed) {
      if (end) return;
      clearTimeout(clock);
      actions.drafts?.keepDraft(promptId, '');
      acceptButtons.forEach(forgetMoves);
      const here =
        { PROMPT_CAUSE_ANSWERED: 'accept', PROMPT_CAUSE_DECLINED: 'decline', PROMPT_CAUSE_DISMISSED: 'dismiss' }[
          String(closed.cause)
        ] === state.sent && note;
      state = transition(state, 'closed');
      const text = `${subject} — ${closingNote(closed, here || undefined, actions.windowId())}`;
      const line = h('p', { text });
      end = { closed, line };
      const had = article.contains(document.activeElement);
      article.classList.add('card-note');
      article.removeAttribute('aria-labelledby');
      article.setAttribute('aria-label', t('Closed question'));
      article.dataset['phase'] = 'closed';
      actions.announce(text);
      const over = () => {
        if (article.contains(document.activeElement)) passFocus();
        article.remove();
        actions.gone?.();
      };
      const typed = !here && kind.edited?.() ? kind.typed?.() : '';
      if (typed) {
        setText(line, closingNote(closed, undefined, actions.windowId()));
        keepTyped(article, line, typed, over);
        return;
      }
      article.replaceChildren(line);
      if (had) passFocus();
      stay(article, over);
    },
  };
}
