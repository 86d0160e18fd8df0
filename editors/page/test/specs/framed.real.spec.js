// The page in a frame of a host whose own user interface is a page (showFrame), with a real hub. Needs MCPHUB_BINARY.
// In CI it must be set.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { transform } from 'esbuild';
import { connectPage } from '../../embed/connectpage.js';
import { pageFiles } from '../../embed/pagefiles.js';
import { pageHtml } from '../../embed/pagehtml.js';
import { createHub } from '../../../host/src/index.js';
import { long } from '../harness/long.js';
import { keepPage, launchBrowser } from '../harness/pagetest.js';
import { binary } from '../harness/realhub.js';

/**
 * The window of the host's page, or of the frame in it, with what this test keeps there.
 * @typedef {Window & {
 *   fromHub(message: unknown): void,
 *   takeAway(): void,
 *   listening(): number,
 *   heard: Promise<void>,
 * }} HostWindow
 */

const skip = binary === '' && !process.env['CI'] && 'MCPHUB_BINARY is not set';

// What the page asks the hub for, and what a hub says, from somebody else.
const order = { hello: { windowId: 'forged' } };
const news = { snapshot: { servers: [{ name: 'forged', state: 'SERVER_STATE_READY' }] } };

const around = `<!doctype html><title>A host</title><body><script type="module">
  import { showFrame } from './frame.js';
  const listeners = new Set();
  window.fromHub = (message) => listeners.forEach((listener) => listener(message));
  window.takeAway = showFrame(document.body, 'page.html', {
    post: (message) => void window.toHub(message),
    onMessage: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  window.listening = () => listeners.size;
</script>`;

