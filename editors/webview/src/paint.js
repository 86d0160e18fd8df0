// When things are drawn: at most once a frame, however many messages came in between.

import { joined } from './hub/state.js';

/** @typedef {import('./hub/state.js').Changed} Changed */

/**
 * @param {() => void} paint draws what has changed since it was called last
 * @returns {() => void} asks for a paint
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
    // Frames stop while a tab is hidden, but its title and its live regions are still read.
    timer = setTimeout(run, 250);
  };
}

/**
 * Paints each section by itself. What one could not paint stays due for it alone, and is painted with the next change;
 * the others are not held up.
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
 * The one clock for everything that shows how long something takes. It runs only while it is wanted.
 * @param {() => void} tick
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
