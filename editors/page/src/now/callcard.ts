// The card of one open request: what it is, how far it is, and the button that cancels it.

import { html, nothing, render } from 'lit-html';
import { alertLine, h, setAttribute, setText, show } from '../elements/dom.js';
import { icon } from '../elements/icon.js';
import { holdsFocus } from '../elements/keepfocus.js';
import { hubNow } from '../hub/state.js';
import { dotted, duration, shortName, stateWord, stopwatch, visible } from '../words/text.js';
import { plural, t } from '../words/t.js';
import { cancelControl, restartButton } from './cancelcontrol.js';
import { byWhom, cancellable, ofWords, requestsOf, titleOf } from '../hub/requestwords.js';
import type { RequestJson as Request } from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type { Child } from '../elements/dom.js';
import type { State } from '../hub/state.js';
import type { Page } from '../page.js';

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
  const { requestId = '', server = '' } = request;
  const about = t('{0} of {1}', titleOf(request), shortName(server));
  let shown = request;
  let question = '';
  const time = h('span', { class: 'time' });
  const telling = h('div', { class: 'telling' });
  const progress = progressBar(about);
  const cancelling = h('p', { class: 'cancelling', hidden: true });
  const problem = alertLine();
  const children = h('ol', { 'class': 'requests', 'aria-label': t('Caused by {0}', about), 'hidden': true });
  const say = (text: string) => setText(problem, text);
  const restart = restartButton(page, server, () => restartWords(page.state, request), say);
  restart.hidden = true; // until a cancel drags on
  const act = (reason: string) => void send(reason);
  const cancel = cancellable(request) ? cancelControl({ label: t('Cancel'), about, testid: 'cancel', act }) : undefined;
  const actions = h('div', { class: 'actions' }, page.offerView(request), restart);
  const parts = [cancel?.field, telling, progress.element, cancelling, actions, problem, children];
  const element = cardElement(request, cancel?.element, time, parts);
  const tellState = () => render(tellingView(page, shown, question, about), telling);

  async function send(reason: string) {
    cancel?.sent(true);
    const { error } = await page.ask({ cancelMcpRequest: { requestId, ...(reason && { reason }) } });
    say(visible(error?.message));
    if (error) cancel?.sent(false);
  }

  function tick() {
    const now = hubNow(page.state);
    if (shown.startTime) setText(time, stopwatch(now - Date.parse(shown.startTime)));
    const lasts = cancelsFor(shown, now);
    const frozen = Boolean(cancel?.isSent()) && page.state.connection.state === 'unresponsive';
    const text = cancellingWords(shown, lasts, frozen);
    show(cancelling, text !== '');
    setText(cancelling, text);
    show(restart, lasts >= patience);
  }

  return {
    element,
    begun: request.startTime,
    children,
    tick,
    asks: (promptId = '') => {
      const held = holdsFocus(telling);
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

/** @param parts stand below what the request is */
function cardElement(request: Request, cancel: Child, time: Child, parts: readonly Child[]) {
  const id = cardId(request.requestId ?? '');
  const preview = dotted(ofWords(request), visible(request.argumentsPreview));
  return h(
    'li',
    { id, class: 'card call', tabindex: -1, dataset: { testid: id } },
    h(
      'div',
      { class: 'card-head' },
      icon('running'),
      h('h3', { class: 'name one-line', text: titleOf(request) }),
      cancel,
    ),
    h('p', { class: 'about quiet' }, h('span', { class: 'of one-line', title: preview, text: preview }), time),
    ...parts,
  );
}

/**
 * Returns the state in words, unless it is the normal one. A client of a gateway may be asked in the place of windows:
 * then the page has no question, and says where there is one. A question about the server, such as a sign-in, belongs
 * to no request here.
 */
function stateText({ prompts, requests }: State, { state, caller, parentRequestId = '', server = '' }: Request) {
  if (state === 'REQUEST_STATE_RUNNING' || state === 'REQUEST_STATE_CANCELLING') return '';
  const client = caller || requests.get(parentRequestId)?.caller;
  const here = [...prompts.values()].some((prompt) => prompt.server === server);
  if (state !== 'REQUEST_STATE_AWAITING_INPUT' || !client || here) return stateWord(state);
  return t('Waiting for an answer in {0}', shortName(client));
}

/** @param question that the request waits for, or '' */
function tellingView(page: Page, request: Request, question: string, about: string) {
  const { task, progress } = request;
  const words = task && t('task {0}', [task.status, task.message].filter(Boolean).join(': '));
  const text = dotted(stateText(page.state, request), visible(progress?.message), visible(words));
  return html`<p class="one-line" dir="auto" title=${text} ?hidden=${text === ''}>${text}</p>
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
    }`;
}

/** Returns for how long a request has been being cancelled, in whole seconds as milliseconds, or -1 if it is not. */
function cancelsFor({ state, cancellation }: Request, now: number) {
  if (state !== 'REQUEST_STATE_CANCELLING') return -1;
  const since = Date.parse(cancellation?.time ?? '');
  return Number.isNaN(since) ? 0 : Math.max(0, Math.floor((now - since) / 1000)) * 1000;
}

/**
 * Returns what is said of a cancel that goes on. That a person has just clicked Cancel is said by the button.
 * @param lasts so long, in milliseconds; -1 is for none
 * @param frozen the hub does not answer: it has not even read the click
 */
function cancellingWords({ cancellation }: Request, lasts: number, frozen: boolean) {
  if (lasts < 0) return frozen ? t('McpHub does not answer. It will cancel this when it goes on.') : '';
  const news = lasts > 0 || cancellation?.reason || cancellation?.origin !== 'ORIGIN_USER';
  return news ? t('Cancelling for {0}, {1}', duration(lasts), byWhom(cancellation)) : '';
}

/** Returns what else a restart of the server of a request cancels, as a question. */
function restartWords({ requests }: State, { requestId, server = '' }: Request) {
  const others = requestsOf(requests, server).filter((r) => r.requestId !== requestId && cancellable(r)).length;
  return others === 0
    ? ''
    : plural(
        others,
        'Restart, which cancels {0} other request of it?',
        'Restart, which cancels {0} other requests of it?',
      );
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
