// A click counts as a yes only if its button was there before the person began to aim: an accept button that has just
// appeared or moved takes no click for half a second.

import { guardMs } from '../elements/guardtime.js';
import { forgetMoves, watchMoves } from '../elements/moves.js';

export function acceptGuard() {
  const buttons: HTMLElement[] = [];
  const born = performance.now();
  let guarded = born;
  let guarding: ReturnType<typeof setTimeout> | undefined;

  /** Marks the buttons as disabled until the guard is over: an ignored click would look like a fault. */
  function guard() {
    guarded = performance.now();
    for (const button of buttons) button.setAttribute('aria-disabled', 'true');
    clearTimeout(guarding);
    guarding = setTimeout(() => {
      for (const button of buttons) button.removeAttribute('aria-disabled');
    }, guardMs);
  }

  return {
    watch(button: HTMLElement) {
      buttons.push(button);
      watchMoves(button, guard);
      guard();
    },
    watches: (button: HTMLElement) => buttons.includes(button),
    /** Reports whether a press is too early. A key goes to the element with the focus, wherever that has moved. */
    ignores: (byPointer: boolean) => performance.now() - (byPointer ? guarded : born) < guardMs,
    forget() {
      clearTimeout(guarding);
      buttons.forEach(forgetMoves);
    },
  };
}
