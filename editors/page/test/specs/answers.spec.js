// An answer is exactly one AttachRequest with exactly the user's choices.

import assert from 'node:assert/strict';
import { clickAnyway, mainTest, pageTest } from '../harness/pagetest.js';
import { membersOf } from '../harness/schema.js';
import { formSchema, prompts, promptNames, samplingRequest, server } from '../harness/world.js';

/**
 * @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').AcceptPromptJson} AcceptPromptJson
 * @typedef {import('../harness/pagetest.js').Locator} Locator
 * @typedef {import('../harness/world.js').PromptName} PromptName
 */

/** Fills in what a kind of prompt requires. @type {Record<PromptName, (card: Locator) => Promise<void>>} */
const fill = {
  approval: () => Promise.resolve(),
  sampling: async (card) => {
    const byHand = card
      .locator('summary, button')
      .filter({ hasText: /by hand/i })
      .first();
    if (
      (await byHand.count()) > 0
      && !(await card
        .getByRole('textbox', { name: /answer|reply|completion/i })
        .first()
        .isVisible())
    )
      await byHand.click();
    await card
      .getByRole('textbox', { name: /answer|reply|completion/i })
      .first()
      .fill('Two tests fail.');
  },
  form: async (card) => {
    await card.getByLabel('Full name').first().fill('Ada Lovelace');
    await card.getByLabel('E-mail').first().fill('ada@example.com');
  },
  url: () => Promise.resolve(),
  signin: () => Promise.resolve(),
  launch: () => Promise.resolve(),
  input: async (card) => {
    await card.locator('input').first().fill('s3cret');
  },
};

/** Checks the accept message of each kind. @type {Record<PromptName, (accept: AcceptPromptJson) => void>} */
const check = {
  approval: (accept) => assert.deepEqual(accept, { scope: 'APPROVAL_SCOPE_ONCE' }),
  sampling: ({ contentJson, ...rest }) => {
    assert.deepEqual(rest, {});
    const { model, ...result } = membersOf(contentJson);
    assert.deepEqual(result, {
      role: 'assistant',
      content: { type: 'text', text: 'Two tests fail.' },
      stopReason: 'endTurn',
    });
    assert.equal(typeof model, 'string');
    assert.notEqual(model, '');
  },
  form: ({ contentJson, ...rest }) => {
    assert.deepEqual(rest, {});
    const content = membersOf(contentJson);
    assert.equal(content['name'], 'Ada Lovelace');
    assert.equal(content['email'], 'ada@example.com');
    assert.equal(content['seats'], 2);
    assert.equal('plan' in content, false, 'what is optional and was not chosen is left out');
    assert.deepEqual(
      Object.keys(content).filter((key) => !(key in formSchema.properties)),
      [],
    );
  },
  url: (accept) => assert.deepEqual(accept, {}),
  signin: (accept) => assert.deepEqual(accept, {}),
  launch: (accept) => assert.deepEqual(accept, { scope: 'APPROVAL_SCOPE_ONCE' }),
  input: (accept) => assert.deepEqual(accept, { contentJson: '"s3cret"' }),
};

