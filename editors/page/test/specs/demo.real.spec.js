// The page as the binary serves it in "mcphub demo --web", with a real hub and real servers. Needs MCPHUB_BINARY. In CI
// it must be set.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { long } from '../harness/long.js';
import { keepPage, launchBrowser } from '../harness/pagetest.js';
import { binary, by, openTool, startBinary } from '../harness/realhub.js';

/** @typedef {import('playwright-core').Page} Page */

const skip = binary === '' && !process.env['CI'] && 'MCPHUB_BINARY is not set';

/** Returns the card of an open question with this text. @param {Page} page @param {RegExp} words */
const cardOf = (page, words) => page.locator('article.card').filter({ hasText: words });

/**
 * Presses the accept button when the card has not moved for half a second, since a card ignores earlier presses.
 * @param {import('playwright-core').Locator} card
 */
async function accept(card) {
  const button = card.locator('[data-testid="accept"]');
  await button.focus();
  const from = await button.page().evaluate(() => performance.now());
  await button.page().waitForFunction((then) => performance.now() - then > 600, from);
  await button.press('Enter');
}

describe('the demo in a browser', { skip }, () => {
  /** @type {Awaited<ReturnType<typeof startBinary>>} */
  let demo;
  /** @type {Awaited<ReturnType<typeof launchBrowser>>} */
  let browser;
  /** @type {import('playwright-core').BrowserContext} */
  let person;
  /** @type {Page} */
  let page;
  /** Ends the demo and the browser. */
  let end = () => Promise.resolve();
  /** @type {string[]} */
  const noise = [];
  /** @type {string[]} */
  const requested = [];

  /** @param {Page} of */
  function listen(of) {
    of.setDefaultTimeout(long);
    of.on('pageerror', (error) => noise.push(`page error: ${error.message}`));
    of.on('console', (message) => {
      if (message.type() === 'error') noise.push(`console: ${message.text()}`);
    });
    return of;
  }

  before(async () => {
    [demo, browser] = await Promise.all([startBinary(() => ['demo', '--web']), launchBrowser()]);
    end = async () => {
      await browser.close();
      assert.equal(await demo.end(), 0, 'Ctrl-C ends the demo in peace');
    };
    person = await browser.newContext({ viewport: { width: 1100, height: 900 } });
    page = listen(await person.newPage());
    page.on('request', (request) => requested.push(request.url()));
    await page.goto(demo.link);
    await by(page, 'server-demo-legacy').waitFor();
  });
  after(() => end());

  /**
   * A test that keeps what the page showed when it fails.
   * @param {string} name
   * @param {() => Promise<void>} body
   */
  const step = (name, body) => {
    void test(name, async () => {
      try {
        await body();
      } catch (error) {
        await keepPage(`demo ${name}`, page);
        throw error;
      }
    });
  };

  step('the page is there after at most 8 requests', () => {
    assert.ok(requested.length >= 3 && requested.length <= 8, requested.join('\n'));
    return Promise.resolve();
  });

  step('a server that comes with a folder is started only after the person has said so', async () => {
    const place = by(page, 'server-demo-workspace');
    await place.getByTestId('start-server').click();
    const launch = cardOf(page, /demo-workspace/).first();
    await launch.getByText('mcphub').first().waitFor();
    await accept(launch);
    const input = page.locator('article.card').filter({ has: page.getByRole('button', { name: 'Save' }) });
    await input.locator('input, select').first().waitFor();
    const field = input.locator('input').first();
    if (await field.count()) await field.fill('Ada');
    else await input.locator('select').first().selectOption({ index: 1 });
    await accept(input);
    await place.getByTestId('stop-server').waitFor({ state: 'attached' });
  });

  step('a slow call is made from its form, watched, and cancelled with a reason that the server is told', async () => {
    const tool = await openTool(page, 'demo-legacy', 'sleep');
    await tool
      .getByLabel(/seconds/)
      .first()
      .fill('120');
    await tool.getByLabel(/steps/).first().fill('400');
    await tool.locator('[data-testid="call"]').click();
    const row = page.locator('#running .call').filter({ hasText: 'sleep' });
    await row.getByText(/slept .* of 2m0s/).waitFor();
    assert.ok(Number(await row.getByRole('progressbar').first().getAttribute('aria-valuenow')) > 0);
    await row.getByTestId('cancel-more').click();
    await row.getByTestId('cancel-with-reason').click();
    await row.getByRole('textbox').fill('took too long');
    await row.getByRole('textbox').press('Enter');
    await row.waitFor({ state: 'detached' });
    await tool.getByText('Cancelled by you: took too long').waitFor();
    const entry = by(page, 'history-list').getByRole('option').filter({ hasText: 'took too long' });
    assert.match(await entry.innerText(), /Cancelled by you: took too long/);
    await entry.click();
    await by(page, 'ended-details')
      .last()
      .getByText(/^The server (was told|answered)/)
      .waitFor();
  });

  step('a question that its server takes back goes by itself, with a note of who and why', async () => {
    const tool = await openTool(page, 'demo-legacy', 'ask_then_withdraw');
    await tool
      .getByLabel(/after_ms/)
      .first()
      .fill('2500');
    await tool
      .getByLabel(/reason/)
      .first()
      .fill('found it elsewhere');
    await tool.locator('[data-testid="call"]').click();
    const card = cardOf(page, /demo-legacy/);
    await card.waitFor();
    await page.locator('.note').filter({ hasText: 'Withdrawn by demo-legacy: found it elsewhere.' }).waitFor();
    await card.waitFor({ state: 'detached' });
    await by(page, 'history-list')
      .getByRole('option')
      .filter({ hasText: /Withdrawn by the server: found it elsewhere/ })
      .first()
      .waitFor();
  });

  step('a form is refused while it does not fit, and taken when it does', async () => {
    const tool = await openTool(page, 'demo-legacy', 'ask_name');
    await tool.locator('[data-testid="call"]').click();
    const card = cardOf(page, /What is your name/);
    await card.waitFor();
    await accept(card);
    await card.locator('[aria-invalid="true"]').waitFor();
    await card.getByRole('textbox', { name: /Name/ }).fill('Ada');
    await accept(card);
    await tool.getByText('Hello, Ada!').first().waitFor();
    await card.waitFor({ state: 'detached' });
  });

  step(
    'a reload in the middle of a call and of a question finds both again, and the question can be answered',
    async () => {
      const sleep = await openTool(page, 'demo-legacy', 'sleep');
      await sleep
        .getByLabel(/seconds/)
        .first()
        .fill('120');
      await sleep.locator('[data-testid="call"]').click();
      await page.locator('#running .call').filter({ hasText: 'sleep' }).waitFor();
      const ask = await openTool(page, 'demo-legacy', 'ask_name');
      await ask.locator('[data-testid="call"]').click();
      await cardOf(page, /What is your name/).waitFor();
      await page.reload();
      const card = cardOf(page, /What is your name/);
      await card.waitFor();
      const row = page.locator('#running .call').filter({ hasText: 'sleep' });
      await row.waitFor();
      await card.locator('[data-testid="decline"]').click();
      await card.waitFor({ state: 'detached' });
      await row.locator('[data-testid="cancel"]').click();
      await row.waitFor({ state: 'detached' });
    },
  );

  step('two tabs: an answer in one closes the card in the other', async () => {
    // A tab that the first one opens has its session, as a duplicated one has.
    const opened = person.waitForEvent('page');
    await page.evaluate(() => void window.open('/'));
    const other = listen(await opened);
    await by(other, 'server-demo-legacy').waitFor();
    const ask = await openTool(page, 'demo-legacy', 'ask_name');
    await ask.locator('[data-testid="call"]').click();
    const here = cardOf(page, /What is your name/);
    const there = cardOf(other, /What is your name/);
    await here.waitFor();
    await there.waitFor();
    await there.getByRole('textbox', { name: /Name/ }).fill('Grace');
    await accept(there);
    await page.locator('.note').filter({ hasText: 'Answered in another window' }).waitFor();
    await here.waitFor({ state: 'detached' });
    await ask.getByText('Hello, Grace!').first().waitFor();
    await other.close();
  });

  step(
    'what a call was given and has brought is read from the hub, downloaded, compared, and called again',
    async () => {
      const tool = await openTool(page, 'demo-legacy', 'sleep');
      await tool
        .getByLabel(/seconds/)
        .first()
        .fill('0.01');
      await tool.locator('[data-testid="call"]').click();
      await tool.getByText(/^Done/).first().waitFor();
      const list = by(page, 'history-list');
      const same = list.getByRole('option').filter({ hasText: 'seconds: 0.01' });
      await same.first().click();
      const details = by(page, 'ended-details').last();
      await details.locator('[data-testid="arguments"]').getByText('0.01').waitFor();
      const choose = async (/** @type {string} */ name) => {
        await details.getByRole('button', { name: 'More actions' }).click();
        await details.getByRole('menu').getByText(name, { exact: true }).click();
      };
      const saved = async (/** @type {string} */ name) => {
        const [file] = await Promise.all([page.waitForEvent('download'), choose(name)]);
        const text = [];
        for await (const part of await file.createReadStream()) text.push(part);
        return Buffer.concat(text).toString();
      };
      assert.equal(await saved('Download arguments'), '{"seconds":0.01,"steps":10}');
      const result = await saved('Download result');
      assert.match(result, /"content":\[/);
      const report = await saved('Save bug report…');
      assert.match(report, /"traces"/);
      assert.doesNotMatch(report, /seconds\W{0,4}0\.01/, 'times have such digits, too');
      await details.locator('[data-testid="again"]').click();
      await same.nth(1).waitFor();
      await list.locator('[aria-posinset="1"]').click(); // the newest
      await choose('Compare with previous');
      await details
        .getByText('Both results are the same.')
        .or(details.getByRole('group', { name: /^Differences/ }))
        .waitFor();
    },
  );

  test('nothing of this was an error for the browser', () => {
    assert.deepEqual(
      noise.filter((line) => !/favicon/.test(line)),
      [],
    );
  });
});
