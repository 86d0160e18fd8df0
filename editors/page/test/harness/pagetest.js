// The frame of the page's tests: one Chromium for the suite, a new document for each test (tab.js), and the conditions
// that hold in every test: nothing on the console, no CSP report, no page error, and every message is an AttachRequest.
// After a failed test, its page is saved in editors/out/page.

import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { Hub } from './hub.js';
import { serveSandbox, serveSite } from './site.js';
import { forgetTabs, giveBack, takeTab } from './tab.js';
import { bodyClass, bodyClassOf, themeSheet } from './themes.js';
import { installVsCode } from './vscodeapi.js';

/**
 * @typedef {import('playwright-core').Page} Page
 * @typedef {import('playwright-core').Browser} Browser
 * @typedef {import('playwright-core').Locator} Locator
 * @typedef {import('./hub.js').SnapshotJson} SnapshotJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ToolJson} ToolJson
 *
 * @typedef {object} Setup
 * @property {SnapshotJson} [snapshot] the first snapshot of the hub
 * @property {Record<string, ToolJson[]>} [tools] tools by server
 * @property {string} [theme] of themes.js
 * @property {Partial<import('./site.js').Surface>} [surface]
 * @property {boolean} [apps] views of tool calls can be shown
 * @property {{ width: number, height: number }} [viewport]
 * @property {'sideBar' | 'editor'} [place] where in VS Code the page is shown
 * @property {boolean} [realTime] the page's clock is the machine's; otherwise time passes only by pass, and 50 ms by each
 * settle
 * @property {boolean} [reducedMotion]
 * @property {boolean} [forcedColors]
 * @property {number} [deviceScaleFactor]
 * @property {boolean} [unwelcomed] the test itself answers hello
 *
 * @typedef {object} Opened
 * @property {Page} page
 * @property {Hub} hub
 * @property {string[]} noise errors and warnings of the page; a test that provokes one removes it
 * @property {() => Promise<void>} settle waits until the page has painted, and the hub has received all its messages
 * @property {(ms: number) => Promise<void>} pass lets time pass
 * @property {(theme: string) => Promise<void>} retheme switches the theme as VS Code does it
 * @property {(id: string) => Locator} by returns the element with a test id
 * @property {() => Promise<string>} focused returns a description of the element with the focus
 */

/** The folder of the artefacts. */
export const outFolder = fileURLToPath(new URL('../../../out/page/', import.meta.url));

/** The time in every test, unless the test asks for the real time. */
export const today = new Date('2026-10-05T12:00:00Z');

/**
 * The browser and the sites. They are started when a test first needs them.
 * @type {Promise<{ browser: Browser, site: import('./site.js').Site, sandbox: import('./site.js').Site }> | undefined}
 */
let started;
let stopsAfterTests = false;
/** @typedef {{ name: string, main: boolean, run: () => Promise<void> }} Collected */
/** @type {Collected[] | undefined} */
let collected;

/** Starts the browser with the options of the tests. */
export const launchBrowser = () =>
  chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--site-per-process', // as in the browsers of users: a view that never pauses blocks only itself
    ],
  });

function start() {
  started ??= Promise.all([launchBrowser(), serveSite(), serveSandbox()]).then(([browser, site, sandbox]) => ({
    browser,
    site,
    sandbox,
  }));
  return started;
}

/** Ends the browser and the sites. It must be called at the end if a page was opened. */
export async function stop() {
  const running = await started;
  started = undefined;
  forgetTabs();
  await running?.browser.close();
  await running?.site.close();
  await running?.sandbox.close();
}

/**
 * Opens the page with a new hub.
 *
 * @param {Setup} setup
 * @returns {Promise<Opened & { close(spoilt?: boolean): Promise<void> }>}
 */
