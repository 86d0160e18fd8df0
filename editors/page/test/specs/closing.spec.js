// Every way in which a prompt can be closed, for every kind: its card goes, takes no answer any more, and a note says
// what happened.

import assert from 'node:assert/strict';
import { mainTest } from '../harness/pagetest.js';
import { busySnapshot, prompts, promptNames, server } from '../harness/world.js';

/**
 * @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').PromptClosedJson} PromptClosedJson
 * @type {{ end: string, closed: Omit<PromptClosedJson, 'promptId'>, says: RegExp }[]}
 */
const ends = [
  {
    end: 'answered in another window',
    closed: { cause: 'PROMPT_CAUSE_ANSWERED', windowId: 'window-2', origin: 'ORIGIN_USER' },
    says: /another window/i,
  },
  {
    end: 'declined in another window',
    closed: { cause: 'PROMPT_CAUSE_DECLINED', windowId: 'window-2', origin: 'ORIGIN_USER' },
    says: /another window/i,
  },
  {
    end: 'dismissed in another window',
    closed: { cause: 'PROMPT_CAUSE_DISMISSED', windowId: 'window-2', origin: 'ORIGIN_USER' },
    says: /another window/i,
  },
  {
    end: 'withdrawn',
    closed: { cause: 'PROMPT_CAUSE_WITHDRAWN', reason: 'no longer needed', origin: 'ORIGIN_SERVER' },
    says: /Withdrawn by \w+: no longer needed\. Nothing was sent\./,
  },
  {
    end: 'its call was cancelled',
    closed: { cause: 'PROMPT_CAUSE_PARENT', reason: 'wrong folder', origin: 'ORIGIN_USER' },
    says: /The call was cancelled: wrong folder\./,
  },
  {
    end: 'its call ended',
    closed: { cause: 'PROMPT_CAUSE_PARENT', reason: 'the request is over', origin: 'ORIGIN_PARENT' },
    says: /The call ended first\./,
  },
  { end: 'timed out', closed: { cause: 'PROMPT_CAUSE_TIMEOUT', origin: 'ORIGIN_TIMEOUT' }, says: /timed out/i },
  {
    end: 'the server has gone',
    closed: { cause: 'PROMPT_CAUSE_SERVER_GONE', origin: 'ORIGIN_TRANSPORT' },
    says: /server/i,
  },
  {
    end: 'the hub shuts down',
    closed: { cause: 'PROMPT_CAUSE_SHUTDOWN', origin: 'ORIGIN_SHUTDOWN' },
    says: /shutting down|shut down|hub/i,
  },
  { end: 'pointless', closed: { cause: 'PROMPT_CAUSE_SUPERSEDED', origin: 'ORIGIN_POLICY' }, says: /\w/ },
];

for (const name of promptNames) {
  mainTest(
    `a card of kind ${name} leaves a note for each end that it can have, which goes after a minute`,
    { snapshot: { ...busySnapshot(), prompts: [] } },
    async ({ by, hub, page, pass, settle }) => {
      for (const [index, { end, closed, says }] of ends.entries()) {
        const promptId = `${prompts[name].promptId}-${index}`;
        await hub.say({ promptOpened: { prompt: { ...prompts[name], promptId } } });
        await settle();
        await hub.say({ promptClosed: { promptId, ...closed } });
        await settle();
        assert.equal(await by(`prompt-${promptId}`).count(), 0, end);
        assert.match(await by(`note-${promptId}`).innerText(), says, end);
      }
      await page.mouse.move(0, 0);
      await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
      await pass(55_000);
      assert.equal(await page.locator('.note').count(), 5, 'the newest five');
      await pass(6_000);
      assert.equal(await page.locator('.note').count(), 0);
      assert.deepEqual(hub.all('answerPrompt'), [], 'nobody has answered');
    },
  );
}

mainTest(
  'a note of a closed prompt stays while the pointer is on it',
  { snapshot: { prompts: [prompts.form] } },
  async ({ by, hub, page, pass, settle }) => {
    const card = by('prompt-p-form');
    await card.waitFor();
    await hub.say({
      promptClosed: {
        promptId: 'p-form',
        cause: 'PROMPT_CAUSE_WITHDRAWN',
        reason: 'changed my mind',
        origin: 'ORIGIN_SERVER',
      },
    });
    await settle();
    const note = by('note-p-form');
    await note.hover();
    await pass(120_000);
    assert.match(await note.innerText(), /changed my mind/);
    await page.mouse.move(0, 0);
    await pass(2_000);
    assert.equal(await note.count(), 1, 'it has the focus of its card');
    await by('show-keys').focus();
    await pass(2_000);
    await note.waitFor({ state: 'detached' });
  },
);

/** The server withdraws the form. @type {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').PromptClosedJson} */
const withdrawn = {
  promptId: 'p-form',
  cause: 'PROMPT_CAUSE_WITHDRAWN',
  reason: 'changed my mind',
  origin: 'ORIGIN_SERVER',
};

