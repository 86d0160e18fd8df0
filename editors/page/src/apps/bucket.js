/**
 * Returns a token bucket, which limits a rate.
 * @param {number} most how much can be taken at once
 * @param {number} perSecond how much is added each second
 * @returns {(much?: number) => boolean} takes `much`, and reports whether there was enough; otherwise it takes nothing
 */
export function bucket(most, perSecond) {
  let left = most;
  let filled = performance.now();
  return (much = 1) => {
    const now = performance.now();
    left = Math.min(most, left + (Math.max(0, now - filled) * perSecond) / 1000);
    filled = now;
    if (left < much) return false;
    left -= much;
    return true;
  };
}
