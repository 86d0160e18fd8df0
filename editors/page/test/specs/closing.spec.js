// Every way in which a prompt can be closed, for every kind: the card says what happened, accepts no answer, and goes.

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
    says: /withdrawn by server: no longer needed/i,
  },
  {
    end: 'its call was cancelled',
    closed: { cause: 'PROMPT_CAUSE_PARENT', reason: 'wrong folder', origin: 'ORIGIN_PARENT' },
    says: /call|request/i,
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
    `a card of kind ${name} tells each end that it can have, takes no answer any more, and goes after 6 s`,
    { snapshot: { ...busySnapshot(), prompts: [] } },
    async ({ by, hub, page, pass, settle }) => {
      const closing = ends.map((one, index) => {
        const promptId = `${prompts[name].promptId}-${index}`;
        return { ...one, promptId, card: by(`prompt-${promptId}`) };
      });
      for (const { promptId } of closing) await hub.say({ promptOpened: { prompt: { ...prompts[name], promptId } } });
      await settle();
      for (const { card } of closing) await card.waitFor();
      for (const { promptId, closed } of closing) await hub.say({ promptClosed: { promptId, ...closed } });
      await settle();
      for (const { end, says, card } of closing) {
        assert.match(await card.innerText(), says, end);
        for (const id of ['accept', 'decline', 'dismiss']) {
          assert.equal(
            await card.locator(`[data-testid="${id}"]:enabled:not([aria-disabled="true"])`).count(),
            0,
            `${end}: ${id} is still there`,
          );
        }
      }
      await page.mouse.move(0, 0);
      await pass(5_500);
      for (const { end, card } of closing) assert.equal(await card.count(), 1, `${end}: the note went too early`);
      await pass(1_500);
      for (const { card } of closing) await card.waitFor({ state: 'detached' });
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
    await card.hover();
    await pass(30_000);
    assert.match(await card.innerText(), /changed my mind/);
    await page.mouse.move(0, 0);
    await pass(7_000);
    await card.waitFor({ state: 'detached' });
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
  'a form that is withdrawn under the hands stays with its reason, what was typed and the focus, until it is left',
  { snapshot: { servers: [server('booking')], prompts: [prompts.form] } },
  async ({ by, hub, page, pass, settle }) => {
    const card = by('prompt-p-form');
    const field = card.getByLabel('Full name').first();
    await field.focus();
    await page.keyboard.type('Ada Lovelace');
    await hub.say({ promptClosed: withdrawn });
    await settle();
    assert.match(await card.innerText(), /withdrawn by server: changed my mind/i);
    assert.match(await card.innerText(), /Server booking/);
    await page.keyboard.type(' of London');
    assert.equal(await field.inputValue(), 'Ada Lovelace', 'nothing is typed into a question that is gone');
    assert.equal(await field.evaluate((element) => element === document.activeElement), true, 'the focus stays');
    assert.equal(
      await card.locator('[data-testid="accept"], [data-testid="decline"], [data-testid="dismiss"]').count(),
      0,
    );
    await pass(120_000);
    assert.equal(await card.count(), 1);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await by('copy-typed').click();
    await card.getByText('Copied', { exact: true }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /^\{.*"Ada Lovelace".*\}$/);
    await by('server-booking').locator('button').first().focus();
    await pass(5_500);
    assert.equal(await card.count(), 1, 'it went too early');
    await pass(1_000);
    await card.waitFor({ state: 'detached' });
    assert.deepEqual(hub.all('answerPrompt'), []);
  },
);

for (const way of ['Close', 'Escape']) {
  mainTest(
    `a withdrawn form with typed text goes by ${way}, and the focus goes on`,
    { snapshot: { prompts: [prompts.form, prompts.approval] } },
    async ({ by, hub, page, settle }) => {
      const card = by('prompt-p-form');
      await card.getByLabel('Full name').first().fill('Ada');
      await hub.say({ promptClosed: withdrawn });
      await settle();
      if (way === 'Close') await by('close-typed').click();
      else await page.keyboard.press('Escape');
      await card.waitFor({ state: 'detached' });
      assert.equal(
        await by('prompt-p-approval').evaluate((next) => next.contains(document.activeElement)),
        true,
        'the next question has the focus',
      );
      assert.deepEqual(hub.all('answerPrompt'), []);
    },
  );
}

mainTest(
  'a secret that was being typed is not kept when its question goes',
  { snapshot: { prompts: [prompts.input] } },
  async ({ by, hub, page, settle }) => {
    const card = by('prompt-p-input');
    await card.locator('input').first().fill('hunter2');
    await hub.say({ promptClosed: { ...withdrawn, promptId: 'p-input' } });
    await settle();
    assert.equal(await card.locator('input').count(), 0);
    assert.equal((await page.content()).includes('hunter2'), false);
  },
);

mainTest(
  'an approval that is withdrawn while the reason for a no is typed stays with what was typed, and Escape is asked twice',
  { snapshot: { servers: [server('files')], prompts: [prompts.approval] } },
  async ({ by, hub, page, settle }) => {
    const card = by('prompt-p-approval');
    const field = card.getByLabel('Reason', { exact: true });
    await card.getByText('Deny with a reason').click();
    await field.focus();
    await page.keyboard.type('Not in this folder');
    await page.keyboard.press('Escape');
    await settle();
    assert.match(await card.innerText(), /Press Escape again to dismiss/);
    await hub.say({ promptClosed: { ...withdrawn, promptId: 'p-approval', cause: 'PROMPT_CAUSE_PARENT' } });
    await settle();
    assert.match(await card.innerText(), /cancelled: changed my mind/i);
    assert.equal(await field.inputValue(), 'Not in this folder');
    assert.equal(await field.evaluate((element) => element === document.activeElement), true, 'the focus stays');
    assert.equal(await card.locator('[data-testid="accept"], [data-testid="decline"]').count(), 0);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await by('copy-typed').click();
    await card.getByText('Copied', { exact: true }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'Not in this folder');
    assert.deepEqual(hub.all('answerPrompt'), []);
  },
);
