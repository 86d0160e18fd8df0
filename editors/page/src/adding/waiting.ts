// What is shown for a request that takes some time: that it runs, a button that stops it, and why it has failed.

import { h, setText, show } from '../elements/dom.js';
import { t } from '../words/t.js';
import { visible } from '../words/text.js';
import type { Reply } from '../page.js';

/** Has at most one request: the reply to an earlier one is ignored. */
export class Waiting {
  readonly element: HTMLElement;
  readonly #said = h('span', { role: 'status' });
  readonly #stop = h('button', {
    class: 'link',
    hidden: true,
    text: t('Stop'),
    dataset: { testid: 'finding-stop' },
    onclick: () => this.#giveUp(t('Stopped.')),
  });
  readonly #problem = h('p', { class: 'problem', role: 'alert', dataset: { testid: 'finding-problem' } });
  /** Gives up the open request. */
  #open: AbortController | undefined;

  constructor() {
    this.element = h('div', { class: 'fields' }, h('div', { class: 'line' }, this.#said, this.#stop), this.#problem);
  }

  stop() {
    this.#giveUp('');
  }

  say(text: string) {
    setText(this.#said, text);
  }

  /** @returns undefined: the request failed, which is shown, or was given up */
  async ask<R extends Reply>(doing: string, request: (unwanted: AbortSignal) => Promise<R>): Promise<R | undefined> {
    this.stop();
    const own = new AbortController();
    this.#open = own;
    setText(this.#problem, '');
    this.say(doing);
    show(this.#stop, true);
    const reply = await request(own.signal);
    if (own !== this.#open) return undefined;
    this.#end('');
    if (!reply.error) return reply;
    if (reply.error.code !== 'CANCELLED') setText(this.#problem, visible(reply.error.message));
    return undefined;
  }

  #giveUp(text: string) {
    if (!this.#open) return;
    this.#open.abort();
    this.#end(text);
  }

  #end(text: string) {
    this.#open = undefined;
    show(this.#stop, false);
    this.say(text);
  }
}
