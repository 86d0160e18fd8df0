/**
 * @typedef {object} Row
 * @property {string} what
 * @property {string} hub figure with the hub
 * @property {string} sdk the same with the SDK's client in this process
 * @property {string} reach what is to be reached, and whether it is
 */

/** The rows as lines of text. @param {Row[]} rows @returns {string[]} */
export function table(rows) {
  const all = [{ what: 'figure', hub: 'hub', sdk: 'TypeScript SDK', reach: 'to reach' }, ...rows];
  /** @type {(keyof Row)[]} */
  const columns = ['what', 'hub', 'sdk', 'reach'];
  const width = columns.map((c) => Math.max(...all.map((r) => r[c].length)));
  return all.map((r) =>
    columns
      .map((c, i) => r[c].padEnd(width[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
