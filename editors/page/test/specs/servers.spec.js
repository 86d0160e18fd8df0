// What the page shows of a server: its state in the row, and in the details its era, its last error and its output.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { filesTools, prompts, request, server, tool } from '../harness/world.js';
import { choose, openServer, openTool } from '../harness/servers.js';

const setup = {
  snapshot: {
    servers: [
      server('files', {
        protocolRevision: '2025-06-18',
        era: 'ERA_LEGACY',
        stderr: ['reading /repos/shop', 'ready'],
        lastError: 'it had lost its connection',
        place: 1,
      }),
      server('docs', {
        protocolRevision: '2026-07-28',
        era: 'ERA_MODERN',
        transport: 'SERVER_TRANSPORT_HTTP',
        url: 'https://docs.example',
        command: '',
        place: 2,
      }),
      server('broken', {
        state: 'SERVER_STATE_GIVEN_UP',
        processId: 0,
        failures: 5,
        lastError: 'it ended with status 3 before it answered',
        lastExit: 'status 3',
        stderr: ['no token: set TOKEN'],
        place: 3,
      }),
    ],
  },
};

mainTest('a server shows its state, and opened its era, its last error and its stderr', setup, async (opened) => {
  const { by, page, settle } = opened;
  await settle();
  assert.equal((await by('server-files').innerText()).trim(), 'files', 'what is normal is not said');
  assert.match(await by('server-broken').innerText(), /broken\s+Stopped: status 3\s+Start/);

  const details = by('server-details');
  const facts = async (/** @type {string} */ name) => {
    await openServer(opened, name);
    const folded = (await details.getAttribute('open')) === null;
    if (folded) await details.locator('summary').click();
    const text = await by('server').innerText();
    await page.keyboard.press('Escape');
    return { folded, text };
  };
  const files = await facts('files');
  assert.match(files.text, /^Ready/);
  assert.match(files.text, /2025-06-18 · legacy/);
  assert.match(files.text, /Last error\s+it had lost its connection/);
  const docs = await facts('docs');
  assert.match(docs.text, /2026-07-28 · modern/);
  assert.match(docs.text, /Streamable HTTP · https:\/\/docs\.example/);
  const broken = await facts('broken');
  assert.match(broken.text, /Stopped: status 3\s+it ended with status 3 before it answered/);
  assert.deepEqual([files.folded, docs.folded, broken.folded], [true, true, false], 'why one does not run is told');

  await openServer(opened, 'broken');
  await by('tab-log').click();
  await by('server')
    .getByRole('region', { name: 'What broken writes to stderr' })
    .filter({ hasText: /^no token: set TOKEN$/ })
    .waitFor();
});

pageTest('what a server writes later stands behind what it wrote before', setup, async ({ by, hub, settle }) => {
  await by('server-files').getByRole('button').first().click();
  await by('tab-log').click();
  await hub.say({ logMessage: { server: 'files', level: 'stderr', dataJson: '"slow disk"' } });
  await settle();
  await by('server')
    .getByRole('region', { name: 'What files writes to stderr' })
    .filter({ hasText: /^reading \/repos\/shop\s+ready\s+slow disk$/ })
    .waitFor();
});

// A name that two config files of different scopes have: both entries are listed, and the details of one explain its
// name.
const both = [
  server('notes', { configName: 'notes', configScope: 'workspace' }),
  server('notes@user', { configName: 'notes', configScope: 'user' }),
];
pageTest(
  'of two servers of one name both are listed, and orders are for the one that is meant',
  { snapshot: { servers: both } },
  async (opened) => {
    const { by, hub, page } = opened;
    await openServer(opened, 'notes');
    await by('server-details').locator('summary').click();
    assert.doesNotMatch(await by('server').innerText(), /which another entry has by itself/);
    await page.keyboard.press('Escape');
    await openServer(opened, 'notes@user');
    await by('server-details').locator('summary').click();
    const text = await by('server').innerText();
    assert.match(text, /notes, which another entry has by itself: calls for notes@user reach this one/);
    await choose(opened, 'notes@user', 'disable-server');
    const sent = await hub.next('setServerEnabled');
    assert.deepEqual(sent.setServerEnabled, { server: 'notes@user', enabled: false });
  },
);

// Finding C3: a workspace's entry does not replace the user's before the user has agreed.
const waiting = server('shared', {
  configFile: '/config/mcp.json',
  configLine: 2,
  waitingForConsent: [{ file: '/repos/shop/.mcp.json', line: 7, scope: 'workspace' }],
});
pageTest(
  'an entry of the workspace that waits for a yes is told of, and can be looked at',
  { snapshot: { servers: [waiting] } },
  async (opened) => {
    const { by, hub } = opened;
    assert.match(await by('server-shared').innerText(), /another entry waits for your consent/);
    await openServer(opened, 'shared');
    assert.match(await by('server').innerText(), /\/repos\/shop\/\.mcp\.json:7/);
    await choose(opened, 'shared', 'review-entry');
    const sent = await hub.next('startServer');
    assert.deepEqual(sent.startServer, { server: 'shared', workspaceEntry: true });
  },
);

