// The row of one open request. It shows the request and its progress, and has the buttons that end it.

import { h, setAttribute, setText, show } from '../elements/dom.js';
import { byWhom, cancellable, ofWords, titleOf } from './requestwords.js';
import { hubNow } from '../hub/state.js';
import { confirmButton, stopControl } from './stopcontrol.js';
import { duration, shortName, stateWord, visible } from '../words/text.js';
import { plural, t } from '../words/t.js';
import type { RequestJson as Request } from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type { Page, Reply } from '../page.js';

// A server that takes longer than this to stop may never do so.
const patience = 3000;

/** Returns the id of the element of a request. */
const rowId = (requestId: string) => `request-${requestId}`;

/** Moves the focus to the question that a request waits for, or else to the row of the request. */
export function goToRequest({ state, reveal }: Pick<Page, 'state' | 'reveal'>, id: string = '') {
  const asks = [...state.prompts.values()].find((p) => p.parentRequestId === id || p.requestId === id);
  if (asks?.promptId) reveal(asks.promptId);
  else document.getElementById(rowId(id))?.focus();
}

export interface RequestRow {
  element: HTMLElement;
  begun: string | undefined;
  /** the list of requests that this one caused */
  children: HTMLElement;
  update: (request: Request) => void;
  /** sets the open question that the request waits for */
  asks: (promptId: string | undefined) => void;
  tick: () => void;
}

export function requestRow({ state, call, ask, reveal, offerView }: Page, request: Request): RequestRow {
  const { requestId = '', server = '' } = request;
  const title = titleOf(request);
  const about = t('{0} of {1}', title, shortName(server));
  let shown = request;
  let clicked = false;
  let question = '';

  const word = h('span', { class: 'state' });
  const time = h('span', { class: 'time' });
  const done = h('span', { class: 'done' });
  const bar = h(
    'div',
    { 'class': 'bar', 'role': 'progressbar', 'aria-label': t('Progress of {0}', about), 'hidden': true },
    done,
  );
  const preview = visible(request.argumentsPreview);
  const message = h('span', { class: 'prose', dir: 'auto', hidden: true });
  const cancelled = h('p', { class: 'cancelling', hidden: true });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const children = h('ol', { 'class': 'requests', 'aria-label': t('Caused by {0}', about), 'hidden': true });

  const cancel = cancellable(request)
    ? stopControl({ label: t('Cancel'), about, testid: 'cancel', stop: (reason) => void send(reason) })
    : undefined;
  const others = () =>
    [...state.requests.values()].filter((r) => r.server === server && r.requestId !== requestId && cancellable(r))
      .length;
  const restart = confirmButton({
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
  const showQuestion = h('button', {
    'class': 'link',
    'text': t('Show the question'),
    'aria-label': t('Show the question of {0}', about),
    'dataset': { testid: 'show-question' },
    'hidden': true,
    'onclick': () => reveal(question),
  });
  const dragging = h('span', { class: 'actions', hidden: true }, restart);
  const element = h(
    'li',
    { id: rowId(requestId), class: 'request', tabindex: -1, dataset: { testid: `request-${requestId}` } },
    h(
      'div',
      { class: 'row-head' },
      h('div', { class: 'line' }, h('span', { class: 'name', text: title }), time),
      cancel?.buttons,
    ),
    cancel?.field,
    preview !== '' && h('p', { class: 'arguments muted', dir: 'auto', title: preview, text: preview }),
    bar,
    h('p', { class: 'status muted' }, h('span', { class: 'of', text: ofWords(request) }), word, message),
    cancelled,
    h('div', { class: 'actions' }, showQuestion, offerView(request), dragging),
    problem,
    children,
  );

  /**
   * Returns the state in words. A client of a gateway may be asked in the place of windows: then the page has no
   * question, and says where there is one. A question about the server, such as a sign-in, belongs to no request here.
   */
  function stateText() {
    if (shown.state === 'REQUEST_STATE_CANCELLING') return '';
    const client = shown.caller || state.requests.get(shown.parentRequestId ?? '')?.caller;
    const here = [...state.prompts.values()].some((prompt) => prompt.server === server);
    if (shown.state !== 'REQUEST_STATE_AWAITING_INPUT' || !client || here) return ` · ${stateWord(shown.state)}`;
    return ` · ${t('Waiting for an answer in {0}', shortName(client))}`;
  }

  async function send(reason: string) {
    clicked = true;
    cancel?.disable(true);
    const reply = await ask({ cancelMcpRequest: { requestId, ...(reason && { reason }) } });
    tell(reply);
    if (!reply.error) return;
    clicked = false;
    cancel?.disable(false);
  }

  function tell(reply: Reply) {
    setText(problem, visible(reply.error?.message));
  }

  function tick() {
    const now = hubNow(state);
    if (shown.startTime) setText(time, duration(wholeSeconds(now - Date.parse(shown.startTime))));
    const cancelling = shown.state === 'REQUEST_STATE_CANCELLING';
    if (!cancelling) return;
    const since = wholeSeconds(now - Date.parse(shown.cancellation?.time ?? new Date(now).toISOString()));
    setText(cancelled, t('Cancelling… {0}, {1}', duration(since), byWhom(shown.cancellation)));
    show(dragging, since >= patience);
  }

  return {
    element,
    begun: request.startTime,
    children,
    tick,
    asks: (promptId = '') => {
      question = promptId;
      if (promptId === '' && document.activeElement === showQuestion) element.focus();
      show(showQuestion, promptId !== '');
      setText(word, stateText());
    },
    update: (now) => {
      shown = now;
      const cancelling = now.state === 'REQUEST_STATE_CANCELLING';
      setAttribute(element, 'data-state', now.state);
      setText(word, stateText());
      if (cancel) {
        const had = cancel.buttons.contains(document.activeElement) || cancel.field.contains(document.activeElement);
        if (cancelling && had) element.focus(); // the element with the focus disappears
        show(cancel.buttons, !cancelling);
        cancel.disable(clicked || cancelling);
      }
      show(cancelled, cancelling);
      if (!cancelling) show(dragging, false);
      paintProgress(bar, done, now);
      const text = visible(
        [
          now.progress?.message,
          now.task && t('task {0}', [now.task.status, now.task.message].filter(Boolean).join(': ')),
        ]
          .filter(Boolean)
          .join(' · '),
      );
      show(message, text !== '');
      setText(message, ` · ${text}`);
      tick();
    },
  };
}

const wholeSeconds = (ms: number) => Math.max(0, Math.floor(ms / 1000) * 1000);

function paintProgress(bar: HTMLElement, done: HTMLElement, { state, progress }: Request) {
  const works = state === 'REQUEST_STATE_RUNNING' || state === 'REQUEST_STATE_TASK_WORKING';
  show(bar, works || progress !== undefined);
  const total = Number(progress?.total ?? 0);
  const value = Number(progress?.progress ?? 0);
  const known = total > 0 && Number.isFinite(total) && Number.isFinite(value);
  bar.classList.toggle('endless', !known && works);
  setAttribute(bar, 'aria-valuemin', known ? 0 : undefined);
  setAttribute(bar, 'aria-valuemax', known ? total : undefined);
  setAttribute(bar, 'aria-valuenow', known ? Math.min(Math.max(value, 0), total) : undefined);
  // A transform moves no other element, so even a hundred progress messages a second cause no layout.
  if (known) done.style.setProperty('transform', `scaleX(${Math.min(1, Math.max(0, value / total))})`);
  else done.style.removeProperty('transform');
}
