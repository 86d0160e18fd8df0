// A button that makes a request, with the state and the result of the request. It reads a resource, or gets a prompt.
// The request is also in the section of running requests, where it can be cancelled, and later in the history.

import { h, replace, setText, show } from '../elements/dom.js';
import { endedDetails } from '../history/endeddetails.js';
import { outcomeWords } from '../hub/ended.js';
import { goToRequest } from '../running/requestrow.js';
import { shortName, stateWord, visible } from '../words/text.js';
import { t } from '../words/t.js';

/** @typedef {import('../hub/methods.js').Order<'ReadResource' | 'GetMcpPrompt'>} Order */
/** @typedef {import('../hub/ended.js').Ended} Ended */

/**
 * @typedef {object} Requester
 * @property {HTMLElement[]} elements
 * @property {HTMLButtonElement} button
 * @property {() => void} requestsChanged
 */

/**
 * @param {import('../page.js').Page} page
 * @param {object} of
 * @param {string} of.verb text of the button
 * @param {string} of.name what is read or filled in, for people who do not see where the button is
 * @param {HTMLElement} of.home takes the focus when the element that has it disappears
 * @param {(requestId: string) => Order | string | Promise<Order | string>} of.order returns the call that makes the
 * request, or a text that says why there is none; '': this is shown already
 * @param {(entry: Ended) => HTMLElement | undefined | false} [of.extra] returns further actions for the result
 * @param {(HTMLElement | undefined)[]} [of.actions] are placed beside the button
 * @returns {Requester}
 */
export function requester(page, { verb, name, home, order, extra, actions = [] }) {
  /** The id of the last request that was made here. @type {string | undefined} */
  let requestId;
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

  /** @param {boolean} now */
  function begun(now) {
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
