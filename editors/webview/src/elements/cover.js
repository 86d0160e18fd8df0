// While one part of the page lies over all others, those take neither clicks nor keys, and nobody can see them.

/** @type {(() => void)[]} */
const hearers = [];
/** @type {HTMLElement[]} */
let below = [];

export const covered = () => below.length > 0;

/** @param {() => void} heard something has been covered, or has come to light */
export const onCover = (heard) => void hearers.push(heard);

/** @param {HTMLElement} [top] that lies over the rest from now on; none: all is to be seen */
export function cover(top) {
  for (const one of below) one.inert = false;
  below = [];
  /** @type {HTMLElement | null | undefined} */
  let at = top;
  for (; at && at !== document.body; at = at.parentElement)
    for (const one of at.parentElement?.children ?? [])
      // What is read aloud, and what opens above all, stays.
      if (one instanceof HTMLElement && one !== at && !one.inert && !one.matches('.unseen, dialog')) below.push(one);
  for (const one of below) one.inert = true;
  for (const heard of hearers) heard();
}
