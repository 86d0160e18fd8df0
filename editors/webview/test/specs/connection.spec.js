// The page and its hub: hello, resume, reload, a lost connection and its return.

import assert from 'node:assert/strict';
import { clickAnyway, mainTest } from '../harness/pagetest.js';
import { busySnapshot, finished, prompts, request, server } from '../harness/world.js';

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
  assert.equal(first.hello.resume, undefined, 'there is nothing to resume');
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
    assert.equal(again.resume, undefined, 'a page that has lost its memory cannot go on from where it was');
  },
);

mainTest(
  'a hub that is lost: the page says so, nothing can be sent, and all is back with the hub',
  { snapshot: { servers: [server('files')], requests: [request('r-1')], prompts: [prompts.approval] } },
  async ({ by, hub, page, pass, settle }) => {
    await by('prompt-p-approval').waitFor();
    await pass(1_000);
    await hub.sayAside({
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
    await hub.sayAside({
      hubConnection: {
        state: 'HUB_CONNECTION_STATE_FAILED',
        message: 'The hub has failed five times in a row. See the output.',
      },
    });
    await by('connection').filter({ hasText: 'five times in a row' }).waitFor();
    hub.hubId = 'hub-2';
    hub.snapshot = { servers: [server('files')], requests: [], prompts: [] };
    await hub.sayAside({ hubConnection: { state: 'HUB_CONNECTION_STATE_READY' } });
    await by('prompt-p-approval').locator(':scope[data-phase="closed"]').waitFor();
    await page.mouse.move(0, 0);
    await pass(7_000);
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
    await hub.sayAside({
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
    await hub.sayAside({ hubConnection: { state: 'HUB_CONNECTION_STATE_RESPONSIVE' } });
    await by('connection').waitFor({ state: 'hidden' });
    await settle();
    assert.equal(hub.all('hello').length, 1);
    assert.equal(await by('prompt-p-form').getByRole('textbox').first().inputValue(), 'half a word');
  },
);

mainTest(
  'the same hub is resumed from the latest sequence number, and what was seen stays',
  { snapshot: { servers: [server('files')], requests: [request('r-1')], prompts: [prompts.form] } },
  async ({ by, hub, settle }) => {
    await by('request-r-1').waitFor();
    await hub.say({ serverChanged: { server: server('late') } });
    await by('server-late').waitFor();
    const seen = hub.sequence;
    await hub.sayAside({
      hubConnection: { state: 'HUB_CONNECTION_STATE_STARTING', message: 'The connection is being made anew.' },
    });
    await hub.sayAside({ hubConnection: { state: 'HUB_CONNECTION_STATE_READY' } });
    await hub.next('hello');
    const again = hub.all('hello')[1]?.hello;
    assert.deepEqual(again?.resume, { hubId: 'hub-1', afterSequence: seen });
    await by('connection').waitFor({ state: 'hidden' });
    await settle();
    assert.equal(await by('request-r-1').count(), 1);
    assert.equal(await by('server-late').count(), 1);
    await by('prompt-p-form').waitFor();
  },
);

mainTest(
  'an event that was seen before changes nothing',
  { snapshot: { servers: [server('files')], requests: [] } },
  async ({ by, hub, page, settle }) => {
    await hub.say({ mcpRequestStarted: { request: request('r-1') } });
    await by('request-r-1').waitFor();
    await hub.say({ mcpRequestFinished: { ...finished('r-1').finished } });
    await by('request-r-1').waitFor({ state: 'detached' });
    await page.evaluate(
      (message) => {
        window.postMessage(message, '*');
      },
      { sequence: '2', time: '2026-10-05T12:00:00Z', mcpRequestStarted: { request: request('r-1') } },
    );
    await settle();
    assert.equal(await by('request-r-1').count(), 0);
  },
);

mainTest(
  "an error of a server's past does not fool the page: unknown events and junk are ignored",
  { snapshot: { servers: [server('files')] } },
  async ({ by, hub, page }) => {
    await page.evaluate(() => {
      for (const junk of [
        null,
        1,
        'text',
        [],
        {},
        { type: 'keydown' },
        { sequence: 'abc' },
        { snapshotOfTomorrow: {} },
        { sequence: '999999999', somethingNew: { a: 1 } },
      ])
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