for (const name of promptNames) {
  const promptId = prompts[name].promptId ?? '';
  const setup = { snapshot: { servers: [server('files'), server('booking')], prompts: [prompts[name]] } };

  mainTest(
    `accept of ${name}: one message with just what was chosen, however often it is clicked`,
    setup,
    async ({ by, hub, page, pass, settle }) => {
      const card = by(`prompt-${promptId}`);
      await card.waitFor();
      await fill[name](card);
      await pass(700);
      const accept = card.locator('[data-testid="accept"]');
      await accept.dblclick({ force: true });
      await clickAnyway(accept);
      await page.keyboard.press('Enter');
      await settle();
      const sent = await hub.next('answerPrompt');
      assert.equal(sent.answerPrompt.promptId, promptId);
      assert.ok(sent.answerPrompt.accept);
      assert.ok(sent.messageId, 'the page wants to know what became of it');
      check[name](sent.answerPrompt.accept);
      for (const id of ['accept', 'decline'])
        assert.equal(
          await card.locator(`[data-testid="${id}"]:enabled:not([aria-disabled="true"])`).count(),
          0,
          `${id} while the reply is due`,
        );
      await clickAnyway(card.locator('[data-testid="decline"]'));
      await page.keyboard.press('Escape');
      await hub.reply(sent);
      await settle();
      await clickAnyway(card.locator('[data-testid="accept"]'));
      await hub.say({
        promptClosed: { promptId, cause: 'PROMPT_CAUSE_ANSWERED', windowId: hub.windowId, origin: 'ORIGIN_USER' },
      });
      await settle();
      assert.equal(await card.count(), 0);
      assert.equal(await by(`note-${promptId}`).count(), 0, 'who has answered here needs no note');
      assert.equal(hub.all('answerPrompt').length, 1, 'answered once');
    },
  );

  mainTest(`decline of ${name}: an explicit no, once`, setup, async ({ by, hub, pass, settle }) => {
    const card = by(`prompt-${promptId}`);
    await card.waitFor();
    await pass(700);
    await card.locator('[data-testid="decline"]').dblclick({ force: true });
    const sent = await hub.next('answerPrompt');
    assert.deepEqual(sent.answerPrompt, { promptId, decline: {} });
    await settle();
    assert.equal(hub.all('answerPrompt').length, 1);
  });

  mainTest(`dismiss of ${name}: neither yes nor no, once`, setup, async ({ by, hub, pass, settle }) => {
    const card = by(`prompt-${promptId}`);
    await card.waitFor();
    await pass(700);
    await card.getByTestId('card-more').click();
    await card.getByRole('menuitem', { name: 'Dismiss' }).dblclick({ force: true });
    const sent = await hub.next('answerPrompt');
    assert.deepEqual(sent.answerPrompt, { promptId, dismiss: {} });
    await settle();
    assert.equal(hub.all('answerPrompt').length, 1);
  });

  mainTest(
    `${name} was answered elsewhere meanwhile: a note says so, and the card goes`,
    setup,
    async ({ by, hub, pass, settle }) => {
      const card = by(`prompt-${promptId}`);
      await card.waitFor();
      await pass(700);
      await card.locator('[data-testid="decline"]').click();
      const sent = await hub.next('answerPrompt');
      await hub.reply(sent, {
        error: {
          code: 'NOT_FOUND',
          reason: 'PROMPT_CLOSED',
          message: 'The prompt is closed: another window has answered it.',
        },
      });
      await settle();
      assert.equal(await card.locator('[data-testid="accept"]:enabled:not([aria-disabled="true"])').count(), 0);
      await hub.say({
        promptClosed: { promptId, cause: 'PROMPT_CAUSE_ANSWERED', windowId: 'window-2', origin: 'ORIGIN_USER' },
      });
      await settle();
      assert.equal(await card.count(), 0);
      assert.match(await by(`note-${promptId}`).innerText(), /Answered in another window\./);
      assert.equal(hub.all('answerPrompt').length, 1);
    },
  );
}

for (const name of /** @type {PromptName[]} */ (['form', 'sampling', 'input'])) {
  const promptId = prompts[name].promptId ?? '';
  pageTest(
    `content of ${name} that the hub refuses: the card says why, keeps what was typed, and can be answered again`,
    { snapshot: { prompts: [prompts[name]] } },
    async ({ by, hub, pass, settle }) => {
      const card = by(`prompt-${promptId}`);
      await card.waitFor();
      await fill[name](card);
      await pass(700);
      await card.locator('[data-testid="accept"]').click();
      const first = await hub.next('answerPrompt');
      await hub.reply(first, {
        error: {
          code: 'INVALID_ARGUMENT',
          reason: 'INVALID_CONTENT',
          message: 'The content does not fit: it is one of a kind.',
        },
      });
      await card.getByText('it is one of a kind').first().waitFor();
      await pass(700);
      await card.locator('[data-testid="accept"]').click();
      const second = await hub.next('answerPrompt');
      assert.ok(second.answerPrompt.accept);
      check[name](second.answerPrompt.accept);
      await settle();
      assert.equal(hub.all('answerPrompt').length, 2);
    },
  );
}

mainTest(
  'Deny with a reason sends the reason',
  { snapshot: { prompts: [prompts.approval] } },
  async ({ by, hub, pass }) => {
    const card = by('prompt-p-approval');
    await card.waitFor();
    await pass(700);
    await card.getByTestId('card-more').click();
    await card.getByRole('menuitem', { name: 'Deny with a reason…' }).click();
    const field = card.getByRole('textbox', { name: 'Reason' });
    await field.fill('not this file');
    await card.locator('[data-testid="decline"]').click();
    const sent = await hub.next('answerPrompt');
    assert.deepEqual(sent.answerPrompt, { promptId: 'p-approval', decline: { reason: 'not this file' } });
  },
);

mainTest(
  'what a program wrote is named with its writer, and agreed to with the hash of what was shown',
  {
    snapshot: {
      prompts: [
        {
          ...prompts.launch,
          serverLaunch: { ...prompts.launch.serverLaunch, writtenBy: { name: 'McpHub \u202eitself' } },
        },
      ],
    },
  },
  async ({ by, hub, pass }) => {
    const card = by('prompt-p-launch');
    await pass(700);
    const text = await card.innerText();
    assert.match(text, /The program “McpHub .*itself” wrote the entry of this server/u);
    assert.doesNotMatch(text, /\u202e/u);
    assert.doesNotMatch(text, /A file of this workspace/u);
    await card.locator('[data-testid="accept"]').click();
    const sent = await hub.next('answerPrompt');
    assert.deepEqual(sent.answerPrompt, {
      promptId: 'p-launch',
      accept: { scope: 'APPROVAL_SCOPE_ONCE', launchHash: 'def' },
    });
  },
);

