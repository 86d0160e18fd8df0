import { guardMs } from '../elements/guardtime.js';

/**
 * Returns a function that reports whether a click is meant for a part: it is not if the part was just shown, or has
 * just moved.
 * @param moves of the page
 */
export function guarded(
  part: HTMLElement,
  { watchMoves, forgetMoves }: Pick<typeof import('../elements/moves.js'), 'watchMoves' | 'forgetMoves'>,
): (event: MouseEvent) => boolean {
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
  // The click of a key has the detail 0. It goes to the element with the focus, so it does not matter if that moves.
  return ({ detail }) => detail < 2 && performance.now() - (detail > 0 ? since : born) >= guardMs;
}
