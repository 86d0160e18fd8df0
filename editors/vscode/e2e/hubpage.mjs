import { shortly, until } from './until.mjs';

/** @typedef {import('playwright-core').Locator} Locator */

/**
 * McpHub's page in one webview, used as a person uses it. Each step waits for the elements that it needs, as Playwright
 * does by itself.
 */
export class HubPage {
  /**
   * @param {import('./window.mjs').EditorWindow} window
   * @param {string} name of its outer frame; a page that is drawn anew has another one
   * @param {import('playwright-core').FrameLocator} frame
   */
  constructor(window, name, frame) {
    this.window = window;
    this.name = name;
    this.frame = frame;
  }

  /**
   * The row of a server, in the tree of the servers.
   *
   * @param {string} name
   */
  server(name) {
    return this.window
      .tree('Servers')
      .getByRole('treeitem', { name: new RegExp(`^${name}, `) })
      .first();
  }

  /**
   * A running call of a tool, with its child requests.
   *
   * @param {string} tool
   */
  request(tool) {
    return this.requests.filter({ hasText: tool }).first();
  }

  get requests() {
    return this.frame.getByTestId(/^request-/);
  }

  /** The cards of open questions. */
  get cards() {
    return this.frame.getByTestId(/^prompt-/);
  }

  /** The note of a question or of a call that has ended. @param {string | RegExp} text */
  note(text) {
    return this.frame
      .getByTestId(/^note-/)
      .filter({ hasText: text })
      .first();
  }

  /** @param {string | RegExp} text */
  card(text) {
    return this.cards.filter({ hasText: text });
  }

  /**
   * Presses the accept button. A card that has just appeared under the pointer ignores clicks for half a second, so
   * this presses again until the effect is there.
   *
   * @param {Locator} card
   * @param {() => Promise<boolean>} [came] default: the card has gone
   */
  async accept(card, came = async () => (await card.count()) === 0) {
    const button = card.getByTestId('accept');
    await button.waitFor();
    await until('the answer is taken', async () => {
      if (await came()) return true;
      // The button is gone, or disabled while the answer is being sent.
      await button.click({ timeout: shortly }).catch(() => undefined);
      return came();
    });
  }

  /**
   * Says yes for longer, in the menu beside the accept button.
   *
   * @param {Locator} card
   * @param {string} scope
   */
  async acceptFor(card, scope) {
    const item = card.getByTestId(scope);
    await card.getByTestId('scopes').waitFor();
    await until('the answer is taken', async () => {
      if ((await card.count()) === 0) return true;
      if (!(await item.isVisible()))
        await card
          .getByTestId('scopes')
          .click({ timeout: shortly })
          .catch(() => undefined);
      await item.click({ timeout: shortly }).catch(() => undefined);
      return (await card.count()) === 0;
    });
  }

  /** The tree of what has ended. */
  get history() {
    return this.window.tree('History');
  }

  get connection() {
    return this.frame.getByTestId('connection');
  }

  /**
   * Waits until the tree says that a server is in a state.
   *
   * @param {string} name
   * @param {RegExp} state
   */
  async serverIs(name, state) {
    await this.window
      .tree('Servers')
      .getByRole('treeitem', { name: new RegExp(`^${name}, .*(${state.source})`, 'i') })
      .first()
      .waitFor();
  }

  /**
   * Unfolds a server in the tree, and starts it if its tools are not known.
   *
   * @param {string} server
   */
  openTools(server) {
    return this.window.unfold(server);
  }

  /**
   * Calls a tool in its editor tab, with the arguments as JSON. Returns the page in the tab.
   *
   * @param {string} server
   * @param {string} tool
   * @param {object} [args]
   */
  async call(server, tool, args = {}) {
    const tab = await this.window.openTool(server, tool);
    const { frame } = tab;
    if (Object.keys(args).length > 0) {
      const whole = frame.getByRole('textbox', { name: 'All values as JSON' });
      if (!(await whole.isVisible())) await frame.getByRole('button', { name: 'Edit as JSON' }).click();
      await whole.fill(JSON.stringify(args));
    }
    await frame.getByTestId('call').click();
    return tab;
  }

  /**
   * Cancels a request with its button, with a reason if one is given.
   *
   * @param {Locator} request
   * @param {string} [reason]
   */
  async cancel(request, reason) {
    if (reason === undefined) {
      await request.getByTestId('cancel').first().click();
      return;
    }
    await request.getByTestId('cancel-more').first().click();
    await request.getByRole('menuitem', { name: /with a reason/ }).click();
    const field = request.getByRole('textbox', { name: /^Reason/ }).first();
    await field.fill(reason);
    await field.press('Enter');
  }

  /** Stops everything that runs. */
  async stopEverything() {
    await this.frame.getByTestId('stop-everything').click();
  }

  /**
   * The row of an ended call in the tree of the history.
   *
   * @param {string} tool
   * @param {RegExp} how it ended
   */
  ended(tool, how) {
    return this.history
      .getByRole('treeitem', { name: tool })
      .and(this.history.getByRole('treeitem', { name: how }))
      .first();
  }

  /**
   * Waits until the history has a call that ended in this way.
   *
   * @param {string} tool
   * @param {RegExp} how
   */
  async endedAs(tool, how) {
    await this.ended(tool, how).waitFor();
  }

  /**
   * Opens a call that succeeded in the history, and waits until all the texts are in what is shown of it: the tab is
   * there before its result is drawn.
   *
   * @param {string} tool
   * @param {(string | RegExp)[]} texts
   */
  async showsResult(tool, ...texts) {
    await this.ended(tool, /done/i).click();
    const { frame } = await this.window.tab();
    for (const text of texts) await frame.locator('#opened').filter({ hasText: text }).waitFor();
  }

  /**
   * @param {string} what
   * @param {() => Promise<boolean>} condition
   */
  shows(what, condition) {
    return until(`the page shows ${what}`, condition);
  }
}
