// The page and its hub: hello, reload, a lost connection and its return.

import assert from 'node:assert/strict';
import { clickAnyway, mainTest, pageTest } from '../harness/pagetest.js';
import { busySnapshot, finished, prompts, request, server, tool } from '../harness/world.js';

mainTest('hello declares all seven kinds and asks for the history', { snapshot: busySnapshot() }, ({ hub }) => {
  const [first] = hub.sent;
  assert.ok(first?.hello, 'the first message is hello');
  assert.deepEqual([...(first.hello.promptKinds ?? [])].sort(), [
    'PROMPT_KIND_CONFIG_INPUT',
    'PROMPT_KIND_ELICITATION_FORM',
    'PROMPT_KIND_ELICITATION_URL',
    'PROMPT_KIND_SAMPLING',
    'PROMPT_KIND_SERVER_LAUNCH',
    'PROMPT_KIND_SIGN_IN',
    'PROMPT_KIND_TOOL_APPROVAL',
  ]);
  assert.equal(first.hello.maxHistory, 1000);
  assert.ok(!first.hello.samplingTools);
  assert.equal(first.hello.comesBackTo, undefined, 'it was attached to no hub before');
});

mainTest(
  'a reload says hello again under the same window id, and shows what is there now',
  { snapshot: { servers: [server('files')], requests: [request('r-1')], prompts: [prompts.form] } },
  async ({ by, hub, page, settle }) => {
    await by('prompt-p-form').waitFor();
    const own = hub.windowId;
    hub.snapshot = {
      servers: [server('files'), server('late')],
      requests: [request('r-2')],
      prompts: [prompts.approval],
    };
    await page.reload();
    await by('server-late').waitFor();
    await by('prompt-p-approval').waitFor();
    await settle();
    assert.equal(await by('prompt-p-form').count(), 0);
    assert.equal(await by('request-r-1').count(), 0);
    const again = hub.all('hello')[1]?.hello;
    assert.ok(own);
    assert.equal(again?.windowId, own);
    assert.equal(again.comesBackTo, 'hub-1', 'so that the hub lets go of the stream of before');
  },
);

mainTest(
  'a hub that is lost: the page says so, nothing can be sent, and all is back with the hub',
  { snapshot: { servers: [server('files')], requests: [request('r-1')], prompts: [prompts.approval] } },
  async ({ by, hub, pass, settle }) => {
    await by('prompt-p-approval').waitFor();
    await pass(1_000);
    await hub.say({
      hubConnection: {
        state: 'HUB_CONNECTION_STATE_STARTING',
        message: 'The hub has ended (signal 9). It is being started again.',
      },
    });
    await by('connection').filter({ hasText: 'It is being started again.' }).waitFor();
    await settle();
    const before = hub.sent.length;
    for (const id of ['cancel', 'accept', 'decline']) await clickAnyway(by(id));
    await settle();
    assert.equal(hub.sent.length, before, 'what is sent now would not arrive');
    await hub.say({
      hubConnection: {
        state: 'HUB_CONNECTION_STATE_FAILED',
        message: 'The hub has failed five times in a row. See the output.',
      },
    });
    await by('connection').filter({ hasText: 'five times in a row' }).waitFor();
    hub.hubId = 'hub-2';
    hub.snapshot = { servers: [server('files')], requests: [], prompts: [] };
    await hub.say({ hubConnection: { state: 'HUB_CONNECTION_STATE_READY' } });
    await by('note-p-approval').waitFor();
    await by('prompt-p-approval').waitFor({ state: 'detached' });
    await by('connection').waitFor({ state: 'hidden' });
    assert.equal(await by('request-r-1').count(), 0);
  },
);