const annotated = (/** @type {string} */ name, /** @type {object} */ more) => tool('files', name, undefined, more);
pageTest(
  'of a tool the list says what is not the normal case, and nothing twice',
  {
    snapshot: { servers: [server('files')] },
    tools: {
      files: [
        annotated('sleep', { title: 'Sleep', description: 'Waits.', policy: 'APPROVAL_POLICY_ALLOW' }),
        annotated('read_file', { description: 'Reads\na file.', policy: 'APPROVAL_POLICY_ALLOW' }),
        annotated('write_file', { description: '', policy: 'APPROVAL_POLICY_ASK' }),
        annotated('drop', {
          description: '',
          policy: 'APPROVAL_POLICY_DENY',
          definitionJson: '{"name":"drop","inputSchema":{},"annotations":{"destructiveHint":true}}',
        }),
      ],
    },
  },
  async (opened) => {
    await openServer(opened);
    const rows = await opened.page.locator('.tools > li').allInnerTexts();
    assert.deepEqual(
      rows.map((text) =>
        text
          .split(/\s*\n\s*/)
          .filter(Boolean)
          .join(' | '),
      ),
      ['Sleep | Waits.', 'read_file | Reads a file.', 'write_file | Asks first', 'drop | Off · Destructive'],
    );
    assert.match(await opened.by('server').innerText(), /^Ready · its tools run without asking/);
  },
);

pageTest(
  'a tool opens with its form, Back leads to the server, and what was typed is still there',
  { snapshot: { servers: [server('files')] }, tools: { files: filesTools } },
  async (opened) => {
    const { by, page, settle } = opened;
    await openServer(opened);
    await by('tool-index_folder').getByRole('button').first().click();
    await settle();
    assert.match(await opened.focused(), /^h2 .*[Ii]ndex/);
    await by('tool-index_folder').getByLabel('path').first().fill('/repos');
    await page.getByRole('button', { name: 'Back to files' }).click();
    assert.match(await opened.focused(), /^h2 files/);
    await by('tool-index_folder').getByRole('button').first().click();
    assert.equal(await by('tool-index_folder').getByLabel('path').first().inputValue(), '/repos', 'what was typed');
  },
);

mainTest(
  'a call that runs has its Cancel beside Call, and what came of it stands directly below',
  { snapshot: { servers: [server('files')] }, tools: { files: filesTools } },
  async (opened) => {
    const { by, hub, settle } = opened;
    await openServer(opened);
    await openTool(opened, 'index_folder');
    await by('tool-index_folder').getByLabel('path').first().fill('/repos/shop');
    await by('call').click();
    const { requestId = '' } = (await hub.next('callTool')).callTool;
    await hub.say({ mcpRequestStarted: { request: request(requestId) } });
    await settle();
    const cancel = by('cancel-call');
    const [one, other] = [await by('call').boundingBox(), await cancel.boundingBox()];
    assert.ok(one && other && Math.abs(one.y - other.y) < 8 && other.x > one.x, 'beside it');
    await cancel.focus();
    await cancel.press('Enter');
    assert.deepEqual((await hub.next('cancelMcpRequest')).cancelMcpRequest, { requestId });
    assert.equal(await cancel.innerText(), 'Cancelling…', 'until the request is final');
    await cancel.press('Enter');
    await settle();
    assert.equal(hub.all('cancelMcpRequest').length, 1);
    await hub.say({
      mcpRequestCancelled: {
        requestId,
        server: 'files',
        direction: 'REQUEST_DIRECTION_OUTGOING',
        method: 'tools/call',
        tool: 'index_folder',
        cancellation: { origin: 'ORIGIN_USER' },
      },
    });
    await cancel.waitFor({ state: 'hidden' });
    assert.match(await opened.focused(), /^button\[call\]/, 'the focus is beside where it was');
    assert.match(await by('tool-index_folder').innerText(), /Call\s+Result\s+Cancelled/);
  },
);

mainTest(
  'one’s own call asks beside its button while that can be seen, and in Now otherwise; where it stands, it can be answered',
  {
    snapshot: { servers: [server('files'), server('booking')] },
    tools: { files: filesTools },
    viewport: { width: 900, height: 900 },
  },
  async (opened) => {
    const { by, hub, pass, settle } = opened;
    await openServer(opened);
    await openTool(opened, 'index_folder');
    await by('tool-index_folder').getByLabel('path').first().fill('/repos/shop');
    await by('call').click();
    const { requestId = '' } = (await hub.next('callTool')).callTool;
    await hub.say({
      mcpRequestStarted: { request: request(requestId, { state: 'REQUEST_STATE_AWAITING_APPROVAL' }) },
    });
    await hub.say({ promptOpened: { prompt: { ...prompts.approval, requestId } } });
    await settle();
    const card = by('prompt-p-approval');
    const above = () => card.evaluate((element) => element.closest('section')?.id);
    const [button, asks] = [await by('call').boundingBox(), await card.boundingBox()];
    assert.ok(button && asks && asks.y > button.y && asks.y < button.y + 60, 'below Call, and in view');
    assert.equal(await above(), 'opened');
    await openServer(opened, 'booking');
    assert.equal(await above(), 'now', 'the button cannot be seen any more');
    await openServer(opened);
    await openTool(opened, 'index_folder');
    assert.equal(await above(), 'opened');
    await pass(700);
    await card.getByTestId('decline').click();
    assert.deepEqual((await hub.next('answerPrompt')).answerPrompt, { promptId: 'p-approval', decline: {} });
  },
);
