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
 * @param label of the cover, which is a button
 * @param tooMuch is called when the view has to be ended; what it took has been given back then
 */
export function keepKeyboard(
  frame: HTMLIFrameElement,
  label: string,
  tooMuch: () => void,
): { cover: HTMLElement; stop: () => void } {
  let used = false;
  /** What has the keyboard, as long as it is a part of the page. */
  let holder: HTMLElement | undefined;
  /** Is set between a take and the take-back. */
  let back: number | undefined;
  const mayTake = bucket(mostTaken, takenPerSecond);
  const cover = h('button', {
    'class': 'view-cover',
    'aria-label': label,
    'dataset': { testid: 'view-use' },
    'onclick': () => {
      use(true);
      frame.focus();
      show(cover, false);
    },
  });

  function use(yes: boolean) {
    used = yes;
    // A frame with the focus that became inert would bring the keyboard to the page, also from another part of the
    // editor.
    frame.inert = !yes && document.activeElement !== frame;
    if (!yes) show(cover, true);
  }

  function came({ target }: FocusEvent) {
    if (!(target instanceof HTMLElement) || target === frame) return;
    holder = target;
    if (!used || target.matches(typedIn)) use(false);
  }

  function look() {
    if (used || back !== undefined || document.activeElement !== frame) return;
    const from = holder?.isConnected ? holder : undefined;
    const over = from?.matches(typedIn) || !mayTake();
    // During the event only the document would change its focus: the keys would still go to the view.
    back = window.setTimeout(() => {
      back = undefined;
      if (!used) {
        frame.blur();
        window.focus();
        from?.focus({ preventScroll: true });
        use(false);
      }
      if (over) tooMuch(); // last: a frame that is removed with the focus would leave the keys to nobody
    });
  }

  const pressed = () => (holder = undefined); // what takes the focus comes after it
  const start = document.activeElement;
  if (start instanceof HTMLElement) holder = start;
  use(false);
  window.addEventListener('blur', look);
  document.addEventListener('focusin', came);
  document.addEventListener('pointerdown', pressed, true);
  const due = setInterval(() => {
    if (document.hasFocus()) look();
    else if (used) use(false);
  }, lookEvery);
  return {
    cover,
    stop: () => {
      window.removeEventListener('blur', look);
      document.removeEventListener('focusin', came);
      document.removeEventListener('pointerdown', pressed, true);
      clearInterval(due);
    },
  };
}
