// Views by other authors (the examples of MCP Apps' own repository), with the page as the binary serves it, and with a
// real hub. Needs MCPHUB_BINARY and the servers of internal/peers/apps. In CI both must be there.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { long } from '../harness/long.js';
import { launchBrowser } from '../harness/pagetest.js';
import { binary, openTool, startBinary } from '../harness/realhub.js';

/** @typedef {import('playwright-core').Page} Page */

const peers = fileURLToPath(
  new URL('../../../../internal/peers/apps/node_modules/@modelcontextprotocol/', import.meta.url),
);
const missing =
  binary === '' ? 'MCPHUB_BINARY is not set' : existsSync(peers) ? '' : 'internal/peers/apps is not installed';
const skip = missing !== '' && !process.env['CI'] && missing;

/** @param {string} name */
const example = (name) => ({
  command: process.execPath,
  args: [`${peers}server-${name}/dist/index.js`, '--stdio'],
  alwaysAllow: ['*'],
});

/** Starts `mcphub web` with the examples, and returns its link. */
const startWeb = () =>
  startBinary(async (folder) => {
    assert.equal(missing, '');
    const config = join(folder, 'mcp.json');
    const servers = { debug: example('debug'), clock: example('basic-vanillajs'), budget: example('budget-allocator') };
    const asked = { ...servers.debug, alwaysAllow: ['debug-tool', 'debug-log'] }; // the view calls debug-log by itself
    await writeFile(config, JSON.stringify({ mcpServers: { ...servers, asked } }));
    return ['web', config];
  });

/** Calls a tool in its form. @param {Page} page @param {string} server @param {string} name @param {object} [given] */
async function call(page, server, name, given) {
  const tool = await openTool(page, server, name);
  if (given) {
    const whole = tool.getByRole('textbox', { name: 'All values as JSON' });
    if (!(await whole.isVisible())) await tool.getByRole('button', { name: 'Edit as JSON' }).click();
    await whole.fill(JSON.stringify(given));
  }
  await tool.getByTestId('call').click();
  return tool;
}

/** Returns the document in the frames of the only view. @param {Page} page */
const inside = (page) => page.frameLocator('.view-frame iframe').frameLocator('iframe');

/** Uses the only view, as a person does by a click on it. @param {Page} page */
const use = (page) => page.getByTestId('view-use').click();

/**
 * Returns a function that presses a button of the view with the Enter key. A click could miss the button, since the
 * view grows with each event that it shows.
 *
 * @param {Page} page
 */
const pressing = (page) => (/** @type {string} */ id) => inside(page).locator(`#${id}`).press('Enter');

describe('views of others in a browser', { skip }, () => {
  /** @type {Awaited<ReturnType<typeof startWeb>>} */
  let web;
  /** @type {Awaited<ReturnType<typeof launchBrowser>>} */
  let browser;
  /** @type {Page} */
  let page;

  before(async () => {
    [web, browser] = await Promise.all([startWeb(), launchBrowser()]);
    page = await browser.newPage();
    page.setDefaultTimeout(long);
    await page.goto(web.link);
  });
  after(async () => {
    await browser.close();
    await web.end();
  });

  const close = async () => {
    await page.locator('[data-testid="view-close"]').click();
    await page.locator('.view-of-call').waitFor({ state: 'detached' });
  };

  test('the smallest view shows its result, and calls its server again', async () => {
    const tool = await call(page, 'clock', 'get-time');
    await tool.getByTestId('show-view').click();
    const time = inside(page).locator('#server-time');
    await time.filter({ hasText: /\d{4}-\d\d-\d\dT/ }).waitFor();
    const before = await time.innerText();
    await use(page);
    await inside(page)
      .getByRole('button', { name: /Get Server Time/i })
      .click();
    await time.filter({ hasNotText: before }).waitFor();
    await page.getByTestId('history').getByText('view of get-time').first().waitFor();
    await close();
  });

  test('a view that draws needs no network', async () => {
    const tool = await call(page, 'budget', 'get-budget-data');
    await tool.getByTestId('show-view').click();
    await inside(page).locator('canvas').first().waitFor();
    await inside(page).getByText('Marketing').first().waitFor();
    await close();
  });

  test('a view hears the arguments, and then that its call was cancelled, with the reason', async () => {
    await call(page, 'debug', 'debug-tool', { delayMs: 600_000 });
    const row = page
      .getByTestId(/^request-/)
      .filter({ hasText: 'debug-tool' })
      .first();
    await row.getByTestId('show-view').click();
    const log = inside(page).locator('#event-log');
    await log.getByText('ontoolinput').first().waitFor();
    await row.getByTestId('cancel-more').first().click();
    await row.getByTestId('cancel-with-reason').click();
    await row
      .getByRole('textbox', { name: /^Reason/ })
      .first()
      .fill('too slow');
    await row
      .getByRole('textbox', { name: /^Reason/ })
      .first()
      .press('Enter');
    await log.getByText('too slow').first().waitFor();
    await close();
  });

  test('what the buttons of the test view ask for is done, shown or refused', async () => {
    const tool = await call(page, 'asked', 'debug-tool', { includeStructuredContent: true });
    await tool.getByTestId('show-view').click();
    const view = page.locator('.view-of-call');
    const log = inside(page).locator('#event-log');
    await log.getByText('ontoolresult').first().waitFor();
    await use(page);
    const press = pressing(page);
    await press('send-message-text-btn');
    await view.getByText('For the chat: Hello from debug app!').waitFor();
    await press('update-context-text-btn');
    await view.getByText('For the model: Current app state info').waitFor();
    await press('log-warning-btn');
    await view.getByText('Log, warning: ').first().waitFor();
    await press('display-fullscreen-btn'); // the person's choice alone
    await log.getByText('"inline"').last().waitFor({ state: 'attached' });
    assert.equal(await page.locator('.view-of-call.whole').count(), 0);
    await view.getByTestId('view-grow').click();
    await page.locator('.view-of-call.whole').waitFor();
    await press('display-inline-btn');
    await page.locator('.view-of-call:not(.whole)').waitFor();
    await press('open-link-btn');
    assert.equal(await view.getByTestId('view-open-link').getAttribute('href'), 'https://modelcontextprotocol.io/');
    await view.getByTestId('view-refuse-link').click();
    await close();
  });

  test('what a view calls is asked about, as any call', async () => {
    // Opened again, because the view calls debug-log with each event, and a view may have only a limited number of open
    // calls.
    const tool = await call(page, 'asked', 'debug-tool', { includeStructuredContent: false });
    await tool.getByTestId('show-view').click();
    const log = inside(page).locator('#event-log');
    await log.getByText('ontoolresult').first().waitFor();
    await use(page);
    await pressing(page)('call-debug-refresh-btn');
    const card = page.locator('article.card').filter({ hasText: 'debug-refresh' });
    await card.waitFor();
    await card.getByTestId('decline').click();
    await log.getByText('"code":-32000').first().waitFor(); // the view shows no more of an error
    await close();
  });
});
