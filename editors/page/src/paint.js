// When the page is painted: at most once a frame, however many messages have come since the last frame.

import { joined } from './hub/state.js';

/** @typedef {import('./hub/state.js').Changed} Changed */

/**
 * @param {() => void} paint draws what has changed since its last call
 * @returns {() => void} requests a paint
 */
export function painter(paint) {
  let due = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let frame = 0;
  const run = () => {
    due = false;
    clearTimeout(timer);
    cancelAnimationFrame(frame);
    paint();
  };
  return () => {
    if (due) return;
    due = true;
    frame = requestAnimationFrame(run);
    // A hidden tab gets no frames, but people still read its title, and screen readers its live regions.
    timer = setTimeout(run, 250);
  };
}

/**
 * Returns a function that paints every section. If a section throws, its changes are kept for this section and painted
 * with the next change. The other sections are painted all the same.
 * @param {readonly import('./page.js').Section[]} sections
 * @param {(error: unknown) => void} report
 * @returns {(changed: Changed) => void}
 */
export function sectionsPainter(sections, report) {
  /** @type {Map<import('./page.js').Section, Changed>} */
  const owed = new Map();
  return (changed) => {
    for (const section of sections) {
      const before = owed.get(section);
      const due = before ? joined(before, changed) : changed;
      try {
        section.paint(due);
        owed.delete(section);
      } catch (error) {
        owed.set(section, due);
        report(error);
      }
    }
  };
}

/**
 * The one timer for everything that shows a running time. It runs only while it is wanted.
 * @param {() => void} tick is called every second
 * @returns {(wanted: boolean) => void}
 */
export function secondClock(tick) {
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  return (wanted) => {
    if (wanted && timer === undefined) timer = setInterval(tick, 1000);
    if (!wanted && timer !== undefined) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}
