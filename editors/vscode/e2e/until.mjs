import { setTimeout } from 'node:timers/promises';

/**
 * How long a scenario waits for what must come, in ms: far beyond what anything takes on a busy machine, so that only
 * what never comes fails.
 */
export const long = 300_000;

/** How long one attempt may take, in ms, before it is made again. No verdict depends on it. */
export const shortly = 5_000;

/**
 * Waits until a condition holds. It polls, because the conditions depend on files, on /proc and on other processes,
 * which send no events. No test waits for a fixed length of time.
 *
 * @template T
 * @param {string} what what is waited for, for the error: "the journal tells of the cancel"
 * @param {() => T | Promise<T>} condition holds when it gives something truthy; one that throws does not hold yet
 * @returns {Promise<NonNullable<T>>} what the condition gave
 */
export async function until(what, condition) {
  const end = performance.now() + long;
  /** @type {unknown} */
  let trouble;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
      trouble = undefined;
    } catch (error) {
      trouble = error;
    }
    if (performance.now() > end)
      throw new Error(`${what}: not within ${long} ms${trouble === undefined ? '' : ` (${firstLine(trouble)})`}`);
    await setTimeout(50);
  }
}

/** @param {unknown} trouble */
function firstLine(trouble) {
  return (
    (trouble instanceof Error ? `${trouble.name}: ${trouble.message}` : JSON.stringify(trouble)).split('\n')[0] ?? ''
  );
}
