// Reports when an element of the page has moved by itself, not because a person scrolled: a click on it may then have
// been meant for what was there before. The same holds for an element that another part of the page has covered.

import { onCover } from './cover.js';

export type Place = { moved: () => void; inView: number; inPage: number };

const watched: Map<HTMLElement, Place> = new Map();
/** Whatever moves an element changes the size of the page or of one of its parts. */
let sizes: ResizeObserver | undefined;

function look() {
  for (const [element, place] of watched) {
    const inView = element.getBoundingClientRect().top;
    const inPage = inView + scrollY;
    // Scrolling changes only inView. Scroll anchoring, which keeps the content in view in place, changes only inPage.
    const moved = Math.abs(inView - place.inView) > 2 && Math.abs(inPage - place.inPage) > 2;
    Object.assign(place, { inView, inPage });
    if (moved) place.moved();
  }
}

/** Calls moved when element has moved, until forgetMoves. */
export function watchMoves(element: HTMLElement, moved: () => void) {
  if (!sizes) {
    onCover(() => watched.forEach((place) => place.moved()));
    sizes = new ResizeObserver(look);
    for (const part of [document.body, ...document.body.children, ...document.querySelectorAll('main section')])
      sizes.observe(part);
  }
  watched.set(element, { moved, inView: NaN, inPage: NaN }); // NaN: the first position is no move
}

export function forgetMoves(element: HTMLElement) {
  watched.delete(element);
}
