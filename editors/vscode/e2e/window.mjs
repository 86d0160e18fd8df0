import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HubPage } from './hubpage.mjs';
import { until } from './until.mjs';

/** @typedef {import('playwright-core').Page} Page */

/**
 * @typedef {{colorScheme?: 'light' | 'dark', keepsSecrets?: boolean}} WindowOptions keepsSecrets: over a reload of the
 * page, as a desktop does
 */

/**
 * One window of the editor: a browser context of its own, with an extension host of its own behind it.
 */
export class EditorWindow {
  /** What the browser's console said, for the artifacts. @type {string[]} */
  console = [];
  /** Breaches of our page's content security policy, and errors that nothing caught in it. @type {string[]} */
  troubles = [];

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    page.on('console', (message) => {
      this.console.push(`${new Date().toISOString()} ${message.type()} ${message.text()} (${message.location().url})`);
      if (/Content Security Policy/.test(message.text()) && /mcphub/i.test(message.text() + message.location().url))
        this.troubles.push(message.text());
    });
    page.on('pageerror', (error) => {
      this.console.push(`${new Date().toISOString()} uncaught ${error.stack ?? error.message}`);
      // Scripts of our page alone: the frame around it is VS Code's, has our name in its address, and throws when it is
      // taken away while it loads.
      if (/\/media\/page\//.test(error.stack ?? '')) this.troubles.push(String(error.stack));
    });
  }

