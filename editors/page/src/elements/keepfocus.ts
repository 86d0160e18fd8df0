// The element with the focus may disappear, for example when a request ends. If nothing else took the focus, it would
// go to the body, and a person who works by keyboard would have to start at the top of the page again. Instead the
// nearest ancestor, or the heading of the nearest ancestor, gets the focus.

/** What can take the focus in an ancestor of the element that had it. */
const nearest =
  ':scope > :is(h1, h2, h3, h4, h5)[tabindex], :scope > :is(.pane-head, .section-head) > h2[tabindex], :scope > :is(h3, h5) > .head, :scope > h4[tabindex]';

export function keepFocus() {
  let last: HTMLElement | undefined;
  /** The ancestors of last, from the inside out. */
  let around: Element[] = [];

  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    last = target;
    around = [];
    for (let one = target.parentElement; one && one !== document.body; one = one.parentElement) around.push(one);
  });
  // A click outside the element takes the focus away on purpose.
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

/** Reports whether the element with the focus is this one, or in it. */
export const holdsFocus = (element: Element | null) => Boolean(element?.contains(document.activeElement));

/** Reports whether no element has the focus: a person has not moved it elsewhere. */
export const noneFocused = () => document.activeElement === document.body;

function canFocus(element: HTMLElement) {
  return element.isConnected && !element.closest('[hidden], [inert]') && !element.matches(':disabled');
}
