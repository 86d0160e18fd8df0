// A tab of the browser that serves one test after another. A context and a page of its own for each test would be
// cleaner, and cost five times what the page itself does: two processes, and a window. Each test gets a fresh document,
// and what a document leaves behind is put back: clock, size, media, pointer. A tab is closed when a test has failed in
// it, and after some tests, since each leaves scripts with Playwright's clock.

/**
 * @typedef {import('playwright-core').Page} Page
 *
 * @typedef {object} Listener whoever has the tab at present
 * @property {(message: unknown) => void} hear one message of the page
 * @property {(state: unknown) => void} keep the state that outlives a reload
 * @property {(text: string) => void} complain
 *
 * @typedef {object} Kind
 * @property {boolean} web the page speaks over a socket, and may open others
 * @property {boolean} realTime without Playwright's clock, which cannot be taken away again
 * @property {number} deviceScaleFactor
 *
 * @typedef {object} Tab
 * @property {Page} page
 * @property {boolean} plain fit for the next test
 * @property {number} uses
 * @property {Listener} listener
 * @property {(text: string) => void} toSocket
 * @property {(source: string) => Promise<void>} runFirst runs this before the page, in place of what did
 */

/**
 * Longest wait for an element: far above what any takes on a busy machine, so that a missing one fails the test and
 * does not hang it.
 */
const patience = 20_000;
/** After so many tests a tab is closed. */
const mostUses = 15;

/** @type {Tab[]} */
let idle = [];

/** The tabs went with their browser. */
export function forgetTabs() {
  idle = [];
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {Kind} kind
 * @returns {Promise<Tab>}
 */
export async function takeTab(browser, kind) {
  const plain = !kind.web && !kind.realTime && kind.deviceScaleFactor === 1;
  const tab = (plain && idle.pop()) || (await openTab(browser, kind, plain));
  tab.uses++;
  return tab;
}

/**
 * @param {Tab} tab
 * @param {string | undefined} blank where there is nothing; undefined when the tab must not be used again
 */
export async function giveBack(tab, blank) {
  if (!tab.plain || blank === undefined || tab.uses >= mostUses) {
    await tab.page.context().close();
    return;
  }
  tab.listener = nobody;
  // Before the next test touches the clock: what the old document waits for must not come then.
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
  page.setDefaultTimeout(patience);
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
      socket.onMessage((text) => tab.listener.hear(JSON.parse(String(text))));
    });
  }
  // Layout goes by the browser's own frames, whatever the clock says: sizes are observed, and things move, then.
  await page.addInitScript(() => {
    Object.assign(window, { __frame: requestAnimationFrame.bind(window) });
  });
  return tab;
}
