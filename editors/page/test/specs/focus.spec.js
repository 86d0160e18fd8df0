// The focus never moves to an accept button by itself, and is never lost.

import assert from 'node:assert/strict';
import { mainTest, pageTest, today } from '../harness/pagetest.js';
import { prompts, promptNames, request, server } from '../harness/world.js';

for (const name of promptNames) {
  const promptId = prompts[name].promptId ?? '';
  mainTest(
    `a card of kind ${name} never takes the focus onto a yes, and Enter right after it has opened answers nothing`,
    { snapshot: { servers: [server('files')], prompts: [] } },
    async ({ by, hub, page, pass, settle }) => {
      await hub.say({ promptOpened: { prompt: prompts[name] } });
      await by(`prompt-${promptId}`).waitFor();
      await settle();
      const onYes = () => page.evaluate(() => document.activeElement?.closest('[data-testid="accept"]') !== null);
      assert.equal(await onYes(), false);
      await page.keyboard.press('Enter');
      await page.keyboard.press('Space');
      await pass(1_000);
      await page.keyboard.press('Enter');
      await settle();
      assert.deepEqual(hub.all('answerPrompt'), []);
    },
  );

  pageTest(
    `Escape on a card of kind ${name} dismisses: that, and no decline`,
    { snapshot: { servers: [server('files')], prompts: [prompts[name]] } },
    async ({ by, hub, page, pass }) => {
      const card = by(`prompt-${promptId}`);
      await card.waitFor();
      await pass(700);
      await card.locator('[data-testid="decline"], [data-testid="dismiss"]').first().focus();
      await page.keyboard.press('Escape');
      const sent = await hub.next('answerPrompt');
      assert.deepEqual(sent.answerPrompt, { promptId, dismiss: {} });
      await page.keyboard.press('Escape');
      await pass(10);
      assert.equal(hub.all('answerPrompt').length, 1);
    },
  );
}

pageTest(
  'Escape in an edited form asks once more',
  { snapshot: { servers: [server('booking')], prompts: [prompts.form] } },
  async ({ by, hub, page, pass, settle }) => {
    const card = by('prompt-p-form');
    await card.waitFor();
    await pass(700);
    await card.getByLabel('Full name').first().fill('Ada');
    await page.keyboard.press('Escape');
    await settle();
    assert.deepEqual(hub.all('answerPrompt'), []);
    await card.getByText('Press Escape again to dismiss').waitFor();
    assert.equal(await card.getByLabel('Full name').first().inputValue(), 'Ada');
    await page.keyboard.press('Escape');
    const sent = await hub.next('answerPrompt');
    assert.ok(sent.answerPrompt.dismiss);
  },
);

pageTest(
  'Escape outside of a card dismisses nothing',
  { snapshot: { servers: [server('files')], prompts: [prompts.approval] } },
  async ({ by, hub, page, pass }) => {
    await by('prompt-p-approval').waitFor();
    await pass(700);
    await by('server-files').getByRole('button').first().focus();
    await page.keyboard.press('Escape');
    await pass(50);
    assert.deepEqual(hub.all('answerPrompt'), []);
  },
);

pageTest(
  'when a card goes, the focus goes to its note, or where it was answered to what is left',
  { snapshot: { servers: [server('files')], prompts: [prompts.approval, prompts.url] } },
  async ({ by, hub, page, pass }) => {
    await by('prompt-p-url').waitFor();
    await pass(700);
    const inCard = (/** @type {string} */ id) =>
      page.evaluate((test) => document.activeElement?.closest(`[data-testid="${test}"]`) !== null, id);
    const onYes = () => page.evaluate(() => document.activeElement?.closest('[data-testid="accept"]') !== null);
    await by('prompt-p-approval').locator('[data-testid="decline"]').focus();
    await hub.say({
      promptClosed: { promptId: 'p-approval', cause: 'PROMPT_CAUSE_WITHDRAWN', reason: 'x', origin: 'ORIGIN_SERVER' },
    });
    await pass(50);
    await page.mouse.move(0, 0);
    // The note stays while it has the focus. When the user moves on or waits, the focus must not fall back to the body.
    for (let wait = 0; wait < 3 && (await by('prompt-p-approval').count()) > 0; wait++) {
      if (await inCard('prompt-p-approval')) await page.keyboard.press('Tab');
      await pass(7_000);
    }
    await by('prompt-p-approval').waitFor({ state: 'detached' });
    assert.equal(await inCard('note-p-approval'), true, 'what has become of it');
    assert.equal(await onYes(), false);
    await by('prompt-p-url').locator('[data-testid="decline"]').focus();
    await page.keyboard.press('Enter');
    const sent = await hub.next('answerPrompt');
    await hub.reply(sent);
    await hub.say({
      promptClosed: {
        promptId: 'p-url',
        cause: 'PROMPT_CAUSE_DECLINED',
        windowId: hub.all('hello')[0]?.hello?.windowId ?? '',
        origin: 'ORIGIN_USER',
      },
    });
    await pass(50);
    for (let wait = 0; wait < 3 && (await by('prompt-p-url').count()) > 0; wait++) {
      if (await inCard('prompt-p-url')) await page.keyboard.press('Shift+Tab');
      await pass(7_000);
    }
    await by('prompt-p-url').waitFor({ state: 'detached' });
    assert.equal(
      await page.evaluate(() => document.activeElement !== document.body && document.activeElement !== null),
      true,
      'the focus is not lost',
    );
  },
);

