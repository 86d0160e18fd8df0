// Compares the content of a form with an entry.

/**
 * Reports whether two values are equal as JSON. The order of keys does not matter, and an empty value is like none.
 * @param {unknown} a @param {unknown} b
 */
export const same = (a, b) => canonical(a) === canonical(b);
/** @param {unknown} v */
const empty = (v) =>
  v === undefined || v === '' || (typeof v === 'object' && v !== null && Object.keys(v).length === 0);
/** @param {unknown} v @returns {string} */
function canonical(v) {
  if (Array.isArray(v)) return `[${v.map(canonical).join()}]`;
  if (typeof v !== 'object' || v === null) return JSON.stringify(v ?? null);
  return `{${Object.entries(/** @type {Record<string, unknown>} */ (v))
    .filter(([, one]) => !empty(one))
    .sort(([x], [y]) => (x < y ? -1 : 1))
    .map(([k, one]) => `${JSON.stringify(k)}:${canonical(one)}`)
    .join()}}`;
}
