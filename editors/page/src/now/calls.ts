// The cards of the open requests, each below the request that caused it. A question that has a card of its own has none
// here: the card of its call leads to it.

import { alertLine, h, patchList, setText, show } from '../elements/dom.js';
import { roving } from '../elements/roving.js';
import { holdsFocus } from '../elements/keepfocus.js';
import { byId } from '../page.js';
import { visible } from '../words/text.js';
import { plural, t } from '../words/t.js';
import { callCard } from './callcard.js';
import { cancelControl } from './cancelcontrol.js';
import { cancellable, isQuestion } from '../hub/requestwords.js';
import type { RequestJson as Request } from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type { State } from '../hub/state.js';
import type { Page, Section } from '../page.js';
import type { CallCard } from './callcard.js';

export function callsSection(page: Page, place: HTMLElement): Section {
  const { state } = page;
  const list = h('ol', { 'class': 'requests', 'aria-label': t('What is running') });
  place.append(list);
  const cards: Map<string, CallCard> = new Map();
  const keys = roving(
    list,
    () => [...cards.values()].map((card) => card.element).filter((element) => element.isConnected),
    (element) => [...element.querySelectorAll<HTMLElement>(':scope > :not(.requests) :is(button:not([role]), input)')],
  );
  const paintCancelAll = cancelAll(page);

  function cardOf(request: Request) {
    const id = request.requestId ?? '';
    let card = cards.get(id);
    // A host may reuse an id for another request.
    if (card?.begun !== request.startTime) card = undefined;
    if (!card) cards.set(id, (card = callCard(page, request)));
    return card;
  }

  function patchAll() {
    for (const id of cards.keys()) if (!state.requests.has(id)) cards.delete(id);
    const asked = askedBy(state);
    const below = byCause([...state.requests.values()].filter((r) => !isQuestion(r) || !asked.has(r.requestId ?? '')));
    const patch = (parent: Element, cause: string) => {
      const items = below.get(cause) ?? [];
      patchList(parent, items, keyOf, (r) => cardOf(r).element);
      for (const { requestId = '' } of items) {
        const card = cards.get(requestId);
        if (!card) continue;
        card.asks(asked.get(requestId));
        show(card.children, below.has(requestId));
        patch(card.children, requestId);
      }
    };
    patch(list, '');
    keys.refresh();
  }

  const tick = () => cards.forEach((card) => card.tick());

  return {
    paint: (changed) => {
      if (changed.requestList || changed.prompts) patchAll();
      if (changed.requestList) paintCancelAll();
      for (const id of changed.requests) {
        const request = state.requests.get(id);
        if (request) cardOf(request).update(request);
      }
      if (changed.connection) tick();
    },
    ticks: () => state.requests.size > 0,
    tick,
  };
}

const keyOf = ({ requestId, startTime }: Request) => `${requestId} ${startTime}`;

/** Returns the oldest open question by the request that it is, and by the call that it belongs to. */
function askedBy({ prompts }: State) {
  const asked: Map<string, string> = new Map();
  for (const { promptId = '', requestId = '', parentRequestId = '' } of prompts.values())
    for (const id of [requestId, parentRequestId]) if (!asked.has(id)) asked.set(id, promptId);
  return asked;
}

/**
 * Returns the requests by the open request that caused them, or by "". A request is younger than the one that caused
 * it, so there are no cycles.
 */
function byCause(requests: readonly Request[]) {
  const below: Map<string, Request[]> = new Map();
  const older = new Set();
  for (const request of requests) {
    const cause = request.parentRequestId ?? '';
    const key = older.has(cause) ? cause : '';
    older.add(request.requestId);
    const siblings = below.get(key);
    if (siblings) siblings.push(request);
    else below.set(key, [request]);
  }
  return below;
}

/** Puts the button that cancels everything into the head of the page, while one of them can be cancelled. */
function cancelAll({ state, call, announce }: Page): () => void {
  const place = byId('stop-all');
  const problem = alertLine();
  const control = cancelControl({
    label: t('Stop everything'),
    about: '',
    testid: 'stop-everything',
    act: (reason) => void cancel(reason),
  });
  place.append(control.element, control.field, problem);

  async function cancel(reason: string) {
    control.sent(true);
    const { error, response } = await call('CancelRequests', { all: true, ...(reason && { reason }) });
    control.sent(false);
    setText(problem, visible(error?.message));
    const count = response?.requestIds?.length ?? 0;
    if (!error) announce(plural(count, 'Cancelling {0} request.', 'Cancelling {0} requests.'));
  }
  return () => {
    const some = [...state.requests.values()].some(cancellable);
    const held = holdsFocus(place);
    show(control.element, some);
    if (!some) show(control.field, false);
    if (held && !some) byId('title').focus();
  };
}
