/**
 * Returns a token bucket, which limits a rate.
 * @param most how much can be taken at once
 * @param perSecond how much is added each second
 * @returns takes `much`, and reports whether there was enough; otherwise it takes nothing
 */
export function bucket(most: number, perSecond: number): (much?: number) => boolean {
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