pageTest(
  'a request that ends under the focus does not lose it',
  { snapshot: { servers: [server('files')], requests: [request('r-1'), request('r-2')] } },
  async ({ by, hub, page, settle }) => {
    for (const id of ['r-1', 'r-2']) {
      await by(`request-${id}`).locator('[data-testid="cancel"]').focus();
      await hub.say({
        mcpRequestFinished: {
          requestId: id,
          server: 'files',
          direction: 'REQUEST_DIRECTION_OUTGOING',
          method: 'tools/call',
          tool: 'index_folder',
          state: 'REQUEST_STATE_DONE',
        },
      });
      await by(`request-${id}`).waitFor({ state: 'detached' });
      await settle();
      assert.equal(await page.evaluate(() => document.activeElement !== document.body), true, `after ${id}`);
    }
  },
);

pageTest(
  'the focus is seen wherever it is',
  { snapshot: { servers: [server('files')], requests: [request('r-1')], prompts: [prompts.approval] } },
  async ({ page, by, pass }) => {
    await by('prompt-p-approval').waitFor();
    await pass(700);
    const seen = new Set();
    for (let step = 0; step < 40; step++) {
      await page.keyboard.press('Tab');
      const focus = await page.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return undefined;
        const style = getComputedStyle(element);
        return {
          what: `${element.tagName} ${element.textContent.trim().slice(0, 30)}`,
          outlined:
            (style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 1) || style.boxShadow !== 'none',
        };
      });
      if (!focus) break;
      assert.ok(focus.outlined, `no outline on ${focus.what}`);
      seen.add(focus.what);
    }
    assert.ok(seen.size >= 6, `${seen.size} stops`);
  },
);

pageTest(
  'what is typed survives events that have nothing to do with it',
  {
    snapshot: {
      servers: [server('booking')],
      requests: [request('r-1', { server: 'booking' })],
      prompts: [prompts.form],
    },
  },
  async ({ by, hub, page, pass }) => {
    const field = by('prompt-p-form').getByLabel('Full name').first();
    await field.waitFor();
    await pass(700);
    await field.focus();
    await page.keyboard.type('Ada Lo');
    await hub.say({
      mcpRequestProgressed: {
        requestId: 'r-1',
        server: 'booking',
        state: 'REQUEST_STATE_RUNNING',
        progress: { progress: 1 },
      },
    });
    await hub.say({ serverChanged: { server: server('booking', { version: '9' }) } });
    await hub.say({ promptOpened: { prompt: prompts.approval } });
    await pass(100);
    await page.keyboard.type('velace');
    assert.equal(await field.inputValue(), 'Ada Lovelace');
  },
);

pageTest(
  'Escape that is held down dismisses one question, and not those behind it',
  { snapshot: { prompts: [prompts.approval, prompts.launch] } },
  async ({ by, hub, page, settle }) => {
    await by('prompt-p-approval').locator('h3').focus();
    await page.keyboard.down('Escape');
    assert.equal((await hub.next('answerPrompt')).answerPrompt.promptId, 'p-approval');
    await hub.say({ promptClosed: { promptId: 'p-approval', cause: 'PROMPT_CAUSE_DISMISSED' } });
    await settle();
    assert.equal(
      await by('prompt-p-launch').evaluate((card) => card.contains(document.activeElement)),
      true,
      'the next question has the focus',
    );
    await page.keyboard.down('Escape'); // what Playwright calls down while it is down is the repetition of the key
    await settle();
    await page.keyboard.up('Escape');
    assert.equal(hub.all('answerPrompt').length, 1);
    await page.keyboard.press('Escape');
    assert.equal(
      (await hub.next('answerPrompt')).answerPrompt.promptId,
      'p-launch',
      'another press is for the next one',
    );
  },
);

pageTest(
  'Escape in an edited form that is held down dismisses nothing, and the hint goes with what is typed next',
  { snapshot: { prompts: [prompts.form] } },
  async ({ by, hub, page, settle }) => {
    const card = by('prompt-p-form');
    await card.getByLabel('Full name').first().fill('Ada');
    await page.keyboard.down('Escape');
    await page.keyboard.down('Escape');
    await page.keyboard.up('Escape');
    await settle();
    assert.equal(hub.all('answerPrompt').length, 0);
    await page.keyboard.type('x');
    assert.equal(await card.getByText('Press Escape again to dismiss').count(), 0);
  },
);

pageTest(
  'the time until a question closes goes by the clock of the hub',
  { snapshot: {} },
  async ({ by, hub, settle }) => {
    const ahead = 600_000;
    const time = new Date(today.getTime() + ahead).toISOString();
    await hub.say({
      time,
      promptOpened: {
        prompt: { ...prompts.approval, deadline: new Date(today.getTime() + ahead + 50_000).toISOString() },
      },
    });
    await settle();
    assert.match(await by('prompt-p-approval').innerText(), /Closes in (50|49) s/);
  },
);

pageTest(
  'a double click on Decline answers one question, also when the next one moves up between the clicks',
  { snapshot: { prompts: [prompts.url, { ...prompts.url, promptId: 'p-second' }] } },
  async ({ by, hub, settle }) => {
    await by('prompt-p-url').locator('[data-testid="decline"]').click();
    await hub.next('answerPrompt');
    await hub.say({ promptClosed: { promptId: 'p-url', cause: 'PROMPT_CAUSE_DECLINED' } });
    await settle();
    await by('prompt-p-second').locator('[data-testid="decline"]').dispatchEvent('click', { detail: 2 });
    await settle();
    assert.equal(hub.all('answerPrompt').length, 1);
  },
);
