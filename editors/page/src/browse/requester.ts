// A button that makes a request, its Cancel beside it while the request runs, and directly below what came of it. It
// calls a tool, reads a resource, or gets a prompt.

import { h, replace, setText, show } from '../elements/dom.js';
import { endedDetails } from '../history/endeddetails.js';
import { shortName, stateWord, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Ended } from '../hub/ended.js';
import type { Order as OrderOf } from '../hub/methods.js';
import type { Page } from '../page.js';

export type Order = OrderOf<'CallTool' | 'ReadResource' | 'GetMcpPrompt'>;

export interface Requester {
  elements: HTMLElement[];
  button: HTMLButtonElement;
  requestsChanged: () => void;
  /** returns the id of the request that has not ended yet */
  pending: () => string | undefined;
  /** shows the end of this request here, too */
  take: (requestId: string | undefined) => void;
  /** shows a text above what came of the request */
  say: (text: string) => void;
}

export interface Asking {
  /** text of the button */
  verb: string;
  testid?: string;
  /** what is called, read or filled in, for people who do not see where the button is */
  name: string;
  /** returns the call that makes the request, or a text that says why there is none; '': this is shown already */
  order: (requestId: string) => Order | string | Promise<Order | string>;
  /** returns further actions for the result */
  extra?: (entry: Ended) => HTMLElement | undefined | false;
  /** are placed beside the button */
  actions?: (HTMLElement | undefined)[];
}

export function requester(page: Page, { verb, testid = 'ask', name, order, extra, actions = [] }: Asking): Requester {
  const { state } = page;
  /** The id of the last request that was made here. */
  let requestId: string | undefined;
  let sending = false;
  let cancelling = '';
  const button = h('button', {
    'class': 'primary',
    'text': verb,
    'aria-label': `${verb} ${shortName(name)}`,
    'dataset': { testid },
    'onclick': () => void send(),
  });
  const cancel = h('button', {
    'text': t('Cancel'),
    'aria-label': t('{0} {1}', t('Cancel'), shortName(name)),
    'hidden': true,
    'dataset': { testid: `cancel-${testid}` },
    'onclick': () => void stop(),
  });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const status = h('p', { class: 'quiet', role: 'status', hidden: true });
  /** The questions of the request stand beside its button. */
  const questions = h('div', { class: 'questions' });
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
    page.askHere(mine, questions);
    replace(outcome);
    tell(t('Asking…'));
    const { error } = await page.call(given[0], given[1]);
    page.askHere(mine); // it is over
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

  async function stop() {
    if (requestId === undefined || cancelling === requestId) return;
    const mine = (cancelling = requestId);
    requestsChanged();
    const { error } = await page.ask({ cancelMcpRequest: { requestId: mine } });
    if (!error) return;
    cancelling = '';
    setText(problem, visible(error.message));
    requestsChanged();
  }

  function tell(text: string) {
    show(status, text !== '');
    setText(status, text);
  }

  function begun(now: boolean) {
    sending = now;
    button.setAttribute('aria-disabled', String(now)); // not "disabled", which would lose the focus
  }

  const ended = () => state.history.findLast((entry) => entry.requestId === requestId);

  function requestsChanged() {
    if (requestId === undefined) return;
    const open = state.requests.get(requestId);
    const stopping = open?.state === 'REQUEST_STATE_CANCELLING' || cancelling === requestId;
    if (!open && document.activeElement === cancel) button.focus();
    show(cancel, open !== undefined);
    setText(cancel, stopping ? t('Cancelling…') : t('Cancel'));
    cancel.setAttribute('aria-disabled', String(stopping));
    if (open) {
      begun(false); // it stands among what is live, so another request can be made
      setText(problem, '');
      tell(stopping ? '' : stateWord(open.state));
      return;
    }
    const entry = ended();
    if (!entry) return;
    requestId = undefined;
    cancelling = '';
    begun(false);
    setText(problem, '');
    tell(''); // the outcome begins with it
    replace(outcome, h('h3', { class: 'unseen', text: t('Result') }), extra?.(entry), endedDetails(page, entry, true));
  }

  return {
    button,
    elements: [h('div', { class: 'buttons' }, button, cancel, ...actions), questions, problem, status, outcome],
    requestsChanged,
    pending: () => requestId,
    take: (id) => {
      requestId = id;
      if (id !== undefined) page.askHere(id, questions);
    },
    say: (text) => tell(text),
  };
}
