import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';

scenario('a URL of a server is opened outside after the yes, and not before', async (act) => {
  const workspace = act.workspace();
  const window = await act.open(workspace);
  /** @type {string[]} */
  // requests of all pages in the window's browser, whether they succeed or not: nothing outside this machine is reached
  const asked = [];
  window.page.context().on('request', (request) => {
    if (request.url().includes('pages.example')) asked.push(request.url());
  });
  const page = await window.openSideBar();
  await page.call('demo', 'open_page', { url: 'https://pages.example/form?a=%2F&b=1' });
  const card = page.card('pages.example');
  await card.waitFor();
  assert.deepEqual(
    [await window.dialog.count(), asked.length, window.page.context().pages().length],
    [0, 0, 1],
    'nothing is opened before the yes',
  );

  await page.accept(
    card,
    async () =>
      (await window.dialog.isVisible()) || window.page.context().pages().length > 1 || (await card.count()) === 0,
  );

  // The editor also asks, with a dialog of its own, before it opens a site that it does not trust.
  await until('the page is asked for', async () => {
    if (await window.dialog.isVisible()) await window.dialog.getByRole('button', { name: 'Open', exact: true }).click();
    return asked.length > 0;
  });
  assert.equal(asked[0], 'https://pages.example/form?a=%2F&b=1', 'as it came');
  await page.endedAs('open_page', /done/i);
  assert.equal(workspace.answers().filter((message) => message.result?.action === 'accept').length, 1);
});

scenario('a URL that is declined is not opened', async (act) => {
  const workspace = act.workspace();
  const window = await act.open(workspace);
  const page = await window.openSideBar();
  await page.call('demo', 'open_page', { url: 'https://pages.example/declined' });
  await page.card('pages.example').getByTestId('decline').click();
  await page.endedAs('open_page', /done/i);
  assert.equal(workspace.answers().filter((message) => message.result?.action === 'decline').length, 1);
  assert.deepEqual([await window.dialog.count(), window.page.context().pages().length], [0, 1]);
});
