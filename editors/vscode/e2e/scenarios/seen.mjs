import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';

/** @typedef {import('../hubpage.mjs').HubPage} HubPage */

scenario(
  'a question out of view: the strip, the badge, a notification, and the status bar, which leads to its card',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    /**
     * Questions come first on the page: the oldest one is out of view while a person looks at the others, below it.
     *
     * @param {HubPage} page
     */
    const questions = async ({ cards, frame }) => {
      workspace.plan([{ server: 'demo', tool: 'ask_name', arguments: {} }]);
      await window.runCommand('Other: Call All of the Plan');
      await cards.first().waitFor();
      const summarize = { server: 'demo', tool: 'summarize', arguments: { text: 'A story.' } };
      workspace.plan([summarize, summarize, summarize]);
      await window.runCommand('Other: Call All of the Plan');
      await cards.nth(3).waitFor();
      await frame.locator('body').evaluate(() => scrollTo(0, document.body.scrollHeight));
    };
    const badge = (/** @type {string} */ count) =>
      window.page.locator('.activitybar .badge-content').filter({ hasText: count });
    const page = await window.openSideBar();
    await questions(page);
    const row = page.frame.getByTestId(/^strip-/).filter({ hasText: 'What is your name?' });
    await row.waitFor();
    assert.match(await row.innerText(), /What is your name\?\s+demo/);
    await badge('4').waitFor();
    const notification = window.notification('What is your name?');
    await notification.waitFor();
    await window.status.click();
    const card = page.card('What is your name?');
    await until('the card has the focus', () => card.evaluate((element) => element.contains(document.activeElement)));
    await row.waitFor({ state: 'hidden' });
    await notification.waitFor({ state: 'detached' });
    await card.getByRole('textbox', { name: 'Name' }).first().fill('Ada');
    await page.accept(card);
    await page.endedAs('ask_name', /done/i);
    await badge('3').waitFor();
    await window.runCommand('McpHub: Stop Everything');
    await badge('3').waitFor({ state: 'detached' });

    // With the key binding, while only the panel is open.
    const panel = await window.openPanel();
    await window.page
      .locator('.part.activitybar')
      .getByRole('tab', { name: /^Explorer/ })
      .first()
      .click();
    await questions(panel);
    await panel.frame
      .getByTestId(/^strip-/)
      .filter({ hasText: 'What is your name?' })
      .waitFor();
    await window.chord('q');
    const again = panel.card('What is your name?');
    await until('its card has the focus', () => again.evaluate((one) => one.contains(document.activeElement)));
  },
);
