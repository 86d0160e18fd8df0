// Resources, templates and prompts of a server: finding, reading, filling in, subscribing. Their contents can do
// nothing.

import assert from 'node:assert/strict';
import { carryOut, offer, offering, resource, someOffers } from '../harness/offers.js';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { png } from '../harness/results.js';
import { server } from '../harness/world.js';

/** @typedef {import('../harness/pagetest.js').Opened} Opened */

const setup = { snapshot: { servers: [offering('files')] }, viewport: { width: 480, height: 1600 } };

/** Unfolds a server, and one of its lists. @param {Opened} opened @param {string} list */
async function unfold({ by, settle }, list) {
  await by('server-files').getByRole('button').first().click();
  await by(list === 'mcp-prompts' ? 'tab-prompts' : 'tab-resources').click();
  await settle();
}

mainTest(
  'a resource is found, read by the results’ view, and read again; the read can be stopped',
  setup,
  async (opened) => {
    const { by, hub, page, settle } = opened;
    offer(hub);
    await unfold(opened, 'resources');
    assert.equal(hub.all('listMcpPrompts').length, 0, 'what nobody looks at is not listed');
    const row = by('resource-file:///notes.md');
    assert.match(await row.innerText(), /Notes\s+What was decided\.\s+text\/markdown, 2\.1 kB/);
    await row.getByRole('button').first().click();
    await row.getByText('Details', { exact: true }).click();
    const body = await row.innerText();
    for (const part of [
      /What was decided\./,
      /file:\/\/\/notes\.md/,
      /For\s+user/,
      /Priority\s+0\.8/,
      /Modified\s+.*\b2026\b/,
    ])
      assert.match(body, part);
    await row.getByTestId('ask').click();
    const first = (await hub.next('readResource')).readResource;
    assert.equal(first.uri, 'file:///notes.md');
    await carryOut(hub, { requestId: first.requestId ?? '', method: 'resources/read', subject: 'file:///notes.md' });
    await settle();
    assert.match(await row.innerText(), /Cancel\s.*Running/s, 'beside the button');
    await by(`request-${first.requestId}`).getByTestId('cancel-more').click();
    await by('cancel-with-reason').click();
    await by(`request-${first.requestId}`).getByRole('textbox').fill('wrong file');
    await page.keyboard.press('Enter');
    assert.deepEqual((await hub.next('cancelMcpRequest')).cancelMcpRequest, {
      requestId: first.requestId,
      reason: 'wrong file',
    });
    await hub.say({
      mcpRequestCancelled: {
        requestId: first.requestId ?? '',
        server: 'files',
        direction: 'REQUEST_DIRECTION_OUTGOING',
        method: 'resources/read',
        subject: 'file:///notes.md',
        cancellation: { origin: 'ORIGIN_USER', reason: 'wrong file' },
      },
    });
    await settle();
    assert.match(await row.innerText(), /Cancelled.*by you: wrong file/s);

    await row.getByTestId('ask').click();
    const { readResource } = await hub.next('readResource');
    await carryOut(
      hub,
      { requestId: readResource.requestId ?? '', method: 'resources/read', subject: 'file:///notes.md' },
      {
        contents: [
          { uri: 'file:///notes.md', mimeType: 'text/markdown', text: '# Decided\n\n- blue' },
          { uri: 'file:///p.png', mimeType: 'image/png', blob: png(40, 20) },
          { uri: 'file:///x.txt', mimeType: 'text/plain', blob: '/w==' },
          { uri: 'file:///y.txt', mimeType: 'text/plain', text: 'a\u202eb\u0000c' },
        ],
      },
    );
    await row.getByRole('heading', { name: 'Decided' }).waitFor();
    await row.getByTestId('picture').waitFor();
    assert.match(await row.innerText(), /text\/plain, 1 byte/, 'bytes that are called text');
    assert.match(await row.innerText(), /a⟨U\+202E⟩b⟨U\+0000⟩c/);
    await page.keyboard.press('Escape');
    await by('resource-javascript:alert(1)').getByRole('button').first().click();
    assert.equal(await by('resource-javascript:alert(1)').locator('a').count(), 0, 'an address is no link');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await by(`ended-${readResource.requestId}`).click();
    await by('again').click();
    const again = (await hub.next('readResource')).readResource;
    assert.equal(again.uri, 'file:///notes.md');
    assert.notEqual(again.requestId, readResource.requestId);
  },
);