mainTest(
  'a hub that does not answer: the page says so with a way to restart it, and stays as it is',
  {
    snapshot: { servers: [server('files')], requests: [request('r-1')], prompts: [prompts.form] },
    surface: { commands: ['mcphub.restartHub'] },
  },
  async ({ by, hub, settle }) => {
    await by('request-r-1').waitFor();
    await by('prompt-p-form').getByRole('textbox').first().fill('half a');
    await hub.say({
      hubConnection: { state: 'HUB_CONNECTION_STATE_UNRESPONSIVE', message: 'McpHub does not answer.' },
    });
    await by('connection').filter({ hasText: 'McpHub does not answer.' }).waitFor();
    assert.equal(
      await by('connection')
        .getByRole('link', { name: /Restart McpHub/u })
        .getAttribute('href'),
      'command:mcphub.restartHub?%5B%5D',
    );
    await by('prompt-p-form').getByRole('textbox').first().press('End');
    await by('prompt-p-form').getByRole('textbox').first().pressSequentially(' word');
    await hub.say({ hubConnection: { state: 'HUB_CONNECTION_STATE_RESPONSIVE' } });
    await by('connection').waitFor({ state: 'hidden' });
    await settle();
    assert.equal(hub.all('hello').length, 1);
    assert.equal(await by('prompt-p-form').getByRole('textbox').first().inputValue(), 'half a word');
  },
);

/**
 * Breaks the connection, and makes it again with another snapshot.
 *
 * @param {import('../harness/pagetest.js').Opened} opened
 * @param {import('../harness/hub.js').SnapshotJson} snapshot
 */
async function reconnect({ by, hub, settle }, snapshot) {
  hub.snapshot = snapshot;
  await hub.say({
    hubConnection: { state: 'HUB_CONNECTION_STATE_STARTING', message: 'The connection is being made anew.' },
  });
  await by('connection').filter({ hasText: 'being made anew' }).waitFor();
  await settle();
  const before = hub.all('hello').length;
  await hub.say({ hubConnection: { state: 'HUB_CONNECTION_STATE_READY' } });
  while (hub.all('hello').length === before) await settle();
  await by('connection').waitFor({ state: 'hidden' });
  await settle();
}

/** Two ended requests. A snapshot may leave the result out. @param {string} resultJson */
const past = (resultJson) => [finished('h-1', { resultJson, resultSizeBytes: '14' }, -60), finished('h-2', {}, -50)];

mainTest(
  'the page comes back to the same hub: what is there now is shown, and what a person was doing stays',
  {
    snapshot: {
      servers: [server('files')],
      requests: [request('r-1')],
      prompts: [prompts.form, prompts.approval],
      history: past('{"content":[]}'),
    },
    tools: { files: [tool('files', 'find', { type: 'object', properties: { query: { type: 'string' } } })] },
    viewport: { width: 900, height: 2400 },
  },
  async (opened) => {
    const { by, hub, page, pass, settle } = opened;
    await by('server-files').getByRole('button').first().click();
    await by('tool-find').getByRole('button').first().click();
    await by('tool-find').getByLabel('query').fill('a needle');
    await by('ended-h-1').click();
    await settle();
    const name = by('prompt-p-form').getByLabel('Full name').first();
    await name.fill('Ada');
    await name.evaluate((field) => field instanceof HTMLInputElement && field.setSelectionRange(1, 2));
    const details = by('ended-details');
    assert.match(await details.innerText(), /Done in/);
    await details.evaluate((element) => (element.dataset['mark'] = 'the same'));

    await reconnect(opened, {
      servers: [server('files'), server('late')],
      requests: [request('r-2')],
      prompts: [prompts.form],
      history: [...past(''), finished('r-1', { tool: 'index_folder' }, -10)],
    });
    const again = hub.all('hello').at(-1)?.hello;
    assert.deepEqual([again?.windowId, again?.comesBackTo], [hub.windowId, 'hub-1']);
    assert.equal(await by('server-late').count(), 1);
    assert.equal(await by('request-r-2').count(), 1);
    assert.equal(await by('request-r-1').count(), 0);
    assert.equal(await by('ended-r-1').count(), 1, 'what ended meanwhile is in the history');
    assert.equal(await by('ended-h-1').count(), 1, 'and what had ended before, once');
    await by('note-p-approval').waitFor();
    await pass(1_000);
    assert.match(await page.locator('#polite').innerText(), /index_folder of files: Done\./, 'and is told');

    assert.equal(await name.inputValue(), 'Ada');
    assert.equal(await details.evaluate((element) => element.dataset['mark']), 'the same');
    assert.match(await details.innerText(), /Done in/);
    assert.deepEqual(
      await page.evaluate(() => {
        const field = document.activeElement;
        return field instanceof HTMLInputElement && [field.value, field.selectionStart, field.selectionEnd];
      }),
      ['Ada', 1, 2],
      'the focus is where it was',
    );
    assert.equal(await by('prompt-p-approval').count(), 0);
    await by('server-files').getByRole('button').first().click();
    await by('tool-find').getByRole('button').first().click();
    assert.equal(await by('tool-find').getByLabel('query').inputValue(), 'a needle');
  },
);

