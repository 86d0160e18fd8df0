import { randomBytes } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HubPage } from './hubpage.mjs';
import { readJson } from './readjson.mjs';
import { long, shortly, until } from './until.mjs';

/** @typedef {import('playwright-core').Page} Page */

/**
 * @typedef {{colorScheme?: 'light' | 'dark', keepsSecrets?: boolean}} WindowOptions keepsSecrets: over a reload of the
 * page, as a desktop does
 */

/** One window of the editor: a browser context and an extension host of its own. */
export class EditorWindow {
  /** The browser's console messages, kept if the scenario fails. @type {string[]} */
  console = [];
  /** Violations of the page's content security policy, and uncaught errors of the page. @type {string[]} */
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
      // Only errors of scripts of McpHub's page count. The frame around it belongs to VS Code, has our name in its URL,
      // and throws when it is removed while it loads.
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
      viewport: { width: 1280, height: 1100 }, // three views stand one below the other
      colorScheme,
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(long);
    if (keepsSecrets) {
      // code-server's workbench keeps secrets in localStorage, encrypted with a key of which it requests half here.
      // Only code-server's own front end answers this request (out/node/routes/vscode.js in its package), and these
      // tests run the VS Code server behind it. Without an answer secrets stay in memory.
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
    await this.page.locator('.monaco-workbench .part.statusbar').waitFor();
    await this.#tab.waitFor(); // the extension has been found when its icon is there
  }

  // In a browser the editor begins with the workspace file from its own storage, which is empty at first. If it reads
  // the real file at an unlucky moment, it ignores it: the Explorer and the extensions see a workspace without folders
  // (VS Code 1.139). The scenarios do not test that, so the window is reloaded.
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

  /**
   * Reloads the window as a user does: the extension host ends, and another one starts. With a reload of the browser's
   * the editor forgets now and then which tabs there were.
   */
  async reload() {
    const loaded = this.page.waitForEvent('load');
    await this.runCommand('Developer: Reload Window');
    await loaded;
    await this.#drawn();
  }

  async close() {
    await this.page.context().close();
  }

  /**
   * Runs a command with the palette. The palette lists only commands that were known when it opened, so it is opened
   * again until the command is there.
   *
   * @param {string} title whole, "McpHub: Stop Everything" say
   */
  async runCommand(title) {
    const input = this.page.locator('.quick-input-widget .quick-input-box input');
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
    await until(`the command ${title} in the palette`, async () => {
      await this.page.keyboard.press('F1');
      try {
        await input.waitFor({ state: 'visible', timeout: shortly });
        await input.fill(`>${title}`);
        await row.click({ timeout: shortly });
        return true;
      } catch (error) {
        await this.page.keyboard.press('Escape');
        throw error;
      }
    });
  }

  /** Presses the key binding of a command of McpHub. @param {string} key the last key */
  async chord(key) {
    await this.page.keyboard.press('Control+Alt+m');
    await this.page.keyboard.press(key);
  }

