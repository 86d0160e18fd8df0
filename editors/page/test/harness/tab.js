// Tabs of the browser, which several tests use one after another. A new context and a new page for each test would be
// cleaner, but cost five times as much as the page itself: two processes and a window. Each test gets a new document.
// The state that a document leaves behind is reset: clock, size, media, pointer. A tab is closed when a test has failed
// in it, and after some tests, since each test leaves scripts of Playwright's clock.

import { long } from './long.js';

/**
 * @typedef {import('playwright-core').Page} Page
 *
 * @typedef {object} Listener the test that has the tab at present
 * @property {(message: unknown) => void} hear takes a message of the page
 * @property {(state: unknown) => void} keep stores the state that survives a reload
 * @property {(text: string) => void} complain takes an error or a warning of the page
 *
 * @typedef {object} Kind
 * @property {boolean} web the page uses a WebSocket, and may open other pages
 * @property {boolean} apps what a hostile view did is told late, perhaps to the next test
 * @property {boolean} realTime the tab has no clock of Playwright, which could not be removed again
 * @property {number} deviceScaleFactor
 *
 * @typedef {object} Tab
 * @property {Page} page
 * @property {boolean} plain the tab can be used for another test
 * @property {number} uses
 * @property {Listener} listener
 * @property {(text: string) => void} toSocket
 * @property {(source: string) => Promise<void>} runFirst runs a script before the page, and replaces
 * the previous script
 */

/**
 * How much later the frames come that a page asks for, in milliseconds. A test that reads what is not painted yet fails
 * with 80, where it would fail once in thousands of runs otherwise (make test-page-late).
 */
const lateFrames = Number(process.env['MCPHUB_LATE_FRAMES'] ?? 0);

/** How many tests use a tab before it is closed. */
const mostUses = 15;

/** @type {Tab[]} */
let idle = [];

/** Forgets all tabs. It is called when the browser ends. */
export function forgetTabs() {
  idle = [];
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {Kind} kind
 * @returns {Promise<Tab>}
 */
export async function takeTab(browser, kind) {
  const plain = !kind.web && !kind.apps && !kind.realTime && kind.deviceScaleFactor === 1;
  const tab = (plain && idle.pop()) || (await openTab(browser, kind, plain));
  tab.uses++;
  return tab;
}

/**
 * @param {Tab} tab
 * @param {string | undefined} blank the address of an empty page; undefined if the tab must not be used again
 */
export async function giveBack(tab, blank) {
  if (!tab.plain || blank === undefined || tab.uses >= mostUses) {
    await tab.page.context().close();
    return;
  }
  tab.listener = nobody;
  // The old document must go before the next test changes the clock: otherwise its timers would run then.
  await tab.page.goto(blank);
  await tab.page.mouse.move(-1, -1);
  idle.push(tab);
}

/** @type {Listener} */
const nobody = { hear: () => undefined, keep: () => undefined, complain: () => undefined };

/**
 * @param {import('playwright-core').Browser} browser
 * @param {Kind} kind
 * @param {boolean} plain
 */
async function openTab(browser, { web, deviceScaleFactor }, plain) {
  const context = await browser.newContext({ deviceScaleFactor, locale: 'en-GB', timezoneId: 'UTC' });
  const page = await context.newPage();
  page.setDefaultTimeout(long);
  /** @type {{ dispose(): Promise<void> } | undefined} */
  let first;
  /** @type {Tab} */
  const tab = {
    page,
    plain,
    uses: 0,
    listener: nobody,
    toSocket: () => {
      throw new Error('no socket is open');
    },
    runFirst: async (content) => {
      await first?.dispose();
      first = await page.addInitScript({ content });
    },
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      tab.listener.complain(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => tab.listener.complain(`page error: ${error.stack ?? error.message}`));
  page.on('requestfailed', (request) => tab.listener.complain(`request failed: ${request.url()}`));
  page.on('response', (response) => {
    if (response.status() >= 400) tab.listener.complain(`response ${response.status()}: ${response.url()}`);
  });
  page.on('dialog', (dialog) => {
    tab.listener.complain(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.exposeFunction('__hub', (/** @type {unknown} */ message) => tab.listener.hear(message));
  await page.exposeFunction('__violation', (/** @type {string} */ text) => tab.listener.complain(`CSP: ${text}`));
  await page.exposeFunction('__keep', (/** @type {unknown} */ state) => tab.listener.keep(state));
  if (web) {
    await page.routeWebSocket(/\/stream/, (socket) => {
      tab.toSocket = (text) => socket.send(text);
      let proved = false; // the first message is for the server of the page, and not for the hub
      socket.onMessage((text) => {
        if (proved) tab.listener.hear(JSON.parse(String(text)));
        proved = true;
      });
    });
  }
  await page.addInitScript((later) => {
    const frames = {
      requestAnimationFrame: requestAnimationFrame.bind(window),
      cancelAnimationFrame: cancelAnimationFrame.bind(window),
    };
    const [delay, forget] = [window.setTimeout.bind(window), window.clearTimeout.bind(window)];
    if (later > 0) {
      frames.requestAnimationFrame = (paint) => delay(() => paint(performance.now()), later);
      frames.cancelAnimationFrame = forget;
    }
    Object.assign(window, { __frames: frames, __setTimeout: delay });
  }, lateFrames);
  return tab;
}
