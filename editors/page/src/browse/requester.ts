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

export const requester = (page: Page, asking: Asking): Requester => new AskingButton(page, asking);

class AskingButton implements Requester {
  readonly button: HTMLButtonElement;
  readonly elements: HTMLElement[];
  readonly #page: Page;
  readonly #asking: Asking;
  readonly #cancel: HTMLButtonElement;
  readonly #problem = h('p', { class: 'problem', role: 'alert' });
  readonly #status = h('p', { class: 'quiet', role: 'status', hidden: true });
  /** The questions of the request stand beside its button. */
  readonly #questions = h('div', { class: 'questions' });
  readonly #outcome = h('div', {});
  /** The id of the last request that was made here, until its end is shown. */
  #id: string | undefined;
  #sending = false;
  #cancelling = '';

  constructor(page: Page, asking: Asking) {
    const { verb, testid = 'ask', name, actions = [] } = asking;
    this.#page = page;
    this.#asking = asking;
    this.button = h('button', {
      'class': 'primary',
      'text': verb,
      'aria-label': `${verb} ${shortName(name)}`,
      'dataset': { testid },
      'onclick': () => void this.#send(),
    });
    this.#cancel = h('button', {
      'text': t('Cancel'),
      'aria-label': t('{0} {1}', t('Cancel'), shortName(name)),
      'hidden': true,
      'dataset': { testid: `cancel-${testid}` },
      'onclick': () => void this.#stop(),
    });
    const buttons = h('div', { class: 'buttons' }, this.button, this.#cancel, ...actions);
    this.elements = [buttons, this.#questions, this.#problem, this.#status, this.#outcome];
  }

  pending() {
    return this.#id;
  }

  take(id: string | undefined) {
    this.#id = id;
    if (id !== undefined) this.#page.askHere(id, this.#questions);
  }

  say(text: string) {
    show(this.#status, text !== '');
    setText(this.#status, text);
  }

  readonly requestsChanged = () => {
    if (this.#id === undefined) return;
    const open = this.#page.state.requests.get(this.#id);
    const stopping = open?.state === 'REQUEST_STATE_CANCELLING' || this.#cancelling === this.#id;
    const cancel = this.#cancel;
    if (!open && document.activeElement === cancel) this.button.focus();
    show(cancel, open !== undefined);
    setText(cancel, stopping ? t('Cancelling…') : t('Cancel'));
    cancel.setAttribute('aria-disabled', String(stopping));
    if (open) {
      this.#begun(false); // it stands among what is live, so another request can be made
      this.say(stopping ? '' : stateWord(open.state));
    } else this.#showEnd();
  };

  /** Shows the end of the request if it is known. */
  #showEnd() {
    const entry = this.#page.state.history.findLast(({ requestId }) => requestId === this.#id);
    if (!entry) return;
    this.#id = undefined;
    this.#begun(false);
    this.say(''); // the outcome begins with it
    const heading = h('h3', { class: 'unseen', text: t('Result') });
    replace(this.#outcome, heading, this.#asking.extra?.(entry), endedDetails(this.#page, entry, true));
  }

  async #send() {
    if (this.#sending) return;
    const mine = crypto.randomUUID();
    this.#begun(true);
    const given = await this.#asking.order(mine);
    if (typeof given === 'string') {
      this.#begun(false, given); // an earlier request that still runs is shown as before
      return;
    }
    this.take(mine);
    replace(this.#outcome);
    this.say(t('Asking…'));
    const { error } = await this.#page.call(given[0], given[1]);
    this.#page.askHere(mine); // it is over
    if (mine !== this.#id) return;
    // If the history has the end of the request, it is shown from there. Otherwise the request never began, or the page
    // has not received its end.
    this.requestsChanged();
    if (mine !== this.#id) return;
    this.say('');
    this.#begun(false, visible(error?.message));
  }

  /** @param why the request could not be made */
  #begun(now: boolean, why: string = '') {
    this.#sending = now;
    this.button.setAttribute('aria-disabled', String(now)); // not "disabled", which would lose the focus
    setText(this.#problem, why);
  }

  async #stop() {
    const mine = this.#id;
    if (mine === undefined || this.#cancelling === mine) return;
    this.#cancelling = mine;
    this.requestsChanged();
    const { error } = await this.#page.ask({ cancelMcpRequest: { requestId: mine } });
    if (!error) return;
    this.#cancelling = '';
    setText(this.#problem, visible(error.message));
    this.requestsChanged();
  }
}
