/**
 * A rate: as many at once, refilled by so many a second.
 * @param {number} most @param {number} perSecond
 * @returns {(much?: number) => boolean} takes that much, if there is as much
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
