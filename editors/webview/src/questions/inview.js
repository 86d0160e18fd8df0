// Which of the open questions a person can see on this page.

import { covered, onCover } from '../elements/cover.js';

// Less of a card at the edge of the page goes unnoticed, and the strip may lie over it.
const edge = '-48px 0px';

/**
 * Watches cards. One counts as in view by any part of it: a person who reads the end of a long one has its heading out
 * of view.
 * @param {() => void} changed some question came into view, or left it
 */
export function viewWatch(changed) {
  /** @type {Map<Element, string>} */
  const ids = new Map();
  /** What is not in it has not been laid out yet, or the page is hidden. @type {Map<string, boolean>} */
  const seen = new Map();
  // By the document itself: in the frame of a webview, the root would else be the editor's whole window.
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const id = ids.get(target);
        if (id !== undefined) seen.set(id, isIntersecting);
      }
      changed();
    },
    { root: document, rootMargin: edge },
  );
  onCover(changed);
  return {
    /** Ids of the questions in view. */
    inView: () => (covered() ? [] : [...seen]).filter(([, here]) => here).map(([id]) => id),
    /** @param {string} promptId */
    outOfView: (promptId) => seen.get(promptId) === false,
    /** @param {string} promptId @param {Element} card */
    watch(promptId, card) {
      ids.set(card, promptId);
      observer.observe(card);
    },
    /** The question has closed. @param {string} promptId */
    forget(promptId) {
      for (const [card, id] of ids) {
        if (id !== promptId) continue;
        ids.delete(card);
        observer.unobserve(card);
      }
      if (seen.delete(promptId)) changed();
    },
  };
}
