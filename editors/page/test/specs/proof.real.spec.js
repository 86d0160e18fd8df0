// What proves that a page of the binary may have a window, in a real browser: it stays with the page's origin, over
// reloads and tabs, and goes to no other port of this machine. Needs MCPHUB_BINARY. In CI it must be set.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { long } from '../harness/long.js';
import { launchBrowser } from '../harness/pagetest.js';
import { binary, by, startBinary } from '../harness/realhub.js';

/** @typedef {import('playwright-core').Page} Page */

const skip = binary === '' && !process.env['CI'] && 'MCPHUB_BINARY is not set';

describe('what a page proves itself with', { skip }, () => {
  /** @type {Awaited<ReturnType<typeof startBinary>>} */
  let demo;
  /** @type {Awaited<ReturnType<typeof launchBrowser>>} */
  let browser;
  /** @type {import('playwright-core').BrowserContext} */
  let person;
  /** @type {Page} */
  let page;
  let home = '';

  /** Waits until a page has a window. @param {Page} of */
  const isOpen = (of) => by(of, 'server-demo').waitFor();
  /** Waits until a page says that it needs a link. @param {Page} of */
  const needsLink = (of) => by(of, 'connection').filter({ hasText: 'with a link that works once' }).waitFor();
  const tab = async () => {
    const opened = await person.newPage();
    opened.setDefaultTimeout(long);
    return opened;
  };

  before(async () => {
    [demo, browser] = await Promise.all([startBinary(() => ['demo', '--web']), launchBrowser()]);
    person = await browser.newContext();
    page = await tab();
    await page.goto(demo.link);
    home = new URL(demo.link).origin;
    await isOpen(page);
  });
  after(async () => {
    await browser.close();
    assert.equal(await demo.end(), 0);
  });

  test('the token leaves the address, and reload, back and forward go on with the session', async () => {
    assert.equal(page.url(), `${home}/`);
    await page.reload();
    await isOpen(page);
    await page.goto('about:blank');
    await page.goBack();
    await isOpen(page);
    assert.equal(page.url(), `${home}/`);
    await page.goto(demo.link); // used up, and the tab has its session
    await isOpen(page);
  });

  test('another tab, another browser and the used link say how to get a link', async () => {
    for (const context of [person, await browser.newContext()]) {
      for (const address of [`${home}/`, demo.link]) {
        const other = await context.newPage();
        await other.goto(address);
        await needsLink(other);
        await other.close();
      }
    }
    await page.reload();
    await isOpen(page);
  });

  test('whoever has another port of this machine gets nothing that opens a window', async () => {
    /** @type {import('node:http').IncomingMessage[]} */
    const got = [];
    const thief = createServer((request, response) => {
      got.push(request);
      response.setHeader('Content-Type', 'text/html');
      response.end(`<title>thief</title><script>document.title = JSON.stringify([document.referrer, document.cookie,
        window.opener, history.length, Object.keys(sessionStorage), Object.keys(localStorage)])</script>`);
    });
    await new Promise((resolve) => thief.listen(0, '127.0.0.1', () => resolve(undefined)));
    const bound = thief.address();
    assert.ok(bound !== null && typeof bound !== 'string');
    try {
      const there = `http://127.0.0.1:${bound.port}/`;
      const [led] = await Promise.all([
        person.waitForEvent('page'),
        page.evaluate((to) => {
          const a = document.createElement('a');
          a.href = to;
          a.target = '_blank';
          document.body.append(a);
          a.click();
        }, there),
      ]);
      await led.waitForFunction(() => document.title !== 'thief');
      assert.match(await led.title(), /^\["","",null,\d,\[\],\[\]\]$/);
      await page.evaluate((to) => void (location.href = to), there); // by the tab itself, as a typed address does
      await page.waitForURL(there);
      assert.match(await page.title(), /^\["","",null,\d,\[\],\[\]\]$/);
      assert.deepEqual(
        got.flatMap(({ headers, url }) => [headers.cookie, headers.referer, headers.authorization, url === '/' || url]),
        got.flatMap(() => [undefined, undefined, undefined, true]),
      );
      await page.goBack();
      await isOpen(page);
    } finally {
      thief.closeAllConnections();
      thief.close();
    }
  });

  test('no cookie is set, and nothing is kept beyond the tab', async () => {
    assert.deepEqual(await person.cookies(), []);
    assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), []);
  });
});
