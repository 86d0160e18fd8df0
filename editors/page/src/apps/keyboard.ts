// Keeps the keyboard from a view that the person does not use. Browsers let every frame take it, at any time: `inert`
// stops clicks and Tab, and not the scripts of a frame of another site. So what a view takes is taken back, and a view
// that takes it from what is being typed, or again and again, is ended.

import { h, show } from '../elements/dom.js';
import { bucket } from './bucket.js';

/** How often a view may take the keyboard in vain: at once, and additionally each second. */
const mostTaken = 3;
const takenPerSecond = 0.1;
/** While the keyboard is outside of the page, a view takes it without any event. In milliseconds. */
const lookEvery = 50;
const typedIn = 'input, textarea, select, [contenteditable]';

/**
 * Covers a frame, and lets it have the keyboard from a click on the cover on, until the person goes to a field of the
 * page or out of the page.
 */
export class KeptKeyboard {
  readonly cover: HTMLElement;
  readonly #frame: HTMLIFrameElement;
  readonly #tooMuch: () => void;
  readonly #mayTake = bucket(mostTaken, takenPerSecond);
  /** Ends the listeners. */
  readonly #over = new AbortController();
  readonly #due: ReturnType<typeof setInterval>;
  #used = false;
  /** What has the keyboard, as long as it is a part of the page. */
  #holder: HTMLElement | undefined;
  /** Is set between a take and the take-back. */
  #back: number | undefined;

  /**
   * @param label of the cover, which is a button
   * @param tooMuch is called when the view has to be ended; what it took has been given back then
   */
  constructor(frame: HTMLIFrameElement, label: string, tooMuch: () => void) {
    this.#frame = frame;
    this.#tooMuch = tooMuch;
    this.cover = h('button', {
      'class': 'view-cover',
      'aria-label': label,
      'dataset': { testid: 'view-use' },
      'onclick': () => {
        this.#use(true);
        frame.focus();
        show(this.cover, false);
      },
    });
    const start = document.activeElement;
    if (start instanceof HTMLElement) this.#holder = start;
    this.#use(false);
    const { signal } = this.#over;
    window.addEventListener('blur', () => this.#look(), { signal });
    document.addEventListener('focusin', ({ target }) => this.#came(target), { signal });
    // What takes the focus comes after the press.
    document.addEventListener('pointerdown', () => (this.#holder = undefined), { signal, capture: true });
    this.#due = setInterval(() => {
      if (document.hasFocus()) this.#look();
      else if (this.#used) this.#use(false);
    }, lookEvery);
  }

  stop() {
    this.#over.abort();
    clearInterval(this.#due);
  }

  #use(yes: boolean) {
    this.#used = yes;
    // A frame with the focus that became inert would bring the keyboard to the page, also from another part of the
    // editor.
    this.#frame.inert = !yes && document.activeElement !== this.#frame;
    if (!yes) show(this.cover, true);
  }

  #came(target: EventTarget | null) {
    if (!(target instanceof HTMLElement) || target === this.#frame) return;
    this.#holder = target;
    if (!this.#used || target.matches(typedIn)) this.#use(false);
  }

  #look() {
    if (this.#used || this.#back !== undefined || document.activeElement !== this.#frame) return;
    const from = this.#holder?.isConnected ? this.#holder : undefined;
    const over = from?.matches(typedIn) || !this.#mayTake();
    // During the event only the document would change its focus: the keys would still go to the view.
    this.#back = window.setTimeout(() => {
      this.#back = undefined;
      if (!this.#used) {
        this.#frame.blur();
        window.focus();
        from?.focus({ preventScroll: true });
        this.#use(false);
      }
      if (over) this.#tooMuch(); // last: a frame that is removed with the focus would leave the keys to nobody
    });
  }
}
