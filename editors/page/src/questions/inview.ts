// Watches which of the open questions a person can see on the page.

import { covered, onCover } from '../elements/cover.js';

// A smaller part of a card at the edge of the page is easily missed, and the strip may cover it.
const edge = '-48px 0px';

/**
 * Watches cards. A card is in view if any part of it is: when a person reads the end of a long card, its heading is out
 * of view.
 * @param changed is called when a question came into view or left it
 */
export function viewWatch(changed: () => void) {
  const ids: Map<Element, string> = new Map();
  /** Whether cards are in view, by prompt id. A card is missing until its first layout in a visible page. */
  const seen: Map<string, boolean> = new Map();
  // The root is the document: without it, in the frame of a webview, the root would be the whole window of the editor.
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
    /** Returns the ids of the questions in view. */
    inView: () => (covered() ? [] : [...seen]).filter(([, here]) => here).map(([id]) => id),
    outOfView: (promptId: string) => seen.get(promptId) === false,
    watch(promptId: string, card: Element) {
      ids.set(card, promptId);
      observer.observe(card);
    },
    /** Is called when a question has closed. */
    forget(promptId: string) {
      for (const [card, id] of ids) {
        if (id !== promptId) continue;
        ids.delete(card);
        observer.unobserve(card);
      }
      if (seen.delete(promptId)) changed();
    },
  };
}
