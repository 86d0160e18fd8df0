import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';

scenario(
  'a question out of view: the strip, the badge, a notification, and the status bar, which leads to its card',
  async (act) => {
    const workspace = act.workspace();
    workspace.plan([{ server: 'demo', tool: 'ask_name', arguments: {} }]);
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.openTools('demo');
    await page.frame.locator('body').evaluate(() => scrollTo(0, document.body.scrollHeight));
    await window.runCommand('Other: Call All of the Plan');
    const row = page.frame.getByTestId(/^strip-/);
    await row.waitFor();
    assert.match(await row.innerText(), /What is your name\?\s+demo/);
    await window.page.locator('.activitybar .badge-content').filter({ hasText: '1' }).waitFor();
    const notification = window.notification('What is your name?');
    await notification.waitFor();
    await window.status.click();
    const card = page.card('What is your name?');
    await until('the card has the focus', () => card.evaluate((element) => element.contains(document.activeElement)));
    await row.waitFor({ state: 'hidden' });
    await notification.waitFor({ state: 'detached' });
    await page.frame.locator('body').evaluate(() => scrollTo(0, 0));
    await card.getByRole('textbox', { name: 'Name' }).first().fill('Ada');
    await page.accept(card);
    await page.endedAs('ask_name', /done/i);
    await window.page.locator('.activitybar .badge-content').filter({ hasText: '1' }).waitFor({ state: 'detached' });

    // With the key binding, while only the panel is open.
    const panel = await window.openPanel();
    await window.page
      .locator('.part.activitybar')
      .getByRole('tab', { name: /^Explorer/ })
      .first()
      .click();
    await panel.openTools('demo');
    await panel.frame.locator('body').evaluate(() => scrollTo(0, document.body.scrollHeight));
    await window.runCommand('Other: Call All of the Plan');
    await panel.frame.getByTestId(/^strip-/).waitFor();
    await window.chord('q');
    const again = panel.card('What is your name?');
    await until('its card has the focus', () => again.evaluate((one) => one.contains(document.activeElement)));
  },
);