export async function openPage(setup) {
  const { browser, site, sandbox } = await start();
  const theme = setup.theme ?? 'dark';
  /** @type {import('./site.js').Surface} */
  const surface = { kind: 'vscode', ...(setup.apps && { apps: [sandbox.address] }), ...setup.surface };
  const tab = await takeTab(browser, {
    web: surface.kind === 'web',
    apps: setup.apps ?? false,
    realTime: setup.realTime ?? false,
    deviceScaleFactor: setup.deviceScaleFactor ?? 1,
  });
  const { page } = tab;
  /** @type {string[]} */
  const noise = [];
  const hub = new Hub(
    async (message) => {
      if (surface.kind === 'web') tab.toSocket(JSON.stringify(message));
      else
        await page.evaluate(
          (data) =>
            new Promise((resolve) => {
              // The listener of the page was added first: when this listener is called, the page has the message.
              addEventListener('message', () => resolve(undefined), { once: true });
              window.postMessage(data, '*');
            }),
          message,
        );
    },
    () => today,
  );
  hub.snapshot = setup.snapshot ?? {};
  hub.tools = setup.tools ?? {};
  if (setup.unwelcomed) hub.silent.add('hello');

  /** @type {unknown} */
  let kept;
  let heard = 0;
  tab.listener = {
    hear: (message) => {
      heard++;
      hub.hear(message);
    },
    keep: (state) => (kept = state),
    complain: (text) => noise.push(text),
  };
  await page.setViewportSize(setup.viewport ?? { width: 480, height: 900 });
  /** @param {string} name */
  const emulate = (name) =>
    page.emulateMedia({
      colorScheme: bodyClass(name).includes('light') ? 'light' : 'dark',
      reducedMotion: setup.reducedMotion ? 'reduce' : 'no-preference',
      forcedColors: setup.forcedColors ? 'active' : 'none',
    });
  await emulate(theme);
  if (!setup.realTime) await stopClock(page);
  const address = `${site.address}/?surface=${encodeURIComponent(JSON.stringify(surface))}&class=${surface.kind === 'vscode' ? bodyClass(theme) : ''}`;
  const place = setup.place ?? 'sideBar';
  const sheet = JSON.stringify(themeSheet(theme, place));
  /** @param {string} state */
  const install = (state) =>
    `(${installVsCode.toString()})({ state: ${state}, vscode: ${surface.kind === 'vscode'}, sheet: ${sheet} })`;
  await tab.runFirst(install('undefined'));
  const reload = page.reload.bind(page);
  page.reload = async (options) => {
    await tab.runFirst(install(kept === undefined ? 'undefined' : JSON.stringify(kept)));
    heard = 0;
    return reload(options);
  };
  await page.goto(address);

  const drawn = () =>
    page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(undefined)))),
    );
  const settle = async () => {
    await hub.delivered();
    await drawn();
    if (!setup.realTime) {
      await page.clock.runFor(50);
      await drawn();
    }
    const sent = await page.evaluate(() => /** @type {Window & { __sent?: number }} */ (window).__sent ?? 0);
    while (surface.kind === 'vscode' && heard < sent) await page.evaluate(() => undefined);
  };
  /** @type {Opened} */
  const opened = {
    page,
    hub,
    noise,
    settle,
    retheme: async (next) => {
      await emulate(next);
      await page.evaluate(
        ({ classes, of, text }) => {
          document.adoptedStyleSheets[0]?.replaceSync(text);
          document.body.classList.remove(...classes);
          document.body.classList.add(...of);
        },
        {
          classes: Object.values(bodyClassOf).flatMap((names) => names.split(' ')),
          of: bodyClass(next).split(' '),
          text: themeSheet(next, place),
        },
      );
      await settle();
    },
    pass: async (ms) => {
      await settle();
      await page.clock.runFor(ms);
      await settle();
    },
    by: (id) => page.locator(`[data-testid=${JSON.stringify(id)}]`),
    focused: () =>
      page.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return 'nothing';
        const name = element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 60);
        return `${element.tagName.toLowerCase()}${element.getAttribute('data-testid') ? `[${element.getAttribute('data-testid')}]` : ''} ${name}`.trim();
      }),
  };
  return {
    ...opened,
    close: async (spoilt = false) => {
      page.reload = reload;
      await giveBack(tab, spoilt ? undefined : `${site.address}/blank`);
    },
  };
}

