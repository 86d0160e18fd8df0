// Compares the content of a form with an entry.

/** Reports whether two values are equal as JSON. The order of keys does not matter, and an empty value is like none. */
export const same = (a: unknown, b: unknown) => canonical(a) === canonical(b);
const empty = (v: unknown) =>
  v === undefined || v === '' || (typeof v === 'object' && v !== null && Object.keys(v).length === 0);
function canonical(v: unknown): string {
  if (Array.isArray(v)) return `[${v.map(canonical).join()}]`;
  if (typeof v !== 'object' || v === null) return JSON.stringify(v ?? null);
  return `{${Object.entries(v as Record<string, unknown>)
    .filter(([, one]) => !empty(one))
    .sort(([x], [y]) => (x < y ? -1 : 1))
    .map(([k, one]) => `${JSON.stringify(k)}:${canonical(one)}`)
    .join()}}`;
}
