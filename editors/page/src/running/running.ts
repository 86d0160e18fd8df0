// The section of open requests. Each request stands below the request that caused it. A question that has a card has no
// row of its own: the row of its call has a link to the card.

import { h, patchList, setText, show } from '../elements/dom.js';
import { byId, setCount } from '../page.js';
import { cancellable, isQuestion } from './requestwords.js';
import { requestRow } from './requestrow.js';
import { roving } from '../elements/roving.js';
import { stopControl } from './stopcontrol.js';
import { visible } from '../words/text.js';
import { plural, t } from '../words/t.js';
import type { RequestJson as Request } from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type { Page, Section } from '../page.js';
import type { RequestRow } from './requestrow.js';

export function runningSection(page: Page): Section {
  const { state, call, announce } = page;
  const title = byId('running-title');
  const list = h('ol', { 'class': 'requests', 'aria-labelledby': 'running-title' });
  const nothing = h('p', { class: 'muted', text: t('Nothing is running.') });
  byId('running').append(nothing, list);
  const rows: Map<string, RequestRow> = new Map();

  const keys = roving(
    list,
    () => [...rows.values()].map((row) => row.element).filter((element) => element.isConnected),
    (element) => {
      const buttons: NodeListOf<HTMLElement> = element.querySelectorAll(':scope > :not(.requests) button');
      return [...buttons];
    },
  );
  const stopProblem = h('p', { class: 'problem', role: 'alert' });
  const stopAll = stopControl({
    label: t('Stop everything'),
    about: '',
    testid: 'stop-everything',
    worded: true,
    stop: (reason) => void stopEverything(reason),
  });
  show(stopAll.buttons, false);
  byId('stop-all').append(stopAll.buttons, stopAll.field, stopProblem);

  async function stopEverything(reason: string) {
    stopAll.disable(true);
    const { error, response } = await call('CancelRequests', { all: true, ...(reason && { reason }) });
    stopAll.disable(false);
    setText(stopProblem, visible(error?.message));
    const count = response?.requestIds?.length ?? 0;
    if (!error) announce(plural(count, 'Cancelling {0} request.', 'Cancelling {0} requests.'));
  }

  function rowOf(request: Request) {
    const id = request.requestId ?? '';
    let row = rows.get(id);
    // A host may reuse an id for another request.
    if (row?.begun !== request.startTime) row = undefined;
    if (!row) rows.set(id, (row = requestRow(page, request)));
    return row;
  }

  function patchAll() {
    for (const id of rows.keys()) if (!state.requests.has(id)) rows.delete(id);
    /** The oldest open question by the request that it is, and by the call that it belongs to. */
    const asked: Map<string, string> = new Map();
    for (const { promptId = '', requestId = '', parentRequestId = '' } of state.prompts.values())
      for (const id of [requestId, parentRequestId]) if (!asked.has(id)) asked.set(id, promptId);
    const shown = [...state.requests.values()].filter((r) => !isQuestion(r) || !asked.has(r.requestId ?? ''));
    /**
     * The requests by the open request that caused them, or by "". A request is younger than the one that caused it, so
     * there are no cycles.
     */
    const below: Map<string, Request[]> = new Map();
    const older = new Set();
    for (const request of shown) {
      const parent = request.parentRequestId ?? '';
      const key = older.has(parent) ? parent : '';
      older.add(request.requestId);
      const siblings = below.get(key);
      if (siblings) siblings.push(request);
      else below.set(key, [request]);
    }
    const patch = (place: Element, parent: string) => {
      const items = below.get(parent) ?? [];
      patchList(
        place,
        items,
        (r) => `${r.requestId} ${r.startTime}`,
        (r) => rowOf(r).element,
      );
      for (const { requestId = '' } of items) {
        const row = rows.get(requestId);
        if (!row) continue;
        row.asks(asked.get(requestId));
        show(row.children, below.has(requestId));
        patch(row.children, requestId);
      }
    };
    patch(list, '');
    return shown.length;
  }

  return {
    paint: (changed) => {
      if (changed.requestList || changed.prompts) {
        const focused = document.activeElement;
        const count = patchAll();
        // The heading gets the focus, not the next row: a second press of Enter would cancel that row.
        if (focused !== document.activeElement && document.activeElement === document.body && focused !== document.body)
          title.focus();
        setCount('running', count);
        show(nothing, count === 0);
        const held = byId('stop-all').contains(document.activeElement);
        const some = [...state.requests.values()].some(cancellable);
        show(stopAll.buttons, some);
        if (!some) show(stopAll.field, false);
        if (held && !some) title.focus();
        keys.refresh();
      }
      for (const id of changed.requests) {
        const request = state.requests.get(id);
        if (request) rowOf(request).update(request);
      }
    },
    ticks: () => state.requests.size > 0,
    tick: () => {
      for (const row of rows.values()) row.tick();
    },
  };
}
