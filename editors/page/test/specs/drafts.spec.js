// After a reload the draft of an answer is still there, as long as the hub and the question are the same.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { prompts, server } from '../harness/world.js';

const asked = { servers: [server('booking')], prompts: [prompts.form, prompts.sampling, prompts.input] };

mainTest(
  'drafts of forms and of answers by hand outlive a reload, secrets do not',
  { snapshot: asked, surface: { model: 'Model A' } },
  async ({ by, page, settle }) => {
    await by('prompt-p-form').getByLabel('Full name').first().fill('Ada Lovelace');
    await by('prompt-p-sampling').getByText('Answer by hand').click();
    await by('prompt-p-sampling').getByLabel('Answer', { exact: true }).fill('A request can be stopped.');
    await by('prompt-p-sampling').getByLabel('Model, or who answers').fill('Ada');
    await by('prompt-p-input').locator('input').first().fill('hunter2');
    await settle(); // 50 ms: a reload does not wait for a person to pause
    await page.reload();
    const name = by('prompt-p-form').getByLabel('Full name').first();
    await name.waitFor();
    await settle();
    assert.equal(await name.inputValue(), 'Ada Lovelace');
    const answer = by('prompt-p-sampling').getByLabel('Answer', { exact: true });
    assert.equal(await answer.isVisible(), true, 'what holds a draft is open');
    assert.equal(await answer.inputValue(), 'A request can be stopped.');
    assert.equal(await by('prompt-p-sampling').getByLabel('Model, or who answers').inputValue(), 'Ada');
    assert.equal(await by('prompt-p-input').locator('input').first().inputValue(), '');
  },
);

pageTest(
  'a draft goes with its question, and with its hub, where another question may have its id',
  { snapshot: asked },
  async ({ by, hub, page, pass, settle }) => {
    const name = by('prompt-p-form').getByLabel('Full name').first();
    await name.fill('Ada');
    await pass(500);
    await settle();
    hub.hubId = 'another';
    await page.reload();
    await name.waitFor();
    await settle();
    assert.equal(await name.inputValue(), '', 'of another hub');
    await name.fill('Bob');
    await pass(500);
    await hub.say({ promptClosed: { promptId: 'p-form', cause: 'PROMPT_CAUSE_WITHDRAWN' } });
    await settle();
    await page.reload(); // the scripted hub's snapshot still has the question with the same id
    await name.waitFor();
    await settle();
    assert.equal(await name.inputValue(), '', 'of a question that was closed');
  },
);

pageTest(
  'the reason for a no outlives a reload, and is what Deny sends then',
  { snapshot: { servers: [server('files')], prompts: [prompts.approval] } },
  async ({ by, hub, page, pass, settle }) => {
    const card = by('prompt-p-approval');
    const field = card.getByLabel('Reason', { exact: true });
    await card.getByTestId('card-more').click();
    await card.getByTestId('deny-with-reason').click();
    await field.fill('Not in this folder');
    await pass(500);
    await settle();
    await page.reload();
    await card.waitFor();
    await settle();
    assert.equal(await field.isVisible(), true, 'what holds a draft is open');
    assert.equal(await field.inputValue(), 'Not in this folder');
    await by('decline').click();
    const { answerPrompt } = await hub.next('answerPrompt');
    assert.deepEqual(answerPrompt.decline, { reason: 'Not in this folder' });
  },
);

const models = ['a', 'b', 'c'].map((id) => ({ id, name: `Model ${id}`, family: id }));

pageTest(
  'what is edited of a completion outlives a reload, with the chosen model, and is what is sent',
  { snapshot: { servers: [server('review')], prompts: [prompts.sampling] }, surface: { models } },
  async ({ by, hub, page, pass, settle }) => {
    const card = by('prompt-p-sampling');
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByLabel('Message 1, user').fill('Summarise the tests.');
    await card.getByLabel('Max tokens').fill('250');
    await by('model').selectOption('b');
    await pass(500);
    await settle();
    await page.reload();
    await card.waitFor();
    await pass(1000);
    assert.equal(await card.getByLabel('Message 1, user').inputValue(), 'Summarise the tests.');
    assert.equal(await card.getByLabel('Message 1, user').isVisible(), true, 'what holds a draft is open');
    assert.equal(await card.getByLabel('System prompt').inputValue(), 'You are terse.');
    assert.equal(await by('model').inputValue(), 'b');
    assert.equal(await by('accept').innerText(), 'Run with Model b');
    await by('accept').click();
    const sent = (await hub.next('answerPrompt')).answerPrompt.accept?.requestJson ?? '';
    assert.match(sent, /"text":"Summarise the tests\."/);
    assert.match(sent, /"maxTokens":250/);
    assert.match(sent, /"hints":\[\{"name":"b"\},\{"name":"fast"\}\]/);
  },
);

pageTest(
  'a model that is chosen alone outlives a reload, and opens nothing',
  { snapshot: { servers: [server('review')], prompts: [prompts.sampling] }, surface: { models } },
  async ({ by, page, pass, settle }) => {
    await by('model').selectOption('c');
    await pass(500);
    await settle();
    await page.reload();
    await by('model').waitFor();
    await settle();
    assert.equal(await by('accept').innerText(), 'Run with Model c');
    assert.equal(await by('prompt-p-sampling').getByLabel('Answer', { exact: true }).isVisible(), false);
    assert.equal(await by('prompt-p-sampling').getByLabel('Max tokens').isVisible(), false);
  },
);

pageTest(
  'a draft of a completion that does not parse is ignored',
  { snapshot: { servers: [server('review')], prompts: [prompts.sampling] }, surface: { kind: 'web' } },
  async ({ by, page, pass, settle }) => {
    const answer = by('prompt-p-sampling').getByLabel('Answer', { exact: true });
    await answer.fill('A request can be stopped.');
    await pass(500);
    await settle();
    const spoilt = await page.evaluate(() => {
      for (const [key, kept] of Object.entries(sessionStorage))
        sessionStorage.setItem(key, String(kept).replace('can be stopped.\\"', 'can be stopped.'));
      return JSON.stringify(sessionStorage).includes('can be stopped.,');
    });
    assert.equal(spoilt, true);
    await page.reload();
    await answer.waitFor();
    await settle();
    assert.equal(await answer.inputValue(), '');
    assert.equal(await by('prompt-p-sampling').getByLabel('Model, or who answers').inputValue(), 'human');
  },
);