mainTest(
  'the result of a call that ended while the connection was lost is shown where it was made',
  {
    snapshot: { servers: [server('files')] },
    tools: { files: [tool('files', 'find', { type: 'object', properties: {} })] },
    viewport: { width: 480, height: 1600 },
  },
  async (opened) => {
    const { by, hub } = opened;
    await by('server-files').getByRole('button').first().click();
    await by('tool-find').getByRole('button').first().click();
    await by('tool-find').getByTestId('call').click();
    const { requestId = '' } = (await hub.next('callTool')).callTool;
    await hub.say({ mcpRequestStarted: { request: request(requestId, { tool: 'find' }) } });
    await by(`request-${requestId}`).waitFor();
    const resultJson = '{"content":[{"type":"text","text":"in the haystack"}]}';
    const of = { tool: 'find', resultJson, resultSizeBytes: String(resultJson.length) };
    await reconnect(opened, { servers: [server('files')], history: [finished(requestId, of, -1)] });
    assert.equal(await by(`request-${requestId}`).count(), 0);
    await by('tool-find').getByText('in the haystack').waitFor();
    assert.match(await by('tool-find').innerText(), /Done/);
  },
);

pageTest(
  'a long question, which comes after its snapshot, stays as it is',
  { snapshot: { servers: [server('files')], prompts: [prompts.form] } },
  async (opened) => {
    const { by, hub, settle } = opened;
    const name = by('prompt-p-form').getByLabel('Full name').first();
    await name.fill('Ada');
    await reconnect(opened, { servers: [server('files')], laterPromptIds: ['p-form'] });
    assert.equal(await name.inputValue(), 'Ada');
    await hub.say({ promptOpened: { prompt: prompts.form } });
    await settle();
    assert.equal(await name.inputValue(), 'Ada');
    assert.equal(await by('prompt-p-form').count(), 1);
  },
);

mainTest(
  "an error of a server's past does not fool the page: unknown events and junk are ignored",
  { snapshot: { servers: [server('files')] } },
  async ({ by, hub, page }) => {
    await page.evaluate(() => {
      for (const junk of [null, 1, 'text', [], {}, { type: 'keydown' }, { snapshotOfTomorrow: {} }])
        window.postMessage(junk, '*');
    });
    await hub.say({ serverChanged: { server: server('late') } });
    await by('server-late').waitFor();
  },
);

mainTest(
  'the same page over a WebSocket: hello, snapshot, an answer',
  {
    snapshot: { servers: [server('files')], prompts: [prompts.approval] },
    surface: { kind: 'web', socket: '/stream', opensUrls: true },
  },
  async ({ by, hub, pass }) => {
    await by('server-files').waitFor();
    await pass(1_000);
    await by('prompt-p-approval').locator('[data-testid="decline"]').click();
    const sent = await hub.next('answerPrompt');
    assert.equal(sent.answerPrompt.promptId, 'p-approval');
    assert.ok(sent.answerPrompt.decline);
  },
);