pageTest('a change of what is subscribed to is one mark, until it is read again', setup, async (opened) => {
  const { by, hub, settle } = opened;
  offer(hub);
  await unfold(opened, 'resources');
  const row = by('resource-db://orders');
  await row.getByRole('button').first().click();
  await row.getByTestId('subscribe').click();
  assert.deepEqual((await hub.next('subscribeResource')).subscribeResource, { server: 'files', uri: 'db://orders' });
  await settle();
  const head = row;
  assert.match(await head.innerText(), /Subscribed/);
  await hub.say({ resourceUpdated: { server: 'files', uri: 'db://orders.old' } });
  await hub.say({ resourceUpdated: { server: 'other', uri: 'db://orders' } });
  await settle();
  assert.match(await head.innerText(), /Subscribed/, 'of another resource');
  for (let i = 0; i < 300; i++) void hub.say({ resourceUpdated: { server: 'files', uri: `db://orders/${i}` } });
  await settle();
  assert.match(await head.innerText(), /Changed since you read it/);
  assert.equal(hub.all('readResource').length, 0, 'nothing is read by itself');
  assert.equal(hub.all('listResources').length, 1, 'nor listed');

  await row.getByTestId('ask').click();
  const read = (await hub.next('readResource')).readResource;
  const of = { requestId: read.requestId ?? '', method: 'resources/read', subject: 'db://orders' };
  await carryOut(hub, of);
  await hub.say({ resourceUpdated: { server: 'files', uri: 'db://orders' } });
  await carryOut(hub, of, { contents: [] });
  await settle();
  assert.match(await head.innerText(), /Subscribed/, 'it was read after that');
  await hub.say({ resourceUpdated: { server: 'files', uri: 'db://orders' } });
  await settle();
  await row.getByTestId('subscribe').click();
  assert.deepEqual((await hub.next('unsubscribeResource')).unsubscribeResource, {
    server: 'files',
    uri: 'db://orders',
  });
  await settle();
  assert.doesNotMatch(await head.innerText(), /Subscribed|Changed/);
});

pageTest('a change while it is read is not in what was read', setup, async (opened) => {
  const { by, hub, settle } = opened;
  offer(hub);
  await unfold(opened, 'resources');
  const row = by('resource-db://orders');
  await row.getByRole('button').first().click();
  await row.getByTestId('subscribe').click();
  await hub.next('subscribeResource');
  await settle();
  const requestId = 'r-1';
  await carryOut(hub, { requestId, method: 'resources/read', subject: 'db://orders' });
  await hub.say({ resourceUpdated: { server: 'files', uri: 'db://orders' } });
  await hub.say({
    mcpRequestFinished: {
      requestId,
      server: 'files',
      method: 'resources/read',
      subject: 'db://orders',
      state: 'REQUEST_STATE_DONE',
      direction: 'REQUEST_DIRECTION_OUTGOING',
    },
  });
  await settle();
  assert.match(await row.innerText(), /Changed since you read it/);
});

pageTest(
  'what the window is subscribed to is in its snapshot, and listed when the server does not list it',
  {
    ...setup,
    snapshot: {
      servers: [offering('files')],
      subscriptions: [{ server: 'files', uri: 'file:///made/from/a/template' }],
    },
  },
  async (opened) => {
    const { by, hub, settle } = opened;
    offer(hub);
    await unfold(opened, 'resources');
    const row = by('resource-file:///made/from/a/template');
    assert.match(await row.innerText(), /Subscribed/);
    await hub.say({ dropped: { notices: '12' } });
    await settle();
    assert.match(await row.innerText(), /May have changed since you read it/, 'what was dropped may have been of it');
  },
);

