// What has the focus may go away: a request ends, a button no longer fits. Where nothing else takes the focus it would
// fall to the body, and whoever works by keyboard would begin at the top again. It goes to the nearest thing around.

/** What can take it, within what was around the element that had it. */
const nearest = ':scope > :is(h1, h2, h3, h4, h5)[tabindex], :scope > :is(h3, h5) > .head, :scope > h4[tabindex]';

export function keepFocus() {
  /** @type {HTMLElement | undefined} */
  let last;
  /** @type {Element[]} from the inside out */
  let around = [];

  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    last = target;
    around = [];
    for (let one = target.parentElement; one && one !== document.body; one = one.parentElement) around.push(one);
  });
  // A click beside everything takes the focus away, and that is what was wanted.
  document.addEventListener(
    'pointerdown',
    ({ target }) => {
      if (!(target instanceof Node && last?.contains(target))) last = undefined;
    },
    { capture: true },
  );
  new MutationObserver(() => {
    if (!last || canFocus(last)) return;
    const now = document.activeElement;
    if (now && now !== document.body && now !== last) return;
    last = undefined;
    for (const one of around) {
      if (!one.isConnected || one.closest('[hidden], [inert]')) continue;
      const heir = one.matches('[tabindex]') ? one : one.querySelector(nearest);
      if (heir instanceof HTMLElement && canFocus(heir)) {
        heir.focus({ preventScroll: true });
        return;
      }
    }
  }).observe(document.body, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['hidden', 'disabled', 'open'],
  });
}

/** @param {HTMLElement} element */
function canFocus(element) {
  return element.isConnected && !element.closest('[hidden], [inert]') && !element.matches(':disabled');
}
