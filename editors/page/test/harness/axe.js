// Runs axe-core, which finds faults of the page for people who cannot see it, or not well.

import { createRequire } from 'node:module';

/** @typedef {{ id: string, help: string, nodes: { html: string, failureSummary?: string }[] }} Violation */

/** @type {(name: string) => unknown} */
const require = createRequire(import.meta.url);
const { source } = /** @type {{ source: string }} */ (require('axe-core'));

/**
 * Returns the violations that axe-core finds. The one rule that reads style sheets, css-orientation-lock, has them only
 * in the packed page: axe-core fetches what a style sheet imports, which the CSP of the page refuses.
 *
 * @param {import('./pagetest.js').Page} page
 * @param {string[]} [rules] rules or their tags; without them, the default rules of axe-core
 * @returns {Promise<Violation[]>}
 */
export async function violations(page, rules) {
  // It takes its turns by timers, and the page's clock stands still.
  await page.evaluate(`{ const setTimeout = window.__setTimeout; ${source} }`);
  const result = await page.evaluate((runOnly) => {
    /** @typedef {{ axe: { run(on: Document, options: object): Promise<{ violations: Violation[] }> } }} WithAxe */
    const { axe } = /** @type {WithAxe} */ (/** @type {unknown} */ (window));
    const imports = [...document.styleSheets].some(({ cssRules }) =>
      [...cssRules].some((rule) => rule instanceof CSSImportRule),
    );
    return axe.run(document, { ...(runOnly && { runOnly }), ...(imports && { preload: { assets: ['media'] } }) });
  }, rules);
  return result.violations;
}
