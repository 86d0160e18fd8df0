// What axe-core finds wrong with the page for people who do not see it, or not well.

import { createRequire } from 'node:module';

/** @typedef {{ id: string, help: string, nodes: { html: string, failureSummary?: string }[] }} Violation */

/** @type {(name: string) => unknown} */
const require = createRequire(import.meta.url);
const { source } = /** @type {{ source: string }} */ (require('axe-core'));

/**
 * @param {import('./pagetest.js').Page} page
 * @param {string[]} [rules] rules or their tags; without them, what axe asks by itself
 * @returns {Promise<Violation[]>}
 */
export async function violations(page, rules) {
  await page.evaluate(source);
  const result = await page.evaluate((runOnly) => {
    /** @typedef {{ axe: { run(on: Document, options: object): Promise<{ violations: Violation[] }> } }} WithAxe */
    const { axe } = /** @type {WithAxe} */ (/** @type {unknown} */ (window));
    return axe.run(document, runOnly ? { runOnly } : {});
  }, rules);
  return result.violations;
}