pageTest('a template is filled in with proposals, by keyboard alone', setup, async (opened) => {
  const { by, hub, page, settle, pass } = opened;
  offer(hub);
  await unfold(opened, 'templates');
  await by('template-file:///{folder}/{name}').getByRole('button').first().click();
  const folder = page.getByRole('combobox', { name: 'folder' });
  await folder.focus();
  await page.keyboard.type('ja');
  await pass(250);
  const asked = (await hub.next('complete')).complete;
  assert.deepEqual(asked, {
    server: 'files',
    uriTemplate: 'file:///{folder}/{name}',
    argument: 'folder',
    value: 'ja',
    context: {},
  });
  assert.equal(await folder.getAttribute('aria-expanded'), 'true');
  const options = page.getByRole('option');
  assert.deepEqual(await options.allInnerTexts(), ['java', 'javascript']);
  await page.keyboard.press('ArrowUp');
  const active = () =>
    page.evaluate(() => {
      const id = document.activeElement?.getAttribute('aria-activedescendant') ?? '';
      return document.getElementById(id)?.textContent ?? '';
    });
  assert.equal(await active(), 'javascript');
  await page.keyboard.press('ArrowDown');
  assert.equal(await active(), 'java');
  await page.keyboard.press('Enter');
  assert.equal(await folder.inputValue(), 'java');
  assert.equal(await folder.getAttribute('aria-expanded'), 'false');
  await pass(400);
  assert.equal(hub.all('complete').length, 1, 'what was taken is not asked about again');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  const second = (await hub.next('complete')).complete;
  assert.deepEqual([second.argument, second.value, second.context], ['name', '', { folder: 'java' }]);
  await settle();
  await page.keyboard.press('Escape');
  assert.equal(await page.getByRole('option').count(), 0);
  await page.keyboard.type('a b');
  await page.keyboard.press('Enter');
  assert.deepEqual((await hub.next('expandUriTemplate')).expandUriTemplate, {
    uriTemplate: 'file:///{folder}/{name}',
    values: { folder: 'java', name: 'a b' },
  });
  const { readResource } = await hub.next('readResource');
  assert.equal(readResource.uri, 'file:///java/a%20b');
  await carryOut(
    hub,
    { requestId: readResource.requestId ?? '', method: 'resources/read', subject: readResource.uri ?? '' },
    { contents: [{ uri: readResource.uri, text: 'found' }] },
  );
  await pass(300);
  await by('template-file:///{folder}/{name}').getByText('found', { exact: true }).waitFor();
  await by('template-file:///{folder}/{name}').getByTestId('subscribe').click();
  assert.equal((await hub.next('subscribeResource')).subscribeResource.uri, 'file:///java/a%20b');
  await page.keyboard.press('Escape');
  await by('template-x:{!y}').getByRole('button').first().click();
  assert.match(await by('template-x:{!y}').innerText(), /cannot be filled in: unimplemented operator/);
  assert.equal(await by('template-x:{!y}').getByTestId('ask').count(), 0);
});

pageTest(
  'proposals that nobody waits for are withdrawn; those that are huge, odd or never come cost nothing',
  setup,
  async (opened) => {
    const { by, hub, page, pass, settle } = opened;
    offer(hub);
    hub.silent.add('complete');
    await unfold(opened, 'mcp-prompts');
    await by('mcp-prompt-review').getByRole('button').first().click();
    const language = page.getByRole('combobox', { name: /language/ });
    await language.focus();
    for (const letter of 'gopher') {
      await page.keyboard.type(letter);
      await page.clock.runFor(20);
    }
    await pass(250);
    const first = await hub.next('complete');
    assert.equal(first.complete.value, 'gopher', 'one question for a word');
    await page.keyboard.type('s');
    assert.deepEqual((await hub.next('giveUp')).giveUp, { messageId: first.messageId });
    await pass(250);
    const second = await hub.next('complete');
    await hub.reply(first, { complete: { resultJson: '{"completion":{"values":["late"]}}' } });
    await settle();
    assert.equal(await page.getByRole('option').count(), 0, 'what comes late is of nothing that is typed');
    await page.keyboard.press('Tab');
    assert.deepEqual((await hub.next('giveUp')).giveUp, { messageId: second.messageId });

    /** @param {string} resultJson */
    const propose = async (resultJson) => {
      await language.focus();
      await page.keyboard.press('ArrowDown');
      await hub.reply(await hub.next('complete'), { complete: { resultJson } });
      await settle();
      const shown = await page.getByRole('option').allInnerTexts();
      if (shown.length > 0) await page.keyboard.press('Escape');
      return shown;
    };
    const of = (/** @type {string[]} */ values) => JSON.stringify({ completion: { values, hasMore: true } });
    assert.deepEqual(await propose(of(['x'.repeat(2_000_000)])), []);
    assert.match(await by('mcp-prompt-review').innerText(), /suggestions of the server are too long/);
    assert.deepEqual(await propose(of(['ok', 'ok', 'y'.repeat(5000), 'a\u202eb', 'two\nlines', ''])), ['ok']);
    assert.equal((await propose(of(Array.from({ length: 9000 }, (_, i) => `v${i}`)))).length, 100);
    assert.deepEqual(await propose('{"completion":7}'), []);
    assert.deepEqual(await propose('no json'), []);
    assert.match(await by('mcp-prompt-review').innerText(), /did not return a list of suggestions/);
    await language.focus();
    await page.keyboard.press('ArrowDown');
    await hub.reply(await hub.next('complete'), {
      error: { code: 'UNAVAILABLE', reason: 'SERVER_FAILED', message: 'the server "files" has ended' },
    });
    await settle();
    assert.match(await by('mcp-prompt-review').innerText(), /the server "files" has ended/);
  },
);

