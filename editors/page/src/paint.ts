// When the page is painted: at most once a frame, however many messages have come since the last frame.

import { joined } from './hub/state.js';
import type { Changed } from './hub/state.js';
import type { Section } from './page.js';

/**
 * @param paint draws what has changed since its last call
 * @returns requests a paint
 */
export function painter(paint: () => void): () => void {
  let due = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
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
 */
export function sectionsPainter(
  sections: readonly Section[],
  report: (error: unknown) => void,
): (changed: Changed) => void {
  const owed: Map<Section, Changed> = new Map();
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
 * @param tick is called every second
 */
export function secondClock(tick: () => void): (wanted: boolean) => void {
  let timer: ReturnType<typeof setInterval> | undefined;
  return (wanted) => {
    if (wanted && timer === undefined) timer = setInterval(tick, 1000);
    if (!wanted && timer !== undefined) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}
