// One tool: its description, the form for its arguments, the button that calls it, and the outcome of the last call
// that was made here.

import { facts, fullName, prose } from '../questions/cardparts.js';
import { h, replace, setText, show } from '../elements/dom.js';
import { outcomeWords } from '../hub/ended.js';
import { endedDetails } from '../history/endeddetails.js';
import { goToRequest } from '../now/callcard.js';
import { arrayOf, objectOf, parse, stringify } from '../words/jsontext.js';
import { schemaForm } from '../forms/schemaform.js';
import { toolPolicy } from '../adding/toolpolicy.js';
import { shortName, stateWord, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { ToolJson as Tool } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page } from '../page.js';

const policies: Record<string, string> = {
  APPROVAL_POLICY_ALLOW: t('allowed'),
  APPROVAL_POLICY_ASK: t('asks first'),
  APPROVAL_POLICY_DENY: t('denied'),
};
/** The hints of a server about its tool. They are not trusted. */
const hints: [key: string, value: boolean, text: string][] = [
  ['readOnlyHint', true, t('read-only')],
  ['destructiveHint', true, t('destructive')],
  ['destructiveHint', false, t('not destructive')],
  ['idempotentHint', true, t('idempotent')],
  ['openWorldHint', true, t('open world')],
  ['openWorldHint', false, t('closed world')],
];

/** What was typed for a tool, and its last call, at the time when its definition changed. */
export type Draft = { values: string; requestId: string | undefined };

let forms = 0;

export function toolView(page: Page, tool: Tool) {
  const { name = '', server = '' } = tool;
  const body = h('div', { class: 'body', hidden: true });
  const policy = h('span', { class: 'state' });
  const head = h(
    'button',
    { 'class': 'head', 'aria-expanded': 'false', 'onclick': () => expand() },
    h('span', { class: 'name', text: shortName(name) }),
    tool.title && h('span', { class: 'of', dir: 'auto', text: shortName(tool.title) }),
    policy,
  );
  const element = h('li', { class: 'tool', dataset: { testid: `tool-${name}` } }, h('h5', {}, head), body);
  /** The id of the last call that was made here. */
  let requestId: string | undefined;
  let sending = false;
  /** Is made when the tool is first opened. */
  let form: ReturnType<typeof schemaForm> | undefined;
  const call = h('button', {
    'class': 'primary',
    'text': t('Call'),
    'aria-label': t('Call {0}', shortName(name)),
    'dataset': { testid: 'call' },
  });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const status = h('p', { class: 'muted', role: 'status', hidden: true });
  const where = h('button', {
    class: 'link',
    text: t('Show'),
    hidden: true,
    onclick: () => goToRequest(page, requestId),
  });
  where.setAttribute('aria-label', t('Show the call of {0} that runs', shortName(name)));
  const outcome = h('div', {});
  const written = page.adding && toolPolicy(page, tool);

  function expand() {
    const open = Boolean(body.hidden);
    show(body, open);
    head.setAttribute('aria-expanded', String(open));
    if (open && !body.firstChild) build();
  }

  function build() {
    let definition = objectOf(null);
    try {
      definition = objectOf(parse(tool.definitionJson ?? '{}'));
    } catch {
      // A definition that cannot be parsed leaves a form without fields.
    }
    const annotations = objectOf(definition.get('annotations'));
    const said = hints.filter(([key, value]) => annotations.get(key) === value).map(([, , text]) => text);
    const schema = objectOf(definition.get('inputSchema'));
    const made = (form = schemaForm(stringify(schema), { idPrefix: `call-${++forms}` }));
    call.addEventListener('click', () => {
      const read = made.read();
      if ('errors' in read) made.showErrors(read.errors);
      else void send(read.json);
    });
    const empty =
      objectOf(schema.get('properties')).size === 0
      && arrayOf(schema.get('required')).length === 0
      && schema.get('additionalProperties') === false;
    const fields = empty ? h('p', { class: 'muted', text: t('It takes no arguments.') }) : made.element;
    replace(
      body,
      prose(tool.description),
      facts([
        [t('Name'), fullName(name)],
        [t('Annotations, unverified'), said.join(', ')],
        [t('Definition'), tool.cached ? t('from an earlier connection') : ''],
      ]),
      fields,
      h('div', { class: 'actions' }, call),
      problem,
      h('div', { class: 'line' }, status, where),
      outcome,
      written && h('details', {}, h('summary', { text: t('Always allow, or never') }), written.element),
    );
  }

  async function send(argumentsJson: string) {
    if (sending) return;
    const mine = (requestId = crypto.randomUUID());
    begun(true);
    setText(problem, '');
    replace(outcome);
    show(status, true);
    show(where, false);
    setText(status, t('Calling…'));
    const { error } = await page.call('CallTool', { requestId: mine, server, tool: name, argumentsJson });
    if (mine !== requestId) return;
    begun(false);
    // If the history has the end of the call, it is shown from there. Otherwise the call never began, or the page has
    // not received its end.
    if (ended()) {
      requestsChanged();
      return;
    }
    show(status, false);
    setText(problem, visible(error?.message));
  }

  function begun(now: boolean) {
    sending = now;
    call.setAttribute('aria-disabled', String(now)); // not "disabled", which would lose the focus
  }

  const ended = () => page.state.history.findLast((entry) => entry.requestId === requestId);

  function requestsChanged() {
    if (requestId === undefined) return;
    const open = page.state.requests.get(requestId);
    if (!open && document.activeElement === where) head.focus();
    show(where, open !== undefined);
    if (open) {
      begun(false); // the call is in the section of running requests, so another call can be made
      setText(problem, '');
      show(status, true);
      setText(status, t('{0}: see Running.', stateWord(open.state)));
      return;
    }
    const entry = ended();
    if (!entry) return;
    requestId = undefined;
    begun(false);
    setText(problem, '');
    show(status, true);
    setText(status, t('The last call: {0}.', outcomeWords[entry.outcome]));
    replace(outcome, endedDetails(page, entry, true));
  }

  function leave(): Draft | undefined {
    return body.hidden ? undefined : { values: form?.edited() ? form.draft() : '', requestId };
  }

  function takeOver(draft: Draft | undefined) {
    if (!draft) return;
    expand();
    requestId = draft.requestId;
    show(status, true);
    setText(status, t('The server has changed this tool.'));
    if (draft.values !== '') form?.set(draft.values);
    requestsChanged();
  }

  return {
    element,
    head,
    name,
    requestsChanged,
    leave,
    takeOver,
    focus: () => head.focus(),
    update: (now: Tool) => {
      setText(policy, policies[now.policy ?? ''] ?? '');
      written?.update(now);
    },
  };
}