pageTest('a click takes a proposal, unless the list has only just come under it', setup, async (opened) => {
  const { by, hub, page, pass } = opened;
  offer(hub);
  await unfold(opened, 'mcp-prompts');
  await by('mcp-prompt-review').getByRole('button').first().click();
  const language = page.getByRole('combobox', { name: /language/ });
  await language.focus();
  await page.keyboard.type('g');
  await pass(250);
  await hub.next('complete');
  const option = page.getByRole('option').first();
  const proposed = await option.innerText();
  await option.click();
  assert.equal(await language.inputValue(), 'g', 'the click was meant for what the list covers');
  await pass(500);
  await option.click();
  assert.equal(await language.inputValue(), proposed);
  assert.equal(await page.getByRole('option').count(), 0);
});

mainTest('a prompt is filled, says what is missing, and is filled again from the history', setup, async (opened) => {
  const { by, hub, page, settle } = opened;
  offer(hub);
  await unfold(opened, 'mcp-prompts');
  const row = by('mcp-prompt-review');
  await row.getByRole('button').first().click();
  await row.getByTestId('ask').click();
  await settle();
  assert.match(await row.innerText(), /This is required\./);
  assert.equal(hub.all('getMcpPrompt').length, 0);
  const language = page.getByRole('combobox', { name: /language/ });
  assert.equal(await language.getAttribute('aria-invalid'), 'true');
  assert.ok(await language.evaluate((element) => element === document.activeElement));
  await page.keyboard.type('go');
  await page.keyboard.press('Enter');
  const { getMcpPrompt } = await hub.next('getMcpPrompt');
  assert.deepEqual(getMcpPrompt.arguments, { language: 'go' });
  const of = { requestId: getMcpPrompt.requestId ?? '', method: 'prompts/get', subject: 'review' };
  const resultJson = JSON.stringify({
    messages: [{ role: 'user', content: { type: 'text', text: 'Review this **Go** code.' } }],
  });
  await carryOut(hub, of);
  await row.getByText('Running', { exact: true }).waitFor();
  await language.fill('');
  // A second request lacks a required value, and the first one goes on. With the key: proposals may cover the button.
  await row.getByTestId('ask').press('Enter');
  await settle();
  assert.match(await row.innerText(), /This is required\./);
  await hub.say({
    mcpRequestFinished: {
      ...of,
      server: 'files',
      state: 'REQUEST_STATE_DONE',
      direction: 'REQUEST_DIRECTION_OUTGOING',
      resultJson,
      resultSizeBytes: String(resultJson.length),
      argumentsPreview: 'language: "go"',
    },
  });
  await row.getByText('Review this **Go** code.').waitFor();
  hub.kept[`${of.requestId} ARGUMENTS`] = '{"language":"go","n":1}';
  await page.keyboard.press('Escape');
  await by('mcp-prompt-plain').getByRole('button').first().click();
  await by('mcp-prompt-plain').getByTestId('ask').click();
  assert.deepEqual((await hub.next('getMcpPrompt')).getMcpPrompt.arguments, {});
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await by(`ended-${of.requestId}`).click();
  await by('again').click();
  const again = (await hub.next('getMcpPrompt')).getMcpPrompt;
  assert.deepEqual([again.name, again.arguments], ['review', { language: 'go', n: '' }]);
});

