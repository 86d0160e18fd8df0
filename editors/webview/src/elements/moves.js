// Tells when something on the page has moved by itself, and not because it was scrolled: a click may then have been
// meant for what stood there before. So may one on what lay under another part of the page.

import { onCover } from './cover.js';

/** @typedef {{ moved: () => void, inView: number, inPage: number } } Place */

/** @type {Map<HTMLElement, Place>} */
const watched = new Map();
/** Whatever shifts the rest changes the size of the page or of one of its parts. @type {ResizeObserver | undefined} */
let sizes;

function look() {
  for (const [element, place] of watched) {
    const inView = element.getBoundingClientRect().top;
    const inPage = inView + scrollY;
    // A scroll changes the one; the browser's own care that nothing jumps, the other.
    const moved = Math.abs(inView - place.inView) > 2 && Math.abs(inPage - place.inPage) > 2;
    Object.assign(place, { inView, inPage });
    if (moved) place.moved();
  }
}

/** @param {HTMLElement} element @param {() => void} moved */
export function watchMoves(element, moved) {
  if (!sizes) {
    onCover(() => watched.forEach((place) => place.moved()));
    sizes = new ResizeObserver(look);
    for (const part of [document.body, ...document.body.children, ...document.querySelectorAll('main section')])
      sizes.observe(part);
  }
  watched.set(element, { moved, inView: NaN, inPage: NaN }); // where it is first, it has not moved to
}

/** @param {HTMLElement} element */
export function forgetMoves(element) {
  watched.delete(element);
}
