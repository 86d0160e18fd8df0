// The card of one open request: what it is, how far it is, and the button that cancels it.

import { html, nothing, render } from 'lit-html';
import { h, setAttribute, setText, show } from '../elements/dom.js';
import { icon } from '../elements/icon.js';
import { hubNow } from '../hub/state.js';
import { duration, shortName, stateWord, stopwatch, visible } from '../words/text.js';
import { plural, t } from '../words/t.js';
import { cancelControl, confirmButton } from './cancelcontrol.js';
import { byWhom, cancellable, ofWords, titleOf } from '../hub/requestwords.js';
import type { RequestJson as Request } from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type { Page, Reply } from '../page.js';

/** A server that takes longer than this to stop, in milliseconds, may never do so. */
const patience = 3000;

const cardId = (requestId: string) => `request-${requestId}`;

/** Moves the focus to the question that a request waits for, or else to the card of the request. */
export function goToRequest(
  { state, surface, run, reveal }: Pick<Page, 'state' | 'surface' | 'run' | 'reveal'>,
  id: string = '',
) {
  if (surface.shows === 'opened') {
    run('mcphub.focusView', []); // what is live stands there
    return;
  }
  const asks = [...state.prompts.values()].find((p) => p.parentRequestId === id || p.requestId === id);
  if (asks?.promptId) reveal(asks.promptId);
  else document.getElementById(cardId(id))?.focus();
}

export interface CallCard {
  element: HTMLElement;
  begun: string | undefined;
  /** the list of requests that this one caused */
  children: HTMLElement;
  update: (request: Request) => void;
  /** sets the open question that the request waits for */
  asks: (promptId: string | undefined) => void;
  tick: () => void;
}

export function callCard(page: Page, request: Request): CallCard {
  const { state } = page;
  const { requestId = '', server = '' } = request;
  const title = titleOf(request);
  const about = t('{0} of {1}', title, shortName(server));
  let shown = request;
  let question = '';

  const time = h('span', { class: 'time' });
  const telling = h('div', { class: 'telling' });
  const progress = progressBar(about);
  const cancelling = h('p', { class: 'cancelling', hidden: true });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const children = h('ol', { 'class': 'requests', 'aria-label': t('Caused by {0}', about), 'hidden': true });
  const restart = restartButton(page, request, tell);
  const cancel = cancellable(request)
    ? cancelControl({ label: t('Cancel'), about, testid: 'cancel', act: (reason) => void send(reason) })
    : undefined;
  const preview = [ofWords(request), visible(request.argumentsPreview)].filter(Boolean).join(' · ');
  const element = h(
    'li',
    { id: cardId(requestId), class: 'card call', tabindex: -1, dataset: { testid: `request-${requestId}` } },
    h(
      'div',
      { class: 'card-head' },
      icon('running'),
      h('h3', { class: 'name one-line', text: title }),
      cancel?.element,
    ),
    h('p', { class: 'about quiet' }, h('span', { class: 'of one-line', title: preview, text: preview }), time),
    cancel?.field,
    telling,
    progress.element,
    cancelling,
    h('div', { class: 'actions' }, page.offerView(request), restart),
    problem,
    children,
  );

  /**
   * Returns the state in words, unless it is the normal one. A client of a gateway may be asked in the place of
   * windows: then the page has no question, and says where there is one. A question about the server, such as a
   * sign-in, belongs to no request here.
   */
  function stateText() {
    if (shown.state === 'REQUEST_STATE_RUNNING' || shown.state === 'REQUEST_STATE_CANCELLING') return '';
    const client = shown.caller || state.requests.get(shown.parentRequestId ?? '')?.caller;
    const here = [...state.prompts.values()].some((prompt) => prompt.server === server);
    if (shown.state !== 'REQUEST_STATE_AWAITING_INPUT' || !client || here) return stateWord(shown.state);
    return t('Waiting for an answer in {0}', shortName(client));
  }

  function tellState() {
    const task = shown.task && t('task {0}', [shown.task.status, shown.task.message].filter(Boolean).join(': '));
    const text = [stateText(), visible(shown.progress?.message), visible(task)].filter(Boolean).join(' · ');
    render(
      html`<p class="one-line" dir="auto" title=${text} ?hidden=${text === ''}>${text}</p>
        ${
          question === ''
            ? nothing
            : html`<button
                class="link"
                data-testid="show-question"
                aria-label=${t('Show the question of {0}', about)}
                @click=${() => page.reveal(question)}
              >
                ${t('Show the question')}
              </button>`
        }`,
      telling,
    );
  }

  async function send(reason: string) {
    cancel?.sent(true);
    const reply = await page.ask({ cancelMcpRequest: { requestId, ...(reason && { reason }) } });
    tell(reply);
    if (reply.error) cancel?.sent(false);
  }

  function tell(reply: Reply) {
    setText(problem, visible(reply.error?.message));
  }

  function tick() {
    const now = hubNow(state);
    if (shown.startTime) setText(time, stopwatch(now - Date.parse(shown.startTime)));
    const ends = shown.state === 'REQUEST_STATE_CANCELLING';
    const since = now - Date.parse(shown.cancellation?.time ?? new Date(now).toISOString());
    const seconds = Math.max(0, Math.floor(since / 1000)) * 1000;
    // A hub that does not answer has not even read the click.
    const frozen = !ends && Boolean(cancel?.isSent()) && state.connection.state === 'unresponsive';
    const { reason, origin } = shown.cancellation ?? {};
    show(cancelling, frozen || (ends && (seconds > 0 || Boolean(reason) || origin !== 'ORIGIN_USER')));
    show(restart, ends && seconds >= patience);
    if (frozen) setText(cancelling, t('McpHub does not answer. It will cancel this when it goes on.'));
    else if (ends) setText(cancelling, t('Cancelling for {0}, {1}', duration(seconds), byWhom(shown.cancellation)));
  }

  return {
    element,
    begun: request.startTime,
    children,
    tick,
    asks: (promptId = '') => {
      const held = telling.contains(document.activeElement);
      question = promptId;
      tellState();
      if (held && promptId === '') element.focus();
    },
    update: (now) => {
      shown = now;
      setAttribute(element, 'data-state', now.state);
      if (now.state === 'REQUEST_STATE_CANCELLING') cancel?.sent(true);
      tellState();
      progress.update(now);
      tick();
    },
  };
}