pageTest('50,000 resources are a thousand, a few rows, and a search at the hub', setup, async (opened) => {
  const { by, hub, page, pass, settle } = opened;
  const offers = someOffers();
  offers.resources = Array.from({ length: 50_000 }, (_, i) => resource(`file:///${i}`));
  offer(hub, offers);
  await unfold(opened, 'resources');
  const list = by('resources');
  assert.match(await list.innerText(), /These are the first 1000 of 50000/);
  assert.equal(await list.locator('li').count(), 100);
  await list.getByRole('button', { name: 'Show more (900)' }).click();
  assert.equal(await list.locator('li').count(), 600);
  assert.ok(await page.evaluate(() => document.activeElement?.textContent.includes('100')));
  await list.getByRole('searchbox').fill('4999');
  await pass(350);
  const asked = hub.all('listResources').at(-1)?.listResources;
  assert.deepEqual(asked, { server: 'files', query: '4999' });
  await settle();
  assert.equal(await list.locator('li').count(), 15);
});

pageTest('what a server writes into names and icons costs nothing and does nothing', setup, async (opened) => {
  const { by, hub, page } = opened;
  const long = 'n'.repeat(100_000);
  const offers = someOffers();
  offers.resources = [
    resource('file:///long', { name: long, title: long, mimeType: long, description: long }),
    resource(
      'file:///evil',
      { name: '<img src=x onerror=window.pwned=1>' },
      {
        icons: [{ src: 'https://tracker.example/i.png' }, { src: 'data:image/svg+xml;base64,PHN2Zy8+' }, { src: 7 }],
        annotations: { audience: 'all', priority: 'high', lastModified: 'never' },
      },
    ),
    resource('file:///icon', {}, { icons: [{ src: `data:image/png;base64,${png(16, 16)}` }] }),
  ];
  offers.prompts = [
    {
      server: 'files',
      name: long,
      definitionJson: 'no json',
      arguments: Array.from({ length: 5000 }, (_, i) => ({ name: `a${i}` })),
    },
  ];
  offer(hub, offers);
  /** @type {string[]} */
  const fetched = [];
  page.on('request', (request) => fetched.push(request.url()));
  await unfold(opened, 'resources');
  assert.equal(await by('resources').locator('img').count(), 1, 'a picture that is given, and no other');
  for (const at of [0, 1, 2]) {
    await by('resources').locator('li').nth(at).getByRole('button').first().click();
    await page.keyboard.press('Escape');
  }
  await by('tab-prompts').click();
  await by('mcp-prompts').locator('li').first().getByRole('button').first().click();
  assert.match(await page.locator('#opened').innerText(), /takes more than 256 arguments/);
  assert.deepEqual(
    fetched.filter((url) => !url.startsWith('data:')),
    [],
  );
  assert.equal(await page.evaluate(() => 'pwned' in window), false);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  assert.equal(wide, false, 'nothing is wider than the page');
});

pageTest(
  'what a server does not have is not there; a list that has changed is listed again when it is in sight',
  { ...setup, snapshot: { servers: [server('files', { capabilitiesJson: '{"resources":{}}' })] } },
  async (opened) => {
    const { by, hub, page, settle } = opened;
    offer(hub);
    await unfold(opened, 'resources');
    assert.equal(await by('tab-prompts').isVisible(), false);
    await by('resource-db://orders').getByRole('button').first().click();
    assert.equal(await by('resource-db://orders').getByTestId('subscribe').isVisible(), false);
    await page.keyboard.press('Escape');
    await by('template-file:///{folder}/{name}').getByRole('button').first().click();
    assert.equal(await page.locator('#opened').getByRole('combobox').count(), 0, 'no proposals');
    await page.keyboard.press('Escape');
    const before = hub.all('listResources').length;
    await hub.say({ resourcesChanged: { server: 'files' } });
    await settle();
    assert.equal(hub.all('listResources').length, before + 1);
    assert.equal(hub.all('listMcpPrompts').length, 0);
    hub.answers.listResources = () => ({
      error: { code: 'UNAVAILABLE', reason: 'SERVER_FAILED', message: 'the server did not list its resources' },
    });
    await hub.say({ resourcesChanged: { server: 'files' } });
    await settle();
    assert.match(await by('resources').innerText(), /did not list its resources/);
    assert.ok(await by('resource-db://orders').isVisible(), 'what was known stays');
  },
);
