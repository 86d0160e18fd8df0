// A server that asks too often can be silenced and allowed to ask again, the page shows what its window did not get,
// and no long name fills the page.

import assert from 'node:assert/strict';
import { violations } from '../harness/axe.js';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { finished, prompts, request, server, tool } from '../harness/world.js';
import { choose, openServer } from '../harness/servers.js';

/** @param {import('../harness/pagetest.js').Page} page */
async function assertAccessible(page) {
  const found = (await violations(page)).map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join('\n')}`,
  );
  assert.deepEqual(found, []);
}

for (const name of /** @type {const} */ (['sampling', 'form', 'url'])) {
  const { promptId = '', server: asker = '' } = prompts[name];
  mainTest(
    `a ${name} question can be declined so that its server asks no more, once and by keyboard`,
    { snapshot: { servers: [server(asker)], prompts: [prompts[name]] } },
    async ({ by, hub, page, pass, settle }) => {
      const card = by(`prompt-${promptId}`);
      await card.waitFor();
      await pass(700);
      await card.getByTestId('card-more').focus();
      await page.keyboard.press('Enter');
      await card.getByRole('menuitem', { name: `Decline and silence ${asker}` }).press('Enter');
      const sent = await hub.next('answerPrompt');
      assert.deepEqual(sent.answerPrompt, { promptId, decline: {}, muteServer: true });
      await page.keyboard.press('Enter');
      await hub.reply(sent);
      await hub.say({
        promptClosed: { promptId, cause: 'PROMPT_CAUSE_DECLINED', windowId: hub.windowId, origin: 'ORIGIN_USER' },
      });
      await settle();
      assert.equal(await card.count(), 0);
      assert.equal(hub.all('answerPrompt').length, 1);
    },
  );
}

for (const name of /** @type {const} */ (['approval', 'signin', 'launch', 'input'])) {
  pageTest(
    `a ${name} question is none that a server asks by itself: there is nothing to silence`,
    { snapshot: { prompts: [prompts[name]] } },
    async ({ by }) => {
      const card = by(`prompt-${prompts[name].promptId}`);
      await card.getByTestId('decline').waitFor();
      await card.getByTestId('card-more').click();
      await card.getByRole('menuitem', { name: 'Dismiss' }).waitFor();
      assert.equal(await card.getByRole('menuitem', { name: /silence/i }).count(), 0);
    },
  );
}

pageTest(
  'a refusal to silence a server is told on the card, which can be answered again',
  { snapshot: { prompts: [prompts.form] } },
  async ({ by, hub, pass, settle }) => {
    const card = by('prompt-p-form');
    await pass(700);
    await card.getByTestId('card-more').click();
    await card.getByTestId('silence').click();
    await hub.reply(await hub.next('answerPrompt'), {
      error: { code: 'INTERNAL', reason: 'X', message: 'The disk is full.' },
    });
    await card.getByText('The disk is full.').waitFor();
    await card.getByTestId('decline').click();
    await settle();
    assert.deepEqual((await hub.next('answerPrompt')).answerPrompt, { promptId: 'p-form', decline: {} });
  },
);

const second = { ...prompts.form, promptId: 'p-second' };
pageTest(
  'the other questions of a server that is silenced here were not declined in another window',
  { snapshot: { servers: [server('booking')], prompts: [prompts.form, second] } },
  async ({ by, hub, pass, settle }) => {
    await pass(700);
    await by('prompt-p-form').getByTestId('card-more').click();
    await by('prompt-p-form').getByTestId('silence').click();
    await hub.reply(await hub.next('answerPrompt'));
    await hub.say({
      promptClosed: {
        promptId: 'p-second',
        cause: 'PROMPT_CAUSE_DECLINED',
        windowId: hub.windowId,
        origin: 'ORIGIN_USER',
        reason: 'the user wants no more questions of this server',
      },
    });
    await settle();
    assert.match(await by('note-p-second').innerText(), /Declined: the user wants no more questions/);
  },
);

pageTest(
  'a server says that its questions are silenced, and they are allowed again by one order',
  { snapshot: { servers: [server('booking', { questionsMuted: true }), server('files')] } },
  async (opened) => {
    const { by, hub, page, settle, focused } = opened;
    const row = by('server-booking');
    assert.match(await row.innerText(), /booking\s+questions are silenced/);
    await by('server-files').hover();
    await by('server-files').getByTestId('more').click();
    assert.equal(await page.getByRole('menuitem', { name: 'Allow questions' }).count(), 0);
    await page.keyboard.press('Escape');
    await openServer(opened, 'booking');
    await by('server-details').locator('summary').first().click();
    assert.match(await by('server').innerText(), /Questions\s+silenced: declined without asking you/);
    await assertAccessible(page);
    await choose(opened, 'booking', 'allow-questions');
    const sent = await hub.next('muteServer');
    assert.deepEqual(sent.muteServer, { server: 'booking', muted: false });
    await hub.reply(sent);
    await hub.say({ serverChanged: { server: server('booking') } });
    await settle();
    assert.doesNotMatch(await by('server').innerText(), /silenced/i);
    assert.match(await focused(), /booking/, 'the focus is not lost');
  },
);

pageTest(
  'what the window did not get is told, and tools are listed again when notices were among it',
  { snapshot: { servers: [server('files')] }, viewport: { width: 900, height: 900 } },
  async ({ by, hub, settle }) => {
    await by('server-files').getByRole('button').first().click();
    await hub.next('listTools');
    await settle();
    assert.equal(await by('dropped').isVisible(), false);
    await hub.say({ dropped: { logMessages: '40' } });
    await settle();
    assert.equal(await by('dropped').innerText(), 'Left out, since there were too many: 40 log messages.');
    assert.equal(hub.all('listTools').length, 1);
    await hub.say({ dropped: { logMessages: '2', notices: '1' } });
    await settle();
    assert.equal(
      await by('dropped').innerText(),
      'Left out, since there were too many: 42 log messages, 1 notice of a change.',
    );
    await hub.next('listTools');
  },
);

// Finding C9: long names.
const long = `evil${'x'.repeat(99_996)}`;
const longNames = {
  viewport: { width: 900, height: 1600 },
  tools: { files: [tool('files', long, { type: 'object' }, { title: long, description: 'Reads.' })] },
  snapshot: {
    servers: [server('files', { title: long })],
    requests: [
      request('r-long', { tool: long }),
      request('r-read', { method: 'resources/read', tool: '', subject: long }),
    ],
    prompts: [
      { ...prompts.approval, toolApproval: { ...prompts.approval.toolApproval, tool: long, title: long } },
      { ...prompts.form, server: 'files', parentRequestId: 'r-long' },
      {
        ...prompts.sampling,
        server: 'files',
        sampling: {
          requestJson: JSON.stringify({
            messages: [],
            tools: [{ name: long }],
            modelPreferences: { hints: [{ name: long }] },
          }),
        },
      },
    ],
    history: [finished('h-long', { tool: long })],
  },
};
pageTest(
  'a name of 100,000 characters is shown shortened with its length, and whole only where it is unfolded',
  longNames,
  async ({ by, page, settle }) => {
    await by('server-files').getByRole('button').first().click();
    await settle();
    await by(`tool-${long}`).getByRole('button').first().click();
    await by('ended-h-long').click();
    await settle();
    for (const id of [
      'request-r-long',
      'request-r-read',
      'prompt-p-approval',
      'prompt-p-form',
      'prompt-p-sampling',
      'ended-h-long',
    ]) {
      const text = await by(id).innerText();
      assert.match(text, /evilx{60}… \(100000 characters\)/, id);
      assert.doesNotMatch(text, /x{200}/, id);
    }
    const longest = () =>
      page.evaluate(() => {
        const texts = [
          document.body.innerText,
          ...[...document.querySelectorAll('[aria-label], [title]')].map(
            (e) => `${e.getAttribute('aria-label')} ${e.getAttribute('title')}`,
          ),
        ];
        return Math.max(
          ...texts
            .join('\n')
            .split(/[^x]/)
            .map((run) => run.length),
        );
      });
    assert.ok((await longest()) < 200, 'neither texts nor names for screen readers');
    assert.match(await page.locator('#polite').innerText(), /100000 characters/);

    await by('prompt-p-approval').locator('summary').filter({ hasText: '100000 characters' }).click();
    const whole = by('prompt-p-approval').getByRole('group', { name: 'Whole name' });
    assert.match(await whole.innerText(), /^evilx{65532} … and 34464 more characters$/);
    assert.ok(((await whole.boundingBox())?.height ?? 1e9) < 400, 'it scrolls in itself');
    await assertAccessible(page);
  },
);
