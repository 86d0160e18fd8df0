// What a screen reader says without being asked, by the two live regions of page.html.

import { h } from './dom.js';

// A region keeps a few texts: one that is taken away at once may never be read.
const kept = 3;

/**
 * @param {string} text
 * @param {'polite' | 'assertive'} [urgency] assertive interrupts: only for what a person must not miss
 */
export function announce(text, urgency = 'polite') {
  const region = document.getElementById(urgency);
  if (!region || text === '') return;
  region.append(h('p', { text }));
  while (region.childElementCount > kept) region.firstElementChild?.remove();
}

/**
 * Gathers what ends within a second and says it in one sentence: fifty cancelled calls are one announcement.
 * @template T
 * @param {(items: readonly T[]) => string} sentence
 * @returns {(item: T) => void}
 */
export function gathered(sentence) {
  /** @type {T[]} */
  let items = [];
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
