// Where the focus goes when an editor gives it to the page, as its command "Focus on View" does: to what is live, or to
// the heading of what is shown. It would be on the body otherwise, from where a person has to find the way.

/** What takes the focus, the first that is shown: an open question, a running call, what is opened, the page. */
const places = ['#cards h3[tabindex]', '#now .call', '#now .note', '#opened-title', '#title'];

export function leadFocusIn() {
  let pressed = false; // a click into the page puts the focus where it is meant to be
  addEventListener('pointerdown', () => (pressed = true), { capture: true });
  for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => (pressed = false), { capture: true });
  addEventListener('focus', () => {
    if (pressed || document.activeElement !== document.body) return;
    const shown = places.flatMap((place) => [...document.querySelectorAll<HTMLElement>(place)]);
    shown.find((element) => element.getClientRects().length > 0)?.focus({ preventScroll: true });
  });
}