  /**
   * @param {import('playwright-core').Browser} browser
   * @param {import('./server.mjs').EditorServer} server
   * @param {string} folder or the file of a workspace
   * @param {WindowOptions} [options]
   */
  static async open(browser, server, folder, { colorScheme = 'light', keepsSecrets = false } = {}) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme,
      reducedMotion: 'reduce',
    });
    if (keepsSecrets) {
      // code-server's workbench keeps secrets in localStorage, sealed by a key of which it asks half here. Only
      // code-server's own front answers that (out/node/routes/vscode.js in its package), and it is the VS Code server
      // behind it that runs here: without an answer secrets stay in memory.
      const half = randomBytes(32);
      await context.route(`${server.url}/mint-key`, (route) =>
        route.fulfill({ body: half, contentType: 'application/octet-stream' }),
      );
    }
    const window = new EditorWindow(await context.newPage());
    const several = folder.endsWith('.code-workspace');
    await window.page.goto(`${server.url}/?${several ? 'workspace' : 'folder'}=${encodeURIComponent(folder)}`);
    await window.#drawn();
    if (several) await window.#knowsFolders();
    return window;
  }

  async #drawn() {
    await this.page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
    await this.#tab.waitFor({ timeout: 60_000 }); // the extension is known once its icon is there
  }

  // In a browser the editor begins with what it kept of a workspace's file, at first nothing, and misses the file
  // itself when that is read at an unlucky moment: its Explorer says for good that the workspace has no folders, and so
  // hears each extension (seen in VS Code 1.139). That is not what the scenarios are about.
  async #knowsFolders() {
    const explorer = this.page
      .locator('.part.activitybar')
      .getByRole('tab', { name: /^Explorer/ })
      .first();
    const folders = this.page.locator('.explorer-folders-view .monaco-list-row').first();
    for (let missed = 0; missed < 5; missed++) {
      if ((await explorer.getAttribute('aria-selected')) !== 'true') await explorer.click();
      const none = this.page.getByText('You have not yet added a folder to the workspace').first();
      await folders.or(none).first().waitFor();
      if (await folders.isVisible()) return;
      await this.reload();
    }
    throw new Error('the editor knows no folder of its workspace after 5 reloads');
  }

  get #tab() {
    return this.page
      .locator('.part.activitybar')
      .getByRole('tab', { name: /^McpHub/ })
      .first();
  }

  /** Reloads as a person would: the extension host ends, another one starts. */
  async reload() {
    await this.page.reload();
    await this.#drawn();
  }

  async close() {
    await this.page.context().close();
  }

  /**
   * Runs a command by the palette. It lists only what was known when it opened, so it is opened anew until the command
   * is there.
   *
   * @param {string} title whole, "McpHub: Stop Everything" say
   */
  async runCommand(title) {
    const input = this.page.locator('.quick-input-widget .quick-input-box input');
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
    await until(
      `the command ${title} in the palette`,
      async () => {
        await this.page.keyboard.press('F1');
        try {
          await input.waitFor({ state: 'visible', timeout: 2_000 });
          await input.fill(`>${title}`);
          await row.click({ timeout: 2_000 });
          return true;
        } catch (error) {
          await this.page.keyboard.press('Escape');
          throw error;
        }
      },
      { timeout: 30_000 },
    );
  }

  /** Presses the keys of a command of McpHub's. @param {string} key the last of them */
  async chord(key) {
    await this.page.keyboard.press('Control+Alt+m');
    await this.page.keyboard.press(key);
  }

  /** Opens the side bar's view, if another one is there, and gives the page in it. */
  async openSideBar() {
    if ((await this.#tab.getAttribute('aria-selected')) !== 'true') await this.#tab.click();
    return this.sideBar();
  }

  /** Opens a view that shows nothing, and tells how many milliseconds that took. */
  async timeEmptyView() {
    const tab = this.page
      .locator('.part.activitybar')
      .getByRole('tab', { name: /^Other/ })
      .first();
    await tab.waitFor();
    const start = performance.now();
    await tab.click();
    await this.#emptyView.getByTestId('empty').waitFor();
    return performance.now() - start;
  }

  get #emptyView() {
    return this.page
      .locator('iframe.webview[src*="somebody.otherextension" i]')
      .contentFrame()
      .locator('iframe#active-frame')
      .contentFrame();
  }

  /**
   * How many milliseconds the editor takes from a click in that view to its extension: the part of every such way that
   * is not ours.
   */
  async timeEmptyClick() {
    const html = this.#emptyView.locator('html');
    await this.#emptyView.getByRole('button').click();
    await this.#emptyView.locator('html[data-heard]').waitFor({ state: 'attached' });
    return Number(await html.getAttribute('data-heard')) - Number(await html.getAttribute('data-clicked'));
  }

  /**
   * The page that a new extension host has drawn. The frame of the page before may still stand there for a while: it
   * shows what it knew, and what is pressed in it reaches nobody.
   *
   * @param {HubPage} before
   */
  sideBarAgain(before) {
    return this.#pageIn('the side bar, drawn anew', (source, name) => isView(source) && name !== before.name, 60_000);
  }

  async openPanel() {
    await this.runCommand('McpHub: Open Panel');
    return this.panel();
  }

  /** The page in the side bar, once it is drawn there. */
  sideBar() {
    return this.#pageIn('the side bar', isView);
  }

  /** The page in the panel, once it is drawn there. */
  panel() {
    return this.#pageIn('the panel', (source) => !isView(source));
  }

  /**
   * A webview is a frame in a frame, and all of them hang side by side in the window, those of hidden views too: ours
   * are told by what is asked of them, and by what they show. The outer frame has a name of its own for as long as it
   * lives.
   *
   * @param {string} where
   * @param {(source: string, name: string) => boolean} wanted
   */
  async #pageIn(where, wanted, timeout = 30_000) {
    const name = await until(
      `the page in ${where}`,
      async () => {
        for (const outer of await this.page.locator('iframe.webview').all()) {
          const source = (await outer.getAttribute('src')) ?? '';
          const own = (await outer.getAttribute('name')) ?? '';
          if (!/extensionId=mcphub\.mcphub\b/i.test(source) || !wanted(source, own)) continue;
          if (!(await outer.isVisible())) continue;
          const inner = outer.contentFrame().locator('iframe#active-frame').contentFrame();
          if ((await inner.locator('html[data-surface]').count()) > 0) return own;
        }
        return undefined;
      },
      { timeout },
    );
    return new HubPage(
      this,
      name,
      this.page.locator(`iframe.webview[name="${name}"]`).contentFrame().locator('iframe#active-frame').contentFrame(),
    );
  }

  /** @param {string | RegExp} text */
  notification(text) {
    return this.page.locator('.notification-toast').filter({ hasText: text });
  }

  /**
   * Answers a question by its notification: its link opens a pick list.
   *
   * @param {string | RegExp} text
   * @param {string} choice
   */
  async answerInNotification(text, choice) {
    await this.notification(text)
      .getByRole('link', { name: /^Answer/ })
      .or(this.notification(text).getByRole('button', { name: /^Answer/ }))
      .first()
      .click();
    await this.quickPick.getByRole('option', { name: choice }).click();
  }

  /** Says that the authors of the folder are trusted, as a person does in the editor that manages it. */
  async trustWorkspace() {
    await this.runCommand('Workspaces: Manage Workspace Trust');
    await this.page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
  }

  /**
   * Chooses a row of the pick list that is about to open. A long list draws only the rows that are to be seen, so the
   * name is typed.
   *
   * @param {string} title of the list
   * @param {string} name how the row begins
   */
  async pick(title, name) {
    await this.quickPick.filter({ hasText: title }).waitFor();
    await this.quickPick.locator('.quick-input-box input').fill(name);
    await this.quickPick
      .getByRole('option', { name: new RegExp(`^${name}\\b`) })
      .first()
      .click();
  }

  /** Waits until an editor shows a line like this. @param {RegExp} text */
  async editorShows(text) {
    await this.page.locator('.part.editor .view-line').filter({ hasText: text }).first().waitFor();
  }

  /** Waits until the output view shows a line like this. @param {RegExp} text */
  async outputShows(text) {
    await this.page.locator('.part.panel .view-line').filter({ hasText: text }).first().waitFor();
  }

  /**
   * Changes a setting of the machine, by the other extension: the editor does not see that its files were written.
   *
   * @param {import('./workspace.mjs').Workspace} workspace of this window
   * @param {string} name
   * @param {unknown} value
   */
  async setSetting(workspace, name, value) {
    const [wish, done] = [join(workspace.folder, 'setting.json'), join(workspace.folder, 'setting.done')];
    writeFileSync(wish, JSON.stringify({ name, value }));
    await this.runCommand('Other: Change a Setting');
    await until(`the setting ${name} is changed`, () => existsSync(done));
    renameSync(done, `${done}.seen`);
  }

  /** Says where a file is to be saved, in the dialog that is about to open. @param {string} path */
  async saveAs(path) {
    const input = this.quickPick.locator('.quick-input-box input');
    await input.waitFor();
    await until('the dialog has a path', async () => (await input.inputValue()).startsWith('/'));
    // It writes into its field itself once it has read the folder, over what was typed meanwhile.
    await until(
      'the dialog has taken the path',
      async () => {
        if (!(await this.quickPick.isVisible())) return true;
        if ((await input.inputValue()) !== path) {
          await input.fill(path);
          return false; // and looks whether it stays
        }
        await this.quickPick.getByRole('button', { name: 'OK' }).click({ timeout: 1_000 });
        return !(await this.quickPick.isVisible());
      },
      { timeout: 30_000, interval: 300 },
    );
  }

  get quickPick() {
    return this.page.locator('.quick-input-widget');
  }

  get dialog() {
    return this.page.locator('.monaco-dialog-box');
  }

  /** The extension's item in the status bar. */
  get status() {
    return this.page.locator('.part.statusbar .statusbar-item[id^="mcphub."]').first();
  }
}

/**
 * @param {string} source the address of a webview's outer frame
 */
function isView(source) {
  return source.includes('purpose=webviewView');
}
