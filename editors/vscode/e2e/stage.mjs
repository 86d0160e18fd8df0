import { after, describe, test } from 'node:test';
import { appendFileSync, cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { launchBrowser } from './browser.mjs';
import { installedEditor } from './editor.mjs';
import { EditorServer } from './server.mjs';
import { EditorWindow } from './window.mjs';
import { Workspace, demoServer } from './workspace.mjs';
import { long, shortly } from './until.mjs';
import { readJson } from './readjson.mjs';

/**
 * The options of run.mjs.
 *
 * @typedef {{editor: string, vsix: string, otherVsix: string, exampleVsix: string, out: string, core:
 * boolean, only?: string}} Order
 */

/** @returns {Order} */
function order() {
  const text = process.env['MCPHUB_E2E'];
  if (text === undefined) throw new Error('MCPHUB_E2E is not set: run the scenarios by run.mjs');
  return /** @type {Order} */ (readJson(text));
}

/**
 * A VS Code server with the extension, a browser, and a folder for what is kept when a scenario fails. Most scenarios
 * share one stage.
 */
export class Stage {
  /** @type {import('playwright-core').Browser | undefined} */
  #browser;

  /** @param {{name: string, trust?: boolean, settings?: object, newcomer?: boolean}} options */
  constructor(options) {
    const { editor, vsix, otherVsix, exampleVsix, out } = order();
    this.out = out;
    this.name = options.name;
    this.newcomer = options.newcomer === true;
    this.vsix = vsix;
    this.others = [otherVsix, exampleVsix];
    mkdirSync(out, { recursive: true });
    this.server = new EditorServer(installedEditor(editor), { ...options, out });
  }

  async start() {
    await this.server.install(this.vsix, ...this.others);
    // The user's own config file, where the editor keeps it.
    if (!this.newcomer)
      writeFileSync(
        join(this.server.userData, 'User/mcp.json'),
        JSON.stringify({ servers: { demo: userServer(this.binary) } }, null, 2),
      );
    const [browser] = await Promise.all([sharedBrowser(), this.server.start()]);
    this.#browser = browser;
    return this;
  }

  /** The program of the installed extension: the tests use what users get. It is also the demo server. */
  get binary() {
    const extensions = join(this.server.home, 'extensions');
    const folder = readdirSync(extensions).find((name) => name.startsWith('mcphub.mcphub-'));
    if (folder === undefined) throw new Error(`the extension is not installed in ${extensions}`);
    return join(extensions, folder, 'bin/mcphub');
  }

  get browser() {
    if (this.#browser === undefined) throw new Error('the stage has not been started');
    return this.#browser;
  }

  /** Keeps the logs of the server and the extension hosts. */
  keepLogs() {
    cpSync(this.server.extensionLogs, join(this.out, `${this.name}-logs`), { recursive: true, force: true });
  }

  async stop() {
    await this.server.stop();
    this.server.remove();
  }
}

/** @param {string} binary */
function userServer(binary) {
  return { ...demoServer(binary), alwaysAllow: ['*'], approvals: { echo: 'ask' } };
}

/** @type {Promise<Stage> | undefined} */
let shared;

function sharedStage() {
  // A reload on a machine that is busy with scenarios takes longer than the default grace time. Another stage has a
  // short grace time to test its end.
  shared ??= new Stage({ name: 'server', settings: { 'mcphub.reloadGraceSeconds': 300 } }).start();
  return shared;
}

/** @type {Promise<import('playwright-core').Browser> | undefined} */
let browser;

/**
 * One browser for all stages: each window has a browser context of its own, and each server is an origin of its own.
 */
function sharedBrowser() {
  browser ??= launchBrowser();
  return browser;
}

after(async () => {
  await (await shared?.catch(() => undefined))?.stop();
  await (await browser?.catch(() => undefined))?.close();
});

/** The windows and workspace folders of one scenario. */
export class Act {
  /** @type {EditorWindow[]} */
  windows = [];

  /**
   * @param {Stage} stage
   * @param {string} name
   */
  constructor(stage, name) {
    this.stage = stage;
    this.name = name;
  }

  workspace() {
    return new Workspace(this.stage.server.home);
  }

  /**
   * @param {Workspace | string} what a folder, or the file of a workspace with several
   * @param {import('./window.mjs').WindowOptions} [options]
   */
  async open(what, options) {
    const window = await EditorWindow.open(
      this.stage.browser,
      this.stage.server,
      typeof what === 'string' ? what : what.folder,
      options,
    );
    this.windows.push(window);
    return window;
  }

  /** Prints what was measured, and keeps it. @param {string} line */
  prints(line) {
    console.log(`${this.name}: ${line}`);
    appendFileSync(join(this.stage.out, 'figures.txt'), `${line}\n`);
  }

  /** Keeps what is needed to see why the scenario failed. */
  async keep() {
    const stem = join(
      this.stage.out,
      this.name
        .replaceAll(/[^a-z0-9]+/gi, '-')
        .slice(0, 80)
        .toLowerCase(),
    );
    for (const [index, window] of this.windows.entries()) {
      writeFileSync(`${stem}-${index}.console.txt`, window.console.join('\n'));
      await window.page.screenshot({ path: `${stem}-${index}.png`, timeout: shortly }).catch(() => undefined);
    }
    this.stage.keepLogs();
  }

  async close() {
    for (const window of this.windows) await window.close().catch(() => undefined);
  }
}

/**
 * Adds a scenario. It runs on the shared stage, or on another one.
 *
 * @param {string} name the promise that it proves
 * @param {(act: Act) => Promise<void>} body
 * @param {Options} [options]
 */
export function scenario(name, body, options = {}) {
  scenarios.push({ name, body, options });
}

/**
 * Makes a test of each scenario. Scenarios that measure run first, alone. The others run two at a time, each with its
 * own window, extension host, hub and folder. Scenarios that change what all windows of a server share run one after
 * the other, beside the rest.
 */
export function play() {
  const chosen = scenarios.filter(({ options }) => !order().core || options.core === true);
  describe('one after the other', () => {
    for (const found of chosen) if (found.options.alone === true) toTest(found);
  });
  const taking = chosen.filter(({ options }) => options.turns === true);
  describe('side by side', { concurrency: 2 }, () => {
    if (taking.length > 0) describe('in turn', { concurrency: 1 }, () => taking.forEach(toTest));
    for (const found of chosen) if (found.options.alone !== true && found.options.turns !== true) toTest(found);
  });
}

/**
 * @typedef {{stage?: () => Promise<Stage>, alone?: boolean, turns?: boolean, core?: boolean, notOn?:
 * {editor: string, because: string}}} Options
 */

/** @type {{name: string, body: (act: Act) => Promise<void>, options: Options}[]} */
const scenarios = [];

/** @param {typeof scenarios[number]} found */
function toTest({ name, body, options: { stage = sharedStage, notOn } }) {
  // With the runner's own time limit the next scenario would start while this one and its windows still run.
  test(name, { skip: notOn !== undefined && notOn.editor === order().editor ? notOn.because : false }, async () => {
    const act = new Act(await stage(), name);
    const limit = new AbortController();
    const over = setTimeout(2 * long, undefined, { signal: limit.signal }).then(() => {
      throw new Error(`not done within ${2 * long} ms`);
    });
    over.catch(() => undefined);
    try {
      await Promise.race([body(act), over]);
      const troubles = act.windows.flatMap((window) => window.troubles);
      if (troubles.length > 0) throw new Error(`the page had troubles:\n${troubles.join('\n')}`);
    } catch (error) {
      await act.keep();
      throw error;
    } finally {
      limit.abort();
      await act.close();
    }
  });
}
