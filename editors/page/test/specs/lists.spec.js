// Lists and the keyboard: a list is one tab stop, however long it is, and the focus is never lost.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { filesTools, prompts, request, server } from '../harness/world.js';
import { openServer } from '../harness/servers.js';

const many = Array.from({ length: 500 }, (_, index) => ({
  ...filesTools[0],
  name: `${index === 150 ? 'zebra' : 'tool'}_${index}`,
  title: '',
  definitionHash: `hash-${index}`,
}));
const setup = { snapshot: { servers: [server('files'), server('booking')] }, tools: { files: many } };

/** @param {import('../harness/pagetest.js').Page} page */
const focusedName = (page) =>
  page.evaluate(() => {
    const one = document.activeElement;
    return one === document.body ? 'nothing' : (one?.querySelector('.name')?.textContent ?? one?.textContent ?? '');
  });

/** The number of elements that Tab reaches. @param {import('../harness/pagetest.js').Locator} where */
const tabStops = (where) =>
  where
    .locator('button, input, select, textarea, summary, a[href], [tabindex]')
    .evaluateAll(
      (all) =>
        all.filter((one) => one instanceof HTMLElement && one.tabIndex >= 0 && one.getClientRects().length > 0).length,
    );

pageTest('500 tools are one tab stop, walked by arrows, Home, End and the start of a name', setup, async (opened) => {
  const { by, page, settle } = opened;
  await openServer(opened);
  const tools = page.locator('ul.tools');
  assert.equal(await tools.locator('> li').count(), 200, 'the rest is a click away');
  await by('all-tools').click();
  await settle();
  assert.equal(await focusedName(page), 'tool_200', 'the focus goes to the first that has come');
  assert.equal(await tools.locator('> li').count(), 500);
  assert.equal(await tabStops(tools), 1);
  for (const [key, name] of /** @type {const} */ ([
    ['Home', 'tool_0'],
    ['ArrowDown', 'tool_1'],
    ['ArrowDown', 'tool_2'],
    ['ArrowUp', 'tool_1'],
    ['ArrowUp', 'tool_0'],
    ['ArrowUp', 'tool_0'],
    ['End', 'tool_499'],
    ['z', 'zebra_150'],
  ])) {
    await page.keyboard.press(key);
    assert.equal(await focusedName(page), name, key);
  }
  await page.clock.runFor(1_000);
  await page.keyboard.press('Home');
  await page.keyboard.type('tool_17');
  assert.equal(await focusedName(page), 'tool_17');
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Tab');
  assert.equal(await focusedName(page), 'tool_17', 'the list remembers where it was left');
});

pageTest('a server is one of a list, and the focus is passed on by its keys', setup, async ({ by, page }) => {
  await by('server-files').getByRole('button').first().focus();
  await page.keyboard.press('ArrowDown');
  assert.equal(await focusedName(page), 'booking');
  await page.keyboard.press('f');
  assert.equal(await focusedName(page), 'files');
  assert.equal(await tabStops(by('servers-list')), 3, 'the row, its Stop and its menu');
});

mainTest(
  'thirty calls are one row of tab stops, and Cancel is the next from the row',
  { snapshot: { servers: [server('files')], requests: Array.from({ length: 30 }, (_, i) => request(`r-${i}`)) } },
  async ({ by, hub, page }) => {
    await by('request-r-0').waitFor();
    assert.equal(await tabStops(page.locator('#running > ol')), 3, 'the card, its Cancel and its menu');
    await by('request-r-0').focus();
    for (let step = 0; step < 7; step++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal((await hub.next('cancelMcpRequest')).cancelMcpRequest.requestId, 'r-7');
  },
);

pageTest(
  'a button that goes with what it was for passes the focus on',
  { snapshot: { servers: [server('files', { questionsMuted: true })] } },
  async (opened) => {
    const { by, hub, page, settle } = opened;
    await by('server-files').hover();
    await by('server-files').getByTestId('stop-server').focus();
    await hub.say({ serverChanged: { server: server('files', { state: 'SERVER_STATE_STOPPED' }) } });
    await settle();
    assert.equal(await focusedName(page), 'files', 'its row');
    // An element that the page does not know of.
    await page.evaluate(() => {
      const stray = document.createElement('button');
      document.querySelector('#servers')?.append(stray);
      stray.focus();
      requestAnimationFrame(() => stray.remove());
    });
    await settle();
    await settle();
    assert.match(await focusedName(page), /Servers/);
    await page.mouse.click(2, 2);
    await hub.say({ serverChanged: { server: server('files', { questionsMuted: true }) } });
    await settle();
    assert.equal(await focusedName(page), 'nothing', 'a click beside everything takes it away for good');
  },
);

pageTest(
  '"?" lists the keys, closes with Escape, and is a letter where somebody types',
  { ...setup, snapshot: { ...setup.snapshot, prompts: [prompts.form] } },
  async ({ by, page, settle }) => {
    await by('server-files').getByRole('button').first().focus();
    await page.keyboard.press('?');
    assert.equal(await by('keys').isVisible(), true);
    assert.match(await by('keys').innerText(), /Ctrl\+Alt\+M/);
    await page.keyboard.press('Escape');
    assert.equal(await by('keys').isVisible(), false);
    assert.equal(await focusedName(page), 'files', 'the focus comes back');
    await by('prompt-p-form').getByLabel('Full name').first().fill('');
    await page.keyboard.type('a?');
    assert.equal(await by('keys').isVisible(), false);
    assert.equal(await by('prompt-p-form').getByLabel('Full name').first().inputValue(), 'a?');
    await by('server-booking').getByRole('button').first().focus();
    await page.keyboard.press('Alt+q');
    await settle();
    assert.equal(
      await page.evaluate(() => document.activeElement?.closest('article')?.getAttribute('data-testid')),
      'prompt-p-form',
      'the question is one key away',
    );
  },
);

pageTest(
  'the buttons of a long question are in view with its start, and its command is there once',
  { snapshot: { prompts: [prompts.launch] }, viewport: { width: 300, height: 420 } },
  async ({ by, pass }) => {
    const card = by('prompt-p-launch');
    await pass(700);
    const box = await card.boundingBox();
    assert.ok(box && box.height > 420, 'it is higher than the page');
    for (const id of ['accept', 'decline']) {
      const button = await card.getByTestId(id).boundingBox();
      assert.ok(button && button.y + button.height <= 420, `${id} is in view`);
    }
    const [arg = ''] = prompts.launch.serverLaunch?.args?.slice(-1) ?? [];
    assert.notEqual(arg, '');
    assert.equal((await card.innerText()).split(arg).length - 1, 1, 'its last argument');
  },
);