mainTest(
  'a form that is withdrawn under the hands shrinks to a line with its reason and what was typed, below what is live',
  {
    snapshot: {
      servers: Array.from({ length: 40 }, (_, i) => server(`s-${i}`)),
      prompts: [prompts.form, prompts.approval],
    },
    viewport: { width: 300, height: 500 },
  },
  async ({ by, hub, page, pass, settle }) => {
    const card = by('prompt-p-form');
    const note = by('note-p-form');
    await card.getByLabel('Full name').first().focus();
    await page.keyboard.type('Ada Lovelace');
    await hub.say({ promptClosed: withdrawn });
    await settle();
    assert.equal(await card.count(), 0);
    assert.match(await note.innerText(), /Who is the booking for\?\s+booking/);
    assert.match(await note.innerText(), /Withdrawn by booking: changed my mind\. Nothing was sent\./);
    const [live, dead] = [await by('prompt-p-approval').boundingBox(), await note.boundingBox()];
    assert.ok(live && dead && live.y < dead.y && live.y >= 0, 'the live question stands above, and in view');
    assert.ok(dead.height < 100, `it takes ${dead.height} px`);

    const place = () => page.evaluate(() => [scrollY, document.activeElement?.getAttribute('data-testid')]);
    const before = await place();
    assert.equal(before[1], 'note-p-form', 'the focus is on the note');
    for (const key of [' ', 'Enter', 'o', 'Backspace', 'PageDown']) await page.keyboard.press(key);
    await settle();
    assert.deepEqual(await place(), before, 'what was meant for the field that is gone does nothing');
    await page.evaluate(() => addEventListener('keydown', ({ key }) => (document.title += ` ${key}`)));
    for (const key of ['x', 'F1', 'Delete', 'Escape']) await page.keyboard.press(key);
    assert.match(await page.title(), /^[^x]* F1 Escape$/, 'but the host has its keys');

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await by('copy-typed').click();
    await note.getByText('Copied', { exact: true }).waitFor();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^\{.*"Ada Lovelace".*\}$/);
    await by('show-keys').focus();
    await pass(600_000);
    assert.equal(await note.count(), 1, 'what somebody typed stays until it is dismissed');
    await note.getByRole('button', { name: /Dismiss/ }).press('Enter');
    await note.waitFor({ state: 'detached' });
    assert.deepEqual(hub.all('answerPrompt'), []);
  },
);

mainTest(
  'a secret that was being typed is not kept when its question goes',
  { snapshot: { prompts: [prompts.input] } },
  async ({ by, hub, page, settle }) => {
    const card = by('prompt-p-input');
    await card.locator('input').first().fill('hunter2');
    await hub.say({ promptClosed: { ...withdrawn, promptId: 'p-input' } });
    await settle();
    assert.equal(await card.count(), 0);
    assert.equal(await by('copy-typed').count(), 0);
    assert.equal((await page.content()).includes('hunter2'), false);
  },
);

mainTest(
  'an approval that is withdrawn while the reason for a no is typed keeps it, and Escape was asked twice before',
  { snapshot: { servers: [server('files')], prompts: [prompts.approval] } },
  async ({ by, hub, page, settle }) => {
    const card = by('prompt-p-approval');
    await by('card-more').click();
    await by('deny-with-reason').click();
    await page.keyboard.type('Not in this folder');
    await page.keyboard.press('Escape');
    await settle();
    assert.match(await card.innerText(), /Press Escape again to dismiss/);
    await hub.say({ promptClosed: { ...withdrawn, promptId: 'p-approval', cause: 'PROMPT_CAUSE_PARENT' } });
    await settle();
    assert.match(await by('note-p-approval').innerText(), /The call was cancelled: changed my mind\./);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await by('copy-typed').click();
    await by('note-p-approval').getByText('Copied', { exact: true }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'Not in this folder');
    assert.deepEqual(hub.all('answerPrompt'), []);
  },
);

mainTest(
  'a question that is withdrawn while its answer is on the way leaves one note, with the reason',
  { snapshot: { servers: [server('booking')], prompts: [prompts.url] } },
  async ({ by, hub, page, pass, settle }) => {
    hub.silent.add('answerPrompt');
    await pass(700);
    await by('accept').click();
    const sent = await hub.next('answerPrompt');
    await hub.say({ promptClosed: { ...withdrawn, promptId: prompts.url.promptId ?? '' } });
    await hub.reply(sent, { error: { code: 'NOT_FOUND', reason: 'PROMPT_CLOSED', message: 'The prompt is closed.' } });
    await settle();
    assert.equal(await page.locator('.note').count(), 1);
    assert.match(await page.locator('.note').innerText(), /Withdrawn by booking: changed my mind\. Nothing was sent\./);
  },
);