describe('the page in a frame of a host', { skip }, () => {
  /** @type {import('../../../host/src/index.js').OwnedHub} */
  let hub;
  /** @type {import('playwright-core').Page} */
  let page;
  /** @type {import('playwright-core').Frame} */
  let frame;
  /** What has come to the program of the host. @type {unknown[]} */
  const posted = [];
  /** @type {string[]} */
  const noise = [];
  /** @type {(() => unknown)[]} */
  const ends = [];

  before(async () => {
    const files = await pageFiles();
    const source = await readFile(new URL('../../embed/frame.ts', import.meta.url), 'utf8');
    const { code } = await transform(source, { loader: 'ts' });
    /** @param {string} name @param {string} origin */
    const answer = async (name, origin) => {
      const html = { 'Content-Type': 'text/html; charset=utf-8' };
      if (name === '/') return { headers: html, text: around };
      if (name === '/frame.js') return { headers: { 'Content-Type': 'text/javascript' }, text: code };
      if (name === '/page.html') {
        return { headers: html, text: await pageHtml({ base: '', cspSource: origin, surface: { kind: 'frame' } }) };
      }
      return files.get(name.slice(1));
    };
    const server = createServer((request, response) => {
      const { pathname, origin } = new URL(request.url ?? '/', `http://${request.headers.host}`);
      void answer(pathname, origin).then((file) => response.writeHead(file ? 200 : 404, file?.headers).end(file?.text));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => server.close().closeAllConnections());
    hub = await createHub({
      binary,
      program: 'a host',
      env: { MCPHUB_STATE_DIR: '' },
      servers: [{ name: 'demo', command: binary, args: ['demo-server'], approvals: { '*': 'allow' } }],
    });
    ends.push(() => hub.close());
    const browser = await launchBrowser();
    ends.push(() => browser.close());
    page = await browser.newPage({ viewport: { width: 900, height: 900 } });
    page.setDefaultTimeout(long);
    page.on('pageerror', (error) => noise.push(`page error: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') noise.push(`console: ${message.text()}`);
    });
    /** @type {(message: unknown) => void} */
    let hear = () => undefined;
    await page.exposeFunction('toHub', (/** @type {unknown} */ message) => {
      posted.push(message);
      hear(message);
    });
    const connected = await connectPage(
      {
        post: (message) =>
          void page
            .evaluate(
              (/** @type {object} */ one) => /** @type {HostWindow} */ (/** @type {unknown} */ (window)).fromHub(one),
              message,
            )
            .catch(() => undefined), // the page is gone
        onMessage: (listener) => {
          hear = listener;
          return () => (hear = () => undefined);
        },
      },
      hub,
    );
    ends.push(() => connected.dispose());
    await page.goto(`http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/`);
    const element = await page.locator('iframe[title="McpHub"]').elementHandle();
    frame = /** @type {import('playwright-core').Frame} */ (await element.contentFrame());
  });
  after(async () => {
    for (const end of ends.reverse()) await end();
  });

  /**
   * A test that keeps what the page showed when it fails.
   * @param {string} name @param {() => Promise<void>} body
   */
  const step = (name, body) =>
    void test(name, async () => {
      try {
        await body();
      } catch (error) {
        await keepPage(name, page);
        throw error;
      }
    });

  /** @param {string} id */
  const by = (id) => frame.locator(`[data-testid=${JSON.stringify(id)}]`);

  step('it shows the servers of the hub, and has no origin', async () => {
    await by('server-demo').waitFor();
    assert.equal(await frame.evaluate(() => window.origin), 'null');
  });

  step('its colours are those that the browser asks for, and follow a change', async () => {
    const colours = () => frame.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await colours();
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await colours();
    assert.notEqual(light, dark);
  });

  step('clicks in it reach the hub, and what the hub says reaches it', async () => {
    await by('server-demo').getByRole('button').first().click();
    const opened = frame.locator('#opened');
    await opened.getByTestId('start-server').click();
    const tool = opened.locator('[data-testid="tool-echo"]');
    await tool.getByRole('button').first().click();
    await tool.getByLabel(/text/).first().fill('from the frame');
    await tool.locator('[data-testid="call"]').click();
    await tool.getByText('from the frame').last().waitFor();
    await tool.getByText(/^Done/).first().waitFor();
    assert.equal(hub.servers[0]?.state, 'ready');
  });

  step('messages of another frame and of another window do nothing, to the host and to the page', async () => {
    const before = posted.length;
    await page.evaluate(() => {
      const other = document.createElement('iframe');
      other.name = 'stranger';
      other.srcdoc = '<p>a stranger';
      document.body.append(other);
      return new Promise((resolve) => (other.onload = resolve));
    });
    const stranger = page.frame('stranger');
    assert.ok(stranger);
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(() => void window.open('/page.html')),
    ]);
    await popup.waitForLoadState();
    for (const from of [stranger, popup, page]) {
      const heard = await listensIn(page.mainFrame());
      await from.evaluate(
        (message) => /** @type {Window} */ (window.opener ?? window.parent).postMessage(message, '*'),
        order,
      );
      await heard();
    }
    for (const from of [stranger, popup]) {
      const heard = await listensIn(frame);
      await from.evaluate(
        (message) => /** @type {Window} */ (window.opener ?? window.parent).frames[0]?.postMessage(message, '*'),
        news,
      );
      await heard();
    }
    await frame.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    assert.equal(await by('server-forged').count(), 0);
    assert.equal(await by('server-demo').count(), 1);
    assert.ok(!JSON.stringify(posted.slice(before)).includes('forged'));
    await popup.close();
  });

  step('what showFrame returns takes the frame away, and nothing listens any more', async () => {
    const before = posted.length;
    await page.evaluate(() => /** @type {HostWindow} */ (/** @type {unknown} */ (window)).takeAway());
    assert.equal(await page.locator('iframe[title="McpHub"]').count(), 0);
    assert.equal(await page.evaluate(() => /** @type {HostWindow} */ (/** @type {unknown} */ (window)).listening()), 0);
    assert.deepEqual(posted.slice(before), []);
  });

  test('nothing of this was an error for the browser', () => {
    assert.deepEqual(
      noise.filter((line) => !/favicon/.test(line)),
      [],
    );
  });
});

/**
 * Listens for a message in a frame, after the listeners that are there. What is returned resolves when one has come.
 * @param {import('playwright-core').Frame} frame
 */
async function listensIn(frame) {
  await frame.evaluate(() => {
    const of = /** @type {HostWindow} */ (/** @type {unknown} */ (window));
    of.heard = new Promise((resolve) =>
      addEventListener('message', ({ data }) => JSON.stringify(data).includes('forged') && resolve(undefined)),
    );
  });
  return () => frame.evaluate(() => /** @type {HostWindow} */ (/** @type {unknown} */ (window)).heard);
}