for (const [name, scopes] of /** @type {[PromptName, string[]][]} */ ([
  ['approval', ['APPROVAL_SCOPE_WINDOW', 'APPROVAL_SCOPE_WORKSPACE', 'APPROVAL_SCOPE_ALWAYS']],
  ['launch', ['APPROVAL_SCOPE_WINDOW', 'APPROVAL_SCOPE_WORKSPACE', 'APPROVAL_SCOPE_ALWAYS']],
])) {
  mainTest(
    `${name} can be allowed for longer, and each scope is the one that was chosen`,
    { snapshot: { prompts: [] } }, // otherwise a closed card that goes moves the next one
    async ({ by, hub, pass }) => {
      for (const scope of scopes) {
        const promptId = `p-${scope}`;
        await hub.say({ promptOpened: { prompt: { ...prompts[name], promptId } } });
        const card = by(`prompt-${promptId}`);
        await pass(700);
        await card.getByRole('button', { name: 'How long it holds' }).press('Enter');
        await card.getByTestId(scope).press('Enter');
        const sent = await hub.next('answerPrompt');
        assert.deepEqual(sent.answerPrompt, { promptId, accept: { scope } });
        await hub.reply(sent);
        await hub.say({
          promptClosed: { promptId, cause: 'PROMPT_CAUSE_ANSWERED', windowId: hub.windowId, origin: 'ORIGIN_USER' },
        });
      }
    },
  );
}

const models = [
  { id: 'small-2', name: 'Small Model 2', family: 'small' },
  { id: 'large-9', name: 'Large Model 9', family: 'large' },
];
pageTest(
  'sampling with several models: the one that the server would like is offered, and another can be chosen',
  {
    snapshot: {
      prompts: [
        {
          ...prompts.sampling,
          sampling: {
            requestJson:
              '{"messages":[{"role":"user","content":{"type":"text","text":"Hi"}}],"maxTokens":100,"modelPreferences":{"hints":[{"name":"large"}],"costPriority":0.50}}',
          },
        },
      ],
    },
    surface: { model: 'Small Model 2', models },
  },
  async ({ by, hub, pass }) => {
    const card = by('prompt-p-sampling');
    await pass(700);
    assert.equal(await card.getByTestId('accept').innerText(), 'Run with Large Model 9');
    await card.getByRole('combobox', { name: 'Model' }).selectOption('Small Model 2');
    assert.equal(await card.getByTestId('accept').innerText(), 'Run with Small Model 2');
    await pass(700);
    await card.getByTestId('accept').click();
    const { accept } = (await hub.next('answerPrompt')).answerPrompt;
    assert.match(accept?.requestJson ?? '', /"hints":\[\{"name":"small-2"\},\{"name":"large"\}\],"costPriority":0\.50/);
  },
);

pageTest(
  'sampling with a model: unedited, the request goes back byte for byte, and the card says that the model runs',
  { snapshot: { prompts: [prompts.sampling] }, surface: { model: 'Small Model 2' } },
  async ({ by, hub, pass, settle }) => {
    const card = by('prompt-p-sampling');
    await card.waitFor();
    await pass(700);
    await card.getByRole('button', { name: 'Run with Small Model 2' }).click();
    const sent = await hub.next('answerPrompt');
    assert.equal(sent.answerPrompt.accept?.requestJson, samplingRequest);
    assert.equal(sent.answerPrompt.accept.contentJson ?? '', '');
    await settle();
    await card.getByText('Running the model…').waitFor();
  },
);

pageTest(
  'sampling with edit: only what was edited is changed',
  { snapshot: { prompts: [prompts.sampling] }, surface: { model: 'Small Model 2' } },
  async ({ by, hub, pass }) => {
    const card = by('prompt-p-sampling');
    await card.waitFor();
    await pass(700);
    const edit = card.locator('button, summary').filter({ hasText: /edit/i }).first();
    if ((await edit.count()) > 0) await edit.click();
    const field = card.getByRole('textbox', { name: /system prompt/i });
    await field.fill('You are kind.');
    await pass(700);
    await card.getByRole('button', { name: 'Run with Small Model 2' }).click();
    const sent = await hub.next('answerPrompt');
    assert.deepEqual(membersOf(sent.answerPrompt.accept?.requestJson), {
      ...membersOf(samplingRequest),
      systemPrompt: 'You are kind.',
    });
    assert.match(sent.answerPrompt.accept?.requestJson ?? '', /"speedPriority":\s*1\.0/, 'numbers keep their spelling');
  },
);

mainTest(
  'a held Enter opens the menu of scopes, and its repeats choose none',
  { snapshot: { prompts: [prompts.approval] } },
  async ({ by, focused, hub, page, pass, settle }) => {
    await pass(700);
    await by('scopes').focus();
    for (let held = 0; held < 4; held++) await page.keyboard.down('Enter'); // after the first, these are its repeats
    await settle();
    assert.match(await focused(), /Allow for this window/);
    assert.deepEqual(hub.all('answerPrompt'), []);
    await page.keyboard.up('Enter');
    await page.keyboard.press('Enter');
    assert.deepEqual((await hub.next('answerPrompt')).answerPrompt.accept, { scope: 'APPROVAL_SCOPE_WINDOW' });
  },
);
