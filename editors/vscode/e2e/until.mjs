/**
 * Waits until a condition holds. It polls, because the conditions depend on files, on /proc and on other processes,
 * which send no events. No test waits for a fixed length of time.
 *
 * @template T
 * @param {string} what what is waited for, for the error: "the journal tells of the cancel"
 * @param {() => T | Promise<T>} condition holds when it gives something truthy; one that throws does not hold yet
 * @param {{timeout?: number, interval?: number}} [options]
 * @returns {Promise<NonNullable<T>>} what the condition gave
 */
export async function until(what, condition, { timeout = 15_000, interval = 50 } = {}) {
  const end = Date.now() + timeout;
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
    if (Date.now() > end)
      throw new Error(`${what}: not within ${timeout} ms${trouble === undefined ? '' : ` (${firstLine(trouble)})`}`);
    await new Promise((resolve) => setTimeout(resolve, interval));
  }
}

/** @param {unknown} trouble */
function firstLine(trouble) {
  return (
    (trouble instanceof Error ? `${trouble.name}: ${trouble.message}` : JSON.stringify(trouble)).split('\n')[0] ?? ''
  );
}
