import { guardMs } from '../elements/guardtime.js';

/**
 * Whether a click on a part that has just been shown, or that has moved, is meant for it.
 * @param {HTMLElement} part
 * @param {Pick<typeof import('../elements/moves.js'), 'watchMoves' | 'forgetMoves'>} moves of the page
 * @returns {(event: MouseEvent) => boolean}
 */
export function guarded(part, { watchMoves, forgetMoves }) {
  const born = performance.now();
  let since = born;
  let due = 0;
  const guard = () => {
    since = performance.now();
    part.setAttribute('aria-disabled', 'true');
    clearTimeout(due);
    due = window.setTimeout(() => part.removeAttribute('aria-disabled'), guardMs);
  };
  watchMoves(part, () => (part.isConnected ? guard() : forgetMoves(part)));
  guard();
  // A key, whose clicks are none, goes where the focus is, wherever that moves.
  return ({ detail }) => detail < 2 && performance.now() - (detail > 0 ? since : born) >= guardMs;
}