/**
 * Stops the page's clock, before the page is loaded. It ends the effects of an earlier test on the clock.
 *
 * @param {Page} page
 */
async function stopClock(page) {
  // A clock runs from its installation on, and can be paused only at a later time.
  await page.clock.install({ time: new Date(today.getTime() - 3_600_000) });
  await page.clock.pauseAt(today);
}

/**
 * Clicks all that is there, also what is disabled or hidden, as a hasty person does.
 *
 * @param {Locator} locator
 */
export async function clickAnyway(locator) {
  for (const element of await locator.elementHandles()) await element.click({ force: true }).catch(() => undefined);
}

/**
 * Unfolds everything inside an element, including the parts that appear by that; at most twenty parts.
 *
 * @param {Page | Locator} where
 */
export async function unfoldAll(where) {
  const folded = where.locator(
    'details:not([open]) > summary:visible, [aria-expanded="false"]:not([aria-haspopup]):visible:enabled',
  );
  for (let step = 0; step < 20; step++) {
    const next = folded.first();
    if ((await next.count()) === 0) return;
    await next.click();
  }
}

/**
 * Defines a test of the page.
 *
 * @param {string} name what the page promises
 * @param {Setup} setup
 * @param {(opened: Opened) => Promise<void> | void} body
 */
export function pageTest(name, setup, body) {
  define(name, setup, body, false);
}

/**
 * Defines a main test of the page: one of what the page is for, which `make test` runs.
 *
 * @param {string} name what the page promises
 * @param {Setup} setup
 * @param {(opened: Opened) => Promise<void> | void} body
 */
export function mainTest(name, setup, body) {
  define(name, setup, body, true);
}

/**
 * @param {string} name
 * @param {Setup} setup
 * @param {(opened: Opened) => Promise<void> | void} body
 * @param {boolean} main
 */
function define(name, setup, body, main) {
  const run = () => runTest(name, setup, body);
  if (collected) {
    collected.push({ name, main, run });
    return;
  }
  if (!stopsAfterTests) after(stop);
  stopsAfterTests = true;
  test(name, run);
}

/**
 * Collects tests from now on, instead of running them: for a suite that runs several at once.
 *
 * @returns {Collected[]}
 */
export function collectTests() {
  collected = [];
  return collected;
}

/**
 * @param {string} name
 * @param {Setup} setup
 * @param {(opened: Opened) => Promise<void> | void} body
 */
async function runTest(name, setup, body) {
  const opened = await openPage(setup);
  let failed = true;
  try {
    if (!setup.unwelcomed) {
      await opened.hub.next('hello');
      await opened.settle();
    }
    await body(opened);
    await opened.settle();
    assert.deepEqual(opened.noise, [], 'console, page errors, CSP reports');
    assert.deepEqual(opened.hub.faults, [], 'every message of the page is an AttachRequest');
    failed = false;
  } catch (error) {
    await keep(name, opened);
    throw error;
  } finally {
    await opened.close(failed);
  }
}

/**
 * Keeps what a page shows when its test fails.
 * @param {string} name of the test
 * @param {Page} page
 * @returns {Promise<string>} the folder that it is kept in
 */
export async function keepPage(name, page) {
  const folder = `${outFolder}failed/${name.replaceAll(/[^\w]+/g, '-').slice(0, 90)}`;
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/page.html`, await page.content().catch(() => ''));
  await page.screenshot({ path: `${folder}/page.png`, fullPage: true }).catch(() => undefined);
  return folder;
}

/**
 * @param {string} name
 * @param {Opened} opened
 */
async function keep(name, opened) {
  const folder = await keepPage(name, opened.page);
  await writeFile(
    `${folder}/said.json`,
    JSON.stringify({ noise: opened.noise, faults: opened.hub.faults, sent: opened.hub.sent }, null, 2),
  );
}
