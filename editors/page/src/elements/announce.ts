// Announcements, which a screen reader reads out at once. They go into the two live regions of page.html.

import { h } from './dom.js';

// A region keeps its last texts: a screen reader may miss a text that is removed too soon.
const kept = 3;

/** @param urgency assertive interrupts the reader: only for what a person must not miss */
export function announce(text: string, urgency: 'polite' | 'assertive' = 'polite') {
  const region = document.getElementById(urgency);
  if (!region || text === '') return;
  region.append(h('p', { text }));
  while (region.childElementCount > kept) region.firstElementChild?.remove();
}

/**
 * Returns a function that collects items for a second, and announces them in one sentence: fifty cancelled calls are
 * one announcement.
 */
export function gathered<T>(sentence: (items: readonly T[]) => string): (item: T) => void {
  let items: T[] = [];
  return (item) => {
    items.push(item);
    if (items.length > 1) return;
    setTimeout(() => {
      const said = items;
      items = [];
      announce(sentence(said));
    }, 1000);
  };
}