  /** Opens the view in the side bar if another view is open, and returns the page in it. */
  async openSideBar() {
    if ((await this.#tab.getAttribute('aria-selected')) !== 'true') await this.#tab.click();
    return this.sideBar();
  }

  /** Opens an empty view and returns how many milliseconds that took. */
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
   * Returns how many milliseconds a click in the empty view takes to its extension. Each click on McpHub's page takes
   * that time too.
   */
  async timeEmptyClick() {
    const html = this.#emptyView.locator('html');
    await this.#emptyView.getByRole('button').click();
    await this.#emptyView.locator('html[data-heard]').waitFor({ state: 'attached' });
    return Number(await html.getAttribute('data-heard')) - Number(await html.getAttribute('data-clicked'));
  }

  /**
   * The page that a new extension host has drawn. The frame of the old page may stay for a while: it shows old data,
   * and clicks in it have no effect.
   *
   * @param {HubPage} before
   */
  sideBarAgain(before) {
    return this.#pageIn('the side bar, drawn anew', (source, name) => isView(source) && name !== before.name);
  }

  async openPanel() {
    await this.runCommand('McpHub: Open in Editor');
    return this.panel();
  }

  /** The page in the side bar, when it is drawn. */
  sideBar() {
    return this.#pageIn('the side bar', isView);
  }

  /** The whole page as an editor tab, when it is drawn. */
  panel() {
    return this.#pageIn('the panel', (source, _, surface) => !isView(source) && surface.shows === undefined);
  }

  /** The page of one thing in the editor tab that is shown, when it is drawn. */
  tab() {
    return this.#pageIn('the tab', (source, _, surface) => !isView(source) && surface.shows === 'opened');
  }

  /**
   * The rows of a tree in the side bar: what a screen reader reads of them, which is what a person sees.
   *
   * @param {'Servers' | 'History'} view
   */
  tree(view) {
    return this.page
      .locator('.part.sidebar .pane')
      .filter({ has: this.page.locator(`.pane-header[aria-label^="${view}"]`) })
      .locator('.monaco-list');
  }

  /**
   * A row with this name, which may stand behind its title. A tree draws only the rows that it has room for, so it is
   * scrolled to the row.
   *
   * @param {'Servers' | 'History'} view
   * @param {string | RegExp} name
   */
  async row(view, name) {
    const named = typeof name === 'string' ? new RegExp(`^([^,]*, )?${name}(,|$)`) : name;
    const row = this.tree(view).getByRole('treeitem', { name: named }).first();
    let turns = 0;
    await until(`the row ${name} in ${view}`, async () => {
      if (await row.isVisible()) return true;
      await this.#scroll(view, ++turns % 12 === 0 ? -5_000 : 150); // it may have been passed, or have come above
      return false;
    });
    return row;
  }

  /**
   * Unfolds a server in the tree, and starts it if its tools are not known.
   *
   * @param {string} server
   */
  async unfold(server) {
    let pressed = false;
    // A new hub makes the tree draw the row again, folded. That can happen at any moment, so this unfolds it again.
    await until(`the tools of ${server} are listed`, async () => {
      const row = await this.row('Servers', new RegExp(`^${server}, `));
      if ((await row.getAttribute('aria-expanded', { timeout: shortly })) !== 'true')
        await row.locator('.monaco-tl-twistie').click({ timeout: shortly });
      // Other servers may be unfolded, too: the first row below this one is what counts.
      const at = Number(await row.getAttribute('data-index', { timeout: shortly }));
      const below = this.tree('Servers').locator(`.monaco-list-row[data-index="${at + 1}"][aria-level="2"]`);
      const name = await below.getAttribute('aria-label', { timeout: shortly }).catch(() => '');
      if (!name) {
        // This server may be the last row that is drawn, or stand above rows that were scrolled out below it.
        const stuck = await row.evaluate((element) => element.classList.contains('monaco-tree-sticky-row'));
        await this.#scroll('Servers', stuck ? -5_000 : 50);
        return false;
      }
      if (!pressed && /^Start to List Tools/.test(name)) {
        await below.click({ timeout: shortly });
        pressed = true;
      }
      return /^Tools/.test(name);
    });
  }

  /**
   * Presses the button for an action on the row of a server, if it is there. The buttons are there while the pointer is
   * on the row.
   *
   * @param {string} server
   * @param {string} action
   */
  async press(server, action) {
    const row = await this.row('Servers', new RegExp(`^${server}, `));
    await row.hover({ timeout: shortly });
    const button = row.getByRole('button', { name: action, exact: true });
    if (await button.isVisible()) await button.click({ timeout: shortly });
  }

  /** @param {'Servers' | 'History'} view @param {number} by pixels, down */
  async #scroll(view, by) {
    await this.tree(view).first().hover({ timeout: shortly });
    await this.page.mouse.wheel(0, by);
  }

  /**
   * Opens the tab of a tool by a click on its row.
   *
   * @param {string} server
   * @param {string} tool
   */
  async openTool(server, tool) {
    await this.unfold(server);
    let clicked = -Infinity;
    return until(`the tab of ${tool}`, async () => {
      // A row that the editor draws anew in the middle of a click is selected, and does not open: one clicks again.
      if (performance.now() - clicked > shortly) {
        await (await this.row('Servers', tool)).click({ timeout: shortly });
        clicked = performance.now();
      }
      if ((await this.page.locator('.part.editor .tabs-container .tab').count()) === 0) return undefined;
      // Until the editor has made the new tab, the one that is found is that of another tool.
      const tab = await this.tab();
      return (await tab.frame.getByTestId(`tool-${tool}`).getByTestId('call').isVisible()) ? tab : undefined;
    });
  }

  /**
   * A webview is a frame in a frame. The frames of all webviews are side by side in the window, also those of hidden
   * views. McpHub's are recognized by their URL and their content. The outer frame keeps its name as long as it exists.
   *
   * @param {string} where
   * @param {(source: string, name: string, surface: { shows?: string }) => boolean} wanted
   */
  async #pageIn(where, wanted) {
    const name = await until(`the page in ${where}`, async () => {
      for (const outer of await this.page.locator('iframe.webview').all()) {
        const source = (await outer.getAttribute('src')) ?? '';
        const own = (await outer.getAttribute('name')) ?? '';
        if (!/extensionId=mcphub\.mcphub\b/i.test(source) || !(await outer.isVisible())) continue;
        const html = outer.contentFrame().locator('iframe#active-frame').contentFrame().locator('html[data-surface]');
        if ((await html.count()) === 0) continue;
        const surface = /** @type {{ shows?: string }} */ (readJson((await html.getAttribute('data-surface')) ?? '{}'));
        if (wanted(source, own, surface)) return own;
      }
      return undefined;
    });
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

  /** Trusts the authors of the folder, in the editor's page for workspace trust. */
  async trustWorkspace() {
    await this.runCommand('Workspaces: Manage Workspace Trust');
    await this.page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
  }

  /**
   * Chooses a row of the pick list that is about to open. A long list draws only its visible rows, so the name is
   * typed.
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

  /** Waits until an editor shows a matching line. @param {RegExp} text */
  async editorShows(text) {
    await this.page.locator('.part.editor .view-line').filter({ hasText: text }).first().waitFor();
  }

  /** Finds a text in the editor that has the focus, which draws only the lines in view. @param {string} text */
  async editorFinds(text) {
    await this.page.keyboard.press('Control+f');
    await this.page.locator('.find-widget.visible .find-part textarea').first().fill(text);
    await this.editorShows(new RegExp(text));
  }

  /** Waits until the output view shows a matching line. @param {RegExp} text */
  async outputShows(text) {
    await this.page.locator('.part.panel .view-line').filter({ hasText: text }).first().waitFor();
  }

  /**
   * Changes a setting of the machine with the other extension, because the editor does not notice changes of its files.
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

  /** Enters the path in the save dialog that is about to open. @param {string} path */
  async saveAs(path) {
    const input = this.quickPick.locator('.quick-input-box input');
    await input.waitFor();
    await until('the dialog has a path', async () => (await input.inputValue()).startsWith('/'));
    // When the dialog has read the folder, it overwrites its field and what was typed before.
    await until('the dialog has taken the path', async () => {
      if (!(await this.quickPick.isVisible())) return true;
      if ((await input.inputValue()) !== path) {
        await input.fill(path);
        return false; // checks again whether the path stays
      }
      await this.quickPick.getByRole('button', { name: 'OK' }).click({ timeout: shortly });
      return !(await this.quickPick.isVisible());
    });
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
