// A button that makes a request, with the state and the result of the request. It reads a resource, or gets a prompt.
// The request is also in the section of running requests, where it can be cancelled, and later in the history.

import { h, replace, setText, show } from '../elements/dom.js';
import { endedDetails } from '../history/endeddetails.js';
import { outcomeWords } from '../hub/ended.js';
import { goToRequest } from '../now/callcard.js';
import { shortName, stateWord, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Ended } from '../hub/ended.js';
import type { Order as OrderOf } from '../hub/methods.js';
import type { Page } from '../page.js';

export type Order = OrderOf<'ReadResource' | 'GetMcpPrompt'>;

export interface Requester {
  elements: HTMLElement[];
  button: HTMLButtonElement;
  requestsChanged: () => void;
}

export function requester(
  page: Page,
  {
    verb,
    name,
    home,
    order,
    extra,
    actions = [],
  }: {
    /** text of the button */
    verb: string;
    /** what is read or filled in, for people who do not see where the button is */
    name: string;
    /** takes the focus when the element that has it disappears */
    home: HTMLElement;
    /** returns the call that makes the request, or a text that says why there is none; '': this is shown already */
    order: (requestId: string) => Order | string | Promise<Order | string>;
    /** returns further actions for the result */
    extra?: (entry: Ended) => HTMLElement | undefined | false;
    /** are placed beside the button */
    actions?: (HTMLElement | undefined)[];
  },
): Requester {
  /** The id of the last request that was made here. */
  let requestId: string | undefined;
  let sending = false;
  const button = h('button', {
    'class': 'primary',
    'text': verb,
    'aria-label': `${verb} ${shortName(name)}`,
    'dataset': { testid: 'ask' },
    'onclick': () => void send(),
  });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const status = h('p', { class: 'muted', role: 'status', hidden: true });
  const where = h('button', {
    'class': 'link',
    'text': t('Show'),
    'aria-label': t('Show the request for {0} that runs', shortName(name)),
    'hidden': true,
    'onclick': () => goToRequest(page, requestId),
  });
  const outcome = h('div', {});

  async function send() {
    if (sending) return;
    const mine = crypto.randomUUID();
    begun(true);
    setText(problem, '');
    const given = await order(mine);
    if (typeof given === 'string') {
      begun(false);
      setText(problem, given); // an earlier request that still runs is shown as before
      return;
    }
    requestId = mine;
    replace(outcome);
    show(status, true);
    show(where, false);
    setText(status, t('Asking…'));
    const { error } = await page.call(given[0], given[1]);
    if (mine !== requestId) return;
    begun(false);
    // If the history has the end of the request, it is shown from there. Otherwise the request never began, or the page
    // has not received its end.
    if (ended()) requestsChanged();
    else {
      show(status, false);
      setText(problem, visible(error?.message));
    }
  }

  function begun(now: boolean) {
    sending = now;
    button.setAttribute('aria-disabled', String(now)); // not "disabled", which would lose the focus
  }

  const ended = () => page.state.history.findLast((entry) => entry.requestId === requestId);

  function requestsChanged() {
    if (requestId === undefined) return;
    const open = page.state.requests.get(requestId);
    if (!open && document.activeElement === where) home.focus();
    show(where, open !== undefined);
    if (open) {
      begun(false);
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
    setText(status, t('The last request: {0}.', outcomeWords[entry.outcome]));
    replace(outcome, extra?.(entry), endedDetails(page, entry, true));
  }

  return {
    button,
    elements: [
      h('div', { class: 'actions' }, button, ...actions),
      problem,
      h('div', { class: 'line' }, status, where),
      outcome,
    ],
    requestsChanged,
  };
}
