// While one part of the page covers the rest, the rest takes neither clicks nor keys, and nobody can see it.

const hearers: (() => void)[] = [];
let below: HTMLElement[] = [];

/** Reports whether a part of the page covers the rest. */
export const covered = () => below.length > 0;

/** @param heard is called when the page was covered or uncovered */
export const onCover = (heard: () => void) => void hearers.push(heard);

/** @param top covers the rest from now on; without it everything is uncovered */
export function cover(top?: HTMLElement) {
  for (const one of below) one.inert = false;
  below = [];
  let at: HTMLElement | null | undefined = top;
  for (; at && at !== document.body; at = at.parentElement)
    for (const one of at.parentElement?.children ?? [])
      // Live regions (.unseen), and dialogs, which open above everything, stay usable.
      if (one instanceof HTMLElement && one !== at && !one.inert && !one.matches('.unseen, dialog')) below.push(one);
  for (const one of below) one.inert = true;
  for (const heard of hearers) heard();
}
