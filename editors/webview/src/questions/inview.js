// Which of the open questions a person can see on this page.

/**
 * Watches the headings of cards. A card whose heading is in view shows who asks and what; its buttons may be below.
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
    { root: document, threshold: 0.9 },
  );
  return {
    /** Ids of the questions in view. */
    inView: () => [...seen].filter(([, here]) => here).map(([id]) => id),
    /** @param {string} promptId */
    outOfView: (promptId) => seen.get(promptId) === false,
    /** @param {string} promptId @param {Element} heading */
    watch(promptId, heading) {
      ids.set(heading, promptId);
      observer.observe(heading);
    },
    /** The question has closed. @param {string} promptId */
    forget(promptId) {
      for (const [heading, id] of ids) {
        if (id !== promptId) continue;
        ids.delete(heading);
        observer.unobserve(heading);
      }
      if (seen.delete(promptId)) changed();
    },
  };
}
