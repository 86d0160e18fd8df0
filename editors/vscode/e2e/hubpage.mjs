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

  /** @param {string} name */
  server(name) {
    return this.frame.getByTestId(`server-${name}`);
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

  /** The cards of open questions, without the notes that say how a question was closed. */
  get cards() {
    return this.frame.locator('[data-testid^="prompt-"]:not([data-phase="closed"])');
  }

  /** @param {string | RegExp} text */
  note(text) {
    return this.frame.locator('[data-testid^="prompt-"][data-phase="closed"]').filter({ hasText: text }).first();
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

  get history() {
    return this.frame.getByTestId('history');
  }

  get connection() {
    return this.frame.getByTestId('connection');
  }

  /**
   * Waits until a server is in a state. The page has the state in data-state.
   *
   * @param {string} name
   * @param {string | RegExp} state
   */
  async serverIs(name, state) {
    await untilAttribute(this.server(name), 'data-state', state);
  }

  /**
   * Calls a tool with its form, with the arguments as JSON, and closes the form.
   *
   * @param {string} server
   * @param {string} tool
   * @param {object} [args]
   */
  async call(server, tool, args = {}) {
    const item = await this.chooseTool(server, tool);
    if (Object.keys(args).length > 0) {
      const whole = item.getByRole('textbox', { name: 'All values as JSON' });
      if (!(await whole.isVisible())) await item.getByRole('button', { name: 'Edit as JSON' }).click();
      await whole.fill(JSON.stringify(args));
    }
    await item.getByTestId('call').click();
  }

  /**
   * Opens a server's tools, and connects the server if it has no known tools.
   *
   * @param {string} server
   */
  async openTools(server) {
    const row = this.server(server);
    const head = row.getByRole('heading', { level: 3 }).getByRole('button');
    const tool = row.getByTestId(/^tool-/).first();
    const connect = row.getByRole('button', { name: 'Connect and list its tools' });
    let pressed = false;
    // A new hub makes the page draw the row again, closed. That can happen at any moment, so this opens the row again.
    await until(`the tools of ${server} are open`, async () => {
      if ((await head.getAttribute('aria-expanded')) !== 'true') await head.click({ timeout: shortly });
      if (await tool.isVisible()) return true;
      if (!pressed && (await connect.isVisible())) {
        await connect.click({ timeout: shortly });
        pressed = true;
      }
      return false;
    });
  }

  /**
   * Opens the form of a tool.
   *
   * @param {string} server
   * @param {string} tool
   */
  async chooseTool(server, tool) {
    const item = this.server(server).getByTestId(`tool-${tool}`);
    if (!(await item.isVisible())) await this.openTools(server);
    if (!(await item.getByTestId('call').isVisible()))
      await item.getByRole('heading', { level: 5 }).getByRole('button').click();
    return item;
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
    await request
      .getByRole('button', { name: /with (a )?reason/ })
      .first()
      .click();
    const field = request.getByRole('textbox', { name: /^Reason/ }).first();
    await field.fill(reason);
    await field.press('Enter');
  }

  /** Stops everything that runs. */
  async stopEverything() {
    await this.frame.getByTestId('stop-everything').click();
  }

  /**
   * The row of an ended call in the history. The rows have no fixed order, so they are also selected by how the calls
   * ended.
   *
   * @param {string} tool
   * @param {RegExp} how
   */
  ended(tool, how) {
    return this.history
      .getByTestId(/^ended-/)
      .filter({ hasText: tool })
      .filter({ hasText: how })
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
   * Returns all that the history shows of a call that succeeded.
   *
   * @param {string} tool
   */
  async resultOf(tool) {
    await this.ended(tool, /done/i).click();
    return this.history.getByRole('region', { name: 'Details of the request' }).innerText();
  }

  /**
   * @param {string} what
   * @param {() => Promise<boolean>} condition
   */
  shows(what, condition) {
    return until(`the page shows ${what}`, condition);
  }
}

/**
 * @param {Locator} locator
 * @param {string} name
 * @param {string | RegExp} wanted
 */
async function untilAttribute(locator, name, wanted) {
  await until(`${name} is ${wanted}`, async () => {
    const value = await locator.getAttribute(name);
    return value !== null && (typeof wanted === 'string' ? value === wanted : wanted.test(value));
  });
}