/** Returns a button that restarts the server of a request whose cancel drags on. It is hidden at first. */
function restartButton({ state, call }: Page, { requestId, server = '' }: Request, tell: (reply: Reply) => void) {
  const others = () =>
    [...state.requests.values()].filter((r) => r.server === server && r.requestId !== requestId && cancellable(r))
      .length;
  const button = confirmButton({
    label: t('Restart server'),
    about: shortName(server),
    testid: 'restart-server',
    question: () =>
      others()
        ? plural(
            others(),
            'Restart, which cancels {0} other request of it?',
            'Restart, which cancels {0} other requests of it?',
          )
        : '',
    act: async () => tell(await call('RestartServer', { server })),
  });
  button.hidden = true;
  return button;
}

function progressBar(about: string) {
  const done = h('span', { class: 'done' });
  const element = h(
    'div',
    { 'class': 'bar', 'role': 'progressbar', 'aria-label': t('Progress of {0}', about), 'hidden': true },
    done,
  );
  function update({ progress }: Request) {
    const total = Number(progress?.total ?? 0);
    const value = Number(progress?.progress ?? 0);
    const known = total > 0 && Number.isFinite(total) && Number.isFinite(value);
    show(element, progress !== undefined);
    element.classList.toggle('endless', !known);
    setAttribute(element, 'aria-valuemin', known ? 0 : undefined);
    setAttribute(element, 'aria-valuemax', known ? total : undefined);
    setAttribute(element, 'aria-valuenow', known ? Math.min(Math.max(value, 0), total) : undefined);
    // A transform moves no other element, so even a hundred progress messages a second cause no layout.
    if (known) done.style.setProperty('transform', `scaleX(${Math.min(1, Math.max(0, value / total))})`);
    else done.style.removeProperty('transform');
  }
  return { element, update };
}
