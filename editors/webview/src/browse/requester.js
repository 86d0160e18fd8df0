// A button that makes a request, how that goes, and what came of it: for a resource that is read and a prompt that is
// filled. The request itself is among what runs, where it can be stopped, and in the history.

import { h, replace, setText, show } from '../elements/dom.js';
import { endedDetails } from '../history/endeddetails.js';
import { outcomeWords } from '../hub/ended.js';
import { goToRequest } from '../running/requestrow.js';
import { shortName, stateWord, visible } from '../words/text.js';
import { t } from '../words/t.js';

/** @typedef {import('../hub/stream.js').AttachRequest} AttachRequest */
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
 * @param {string} of.verb on the button
 * @param {string} of.name what is read or filled, for those who do not see where the button is
 * @param {HTMLElement} of.home takes the focus when what had it goes
 * @param {(requestId: string) => AttachRequest | string | Promise<AttachRequest | string>} of.message a text says why there is
 * none; '': it is said already
 * @param {(entry: Ended) => HTMLElement | undefined | false} [of.extra] what can be done besides with what came
 * @param {(HTMLElement | undefined)[]} [of.actions] beside the button
 * @returns {Requester}
 */
export function requester(page, { verb, name, home, message, extra, actions = [] }) {
  /** The last request from here. @type {string | undefined} */
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
    const order = await message(mine);
    if (typeof order === 'string') {
      begun(false);
      setText(problem, order); // and what runs already is followed on
      return;
    }
    requestId = mine;
    replace(outcome);
    show(status, true);
    show(where, false);
    setText(status, t('Asking…'));
    const { error } = await page.ask(order);
    if (mine !== requestId) return;
    begun(false);
    // What has an end in the history is told from there. This is what never began, or whose end nobody here was told.
    if (ended()) requestsChanged();
    else {
      show(status, false);
      setText(problem, visible(error?.message));
    }
  }

  /** @param {boolean} now */
  function begun(now) {
    sending = now;
    button.setAttribute('aria-disabled', String(now)); // and not disabled: that would throw the focus away
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
