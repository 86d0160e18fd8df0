// Cancel, the most important button: what is shown until the server has stopped, and what the user can do if it does
// not stop.

import assert from 'node:assert/strict';
import { mainTest } from '../harness/pagetest.js';
import { at, busySnapshot, request, server } from '../harness/world.js';
import { choose } from '../harness/servers.js';

const running = () => ({ servers: [server('files')], requests: [request('r-1')] });

mainTest(
  'Cancel sends cancelMcpRequest once, and the request shows that it is cancelling, for how long, by whom and why',
  { snapshot: running() },
  async ({ by, hub, page, pass, settle }) => {
    const row = by('request-r-1');
    assert.equal(await row.getAttribute('data-state'), 'REQUEST_STATE_RUNNING');
    // Runs after the page's own listeners; its frame comes after what they have asked for, and is the first one drawn.
    await row.getByTestId('cancel').evaluate((button) => {
      const next = () => requestAnimationFrame(() => (document.documentElement.dataset['frame'] = button.textContent));
      window.addEventListener('click', next, { once: true });
    });
    await row.locator('[data-testid="cancel"]').dblclick();
    await page.locator('html[data-frame]').waitFor();
    assert.equal(await page.locator('html').getAttribute('data-frame'), 'Cancelling…', 'in the first frame');
    const sent = await hub.next('cancelMcpRequest');
    assert.equal(sent.cancelMcpRequest.requestId, 'r-1');
    assert.equal(await row.getByTestId('cancel').innerText(), 'Cancelling…', 'at once, before the hub has answered');
    await hub.say({
      mcpRequestCancelling: {
        requestId: 'r-1',
        server: 'files',
        cancellation: { origin: 'ORIGIN_USER', reason: '', time: at(0) },
      },
    });
    await settle();
    assert.equal(await row.getAttribute('data-state'), 'REQUEST_STATE_CANCELLING');
    assert.equal(await row.locator('[data-testid="restart-server"]:visible').count(), 0, 'too early for a restart');
    await pass(2_200);
    assert.match(await row.innerText(), /Cancelling for 2 s, by you/);
    await pass(1_000);
    assert.match(await row.innerText(), /Cancelling for 3 s/);
    assert.equal(
      await row.locator('[data-testid="cancel"]:enabled:not([aria-disabled="true"]):visible').count(),
      0,
      'a second cancel is not offered',
    );
    await row.locator('[data-testid="restart-server"]').waitFor();
    await row.locator('[data-testid="restart-server"]').waitFor();
    assert.equal(hub.all('cancelMcpRequest').length, 1, 'two clicks, one cancel');
  },
);

mainTest(
  'a request of a client of a gateway says whose it is, while it runs and in the history',
  { snapshot: { servers: [server('files')], requests: [request('r-1', { caller: 'Claude\u202e Code' })] } },
  async ({ by, hub, settle }) => {
    assert.match(await by('request-r-1').innerText(), /files, for Claude.* Code/);
    await hub.say({ mcpRequestFinished: { requestId: 'r-1', server: 'files', state: 'REQUEST_STATE_DONE' } });
    await settle();
    assert.match(await by('ended-r-1').innerText(), /files · Claude.* Code/);
    assert.doesNotMatch(await by('ended-r-1').innerText(), /\u202e/, 'what turns text around is shown, not followed');
  },
);

mainTest(
  'Cancel with a reason: Enter in the field cancels, and the reason is in the message',
  { snapshot: running() },
  async ({ by, hub, page }) => {
    const row = by('request-r-1');
    await row.getByRole('button', { name: 'More for Cancel index_folder of files' }).click();
    await row.getByRole('menuitem', { name: 'Cancel with a reason…' }).click();
    const field = row.getByRole('textbox', { name: /reason|why/i });
    await field.waitFor();
    await field.fill('wrong folder, "quoted"');
    await page.keyboard.press('Enter');
    const sent = await hub.next('cancelMcpRequest');
    assert.deepEqual(sent.cancelMcpRequest, { requestId: 'r-1', reason: 'wrong folder, "quoted"' });
  },
);

mainTest('a cancel of somebody else shows who it was and why', { snapshot: running() }, async ({ by, hub, settle }) => {
  await hub.say({
    mcpRequestCancelling: {
      requestId: 'r-1',
      server: 'files',
      cancellation: { origin: 'ORIGIN_HOST', reason: 'the task was stopped', time: at(0) },
    },
  });
  await settle();
  const text = await by('request-r-1').innerText();
  assert.match(text, /the task was stopped/);
  assert.match(text, /host/i);
});

// Finding B2: a cancel that was still in a queue was shown as sent to the server.
mainTest(
  'the details of a cancelled call say what is known of the cancel, and then what became of it',
  { snapshot: running() },
  async ({ by, hub, settle }) => {
    await hub.say({
      mcpRequestCancelled: {
        requestId: 'r-1',
        server: 'files',
        direction: 'REQUEST_DIRECTION_OUTGOING',
        method: 'tools/call',
        tool: 'index_folder',
        cancellation: { origin: 'ORIGIN_USER', reason: 'too slow', time: at(0) },
        wireIdJson: '9',
        delivery: 'CANCEL_DELIVERY_PENDING',
        serverMayContinue: true,
      },
    });
    await by('request-r-1').waitFor({ state: 'detached' });
    await by('ended-r-1').click();
    await settle();
    assert.match(await by('ended-details').innerText(), /The server is being told/);
    await hub.say({
      mcpRequestCancelDelivery: {
        requestId: 'r-1',
        server: 'files',
        delivery: 'CANCEL_DELIVERY_FAILED',
        error: 'the server did not take it within 30s',
      },
    });
    await settle();
    assert.match(await by('ended-details').innerText(), /could not be told: the server did not take it within 30s/);
  },
);

mainTest(
  'Restart server, beside a cancel that drags on, restarts that server',
  {
    snapshot: {
      servers: [server('files')],
      requests: [
        request('r-1', { state: 'REQUEST_STATE_CANCELLING', cancellation: { origin: 'ORIGIN_USER', time: at(-8) } }),
      ],
    },
  },
  async ({ by, hub, pass }) => {
    await pass(1_100);
    // The server has no other call that would be lost, so one click is enough.
    await by('request-r-1').locator('[data-testid="restart-server"]').click();
    const sent = await hub.next('restartServer');
    assert.equal(sent.restartServer.server, 'files');
  },
);

mainTest(
  'Restart server, beside a cancel that drags on, first says that it cancels another call',
  {
    snapshot: {
      servers: [server('files')],
      requests: [
        request('r-1', { state: 'REQUEST_STATE_CANCELLING', cancellation: { origin: 'ORIGIN_USER', time: at(-8) } }),
        request('r-2'),
      ],
    },
  },
  async ({ by, hub, pass, settle }) => {
    await pass(1_100);
    const restart = by('request-r-1').locator('[data-testid="restart-server"]');
    await restart.click();
    await settle();
    assert.deepEqual(hub.all('restartServer'), []);
    assert.equal(await restart.innerText(), 'Restart, which cancels 1 other request of it?');
    await restart.click();
    assert.equal((await hub.next('restartServer')).restartServer.server, 'files');
  },
);

mainTest(
  'a page that opens while a cancel drags on offers the restart of its server at once',
  {
    snapshot: {
      servers: [server('files')],
      requests: [
        request('r-1', {
          state: 'REQUEST_STATE_CANCELLING',
          cancellation: { origin: 'ORIGIN_USER', reason: 'wrong folder', time: at(-30) },
        }),
      ],
    },
  },
  async ({ by, pass }) => {
    await pass(1_000);
    assert.match(await by('request-r-1').innerText(), /Cancelling for (3\d|[4-9]\d|\d{3,}) s/);
    await by('request-r-1').locator('[data-testid="restart-server"]').waitFor();
  },
);

mainTest(
  'a hub that does not answer: the row says so, and that the cancel is not lost; Cancelling stays until it is known',
  { snapshot: running() },
  async ({ by, hub, settle }) => {
    const row = by('request-r-1');
    hub.silent.add('cancelMcpRequest');
    await row.getByTestId('cancel').click();
    await hub.next('cancelMcpRequest');
    await hub.say({ hubConnection: { state: 'HUB_CONNECTION_STATE_UNRESPONSIVE' } });
    await settle();
    assert.match(await row.innerText(), /Cancelling…/);
    assert.match(await row.innerText(), /McpHub does not answer\. It will cancel this when it goes on\./);
    await hub.say({ hubConnection: { state: 'HUB_CONNECTION_STATE_RESPONSIVE' } });
    await settle();
    assert.doesNotMatch(await row.innerText(), /does not answer/);
    assert.match(await row.innerText(), /Cancelling…/);
  },
);

mainTest(
  'what cannot be cancelled has no Cancel',
  {
    snapshot: {
      servers: [server('files')],
      requests: [request('r-1', { method: 'initialize', tool: '', state: 'REQUEST_STATE_CONNECTING' })],
    },
  },
  async ({ by }) => {
    await by('request-r-1').waitFor();
    assert.equal(await by('request-r-1').locator('[data-testid="cancel"]').count(), 0);
  },
);

mainTest('a refused cancel says why', { snapshot: running() }, async ({ by, hub, page }) => {
  hub.silent.add('cancelMcpRequest');
  await by('request-r-1').locator('[data-testid="cancel"]').click();
  const sent = await hub.next('cancelMcpRequest');
  if (!sent.messageId) throw new Error('nothing can refuse a cancel that wants no reply');
  await hub.reply(sent, {
    error: {
      code: 'FAILED_PRECONDITION',
      reason: 'UNCANCELLABLE',
      message: 'The start of a session cannot be cancelled.',
    },
  });
  await page.getByText('The start of a session cannot be cancelled.').first().waitFor();
});

mainTest(
  'Stop everything cancels all, after a second step, and is there only while something runs',
  { snapshot: busySnapshot() },
  async ({ hub, page, settle }) => {
    const stop = page.getByRole('button', { name: /stop everything/i });
    await stop.first().click();
    await settle();
    if (hub.all('cancelRequests').length === 0)
      await page
        .getByRole('button', { name: /stop (everything|all|\d+)/i })
        .last()
        .click();
    const sent = await hub.next('cancelRequests');
    assert.equal(sent.cancelRequests.all, true);
    hub.snapshot = { servers: [server('files')] };
    await hub.welcome();
    await stop.first().waitFor({ state: 'hidden' });
  },
);

mainTest(
  'a server with calls running is stopped and restarted only after a second step',
  { snapshot: running() },
  async (opened) => {
    const { by, hub } = opened;
    await choose(opened, 'files', 'restart-server');
    assert.equal(hub.all('restartServer').length, 0, 'one click must not end a running call');
    assert.match(await by('server-files').innerText(), /Restart, which cancels \d requests?\?/);
    await by('server-files').getByTestId('confirm').click();
    const sent = await hub.next('restartServer');
    assert.equal(sent.restartServer.server, 'files');
  },
);

mainTest(
  'progress shows as a progress bar with values and the text of the server',
  { snapshot: running() },
  async ({ by, hub, settle }) => {
    await hub.say({
      mcpRequestProgressed: {
        requestId: 'r-1',
        server: 'files',
        state: 'REQUEST_STATE_RUNNING',
        progress: { progress: 30, total: 120, message: 'src/orders' },
      },
    });
    await settle();
    const bar = by('request-r-1').getByRole('progressbar');
    assert.equal(
      await bar.evaluate((element) =>
        element instanceof HTMLProgressElement
          ? element.value / element.max
          : Number(element.getAttribute('aria-valuenow')) / Number(element.getAttribute('aria-valuemax')),
      ),
      0.25,
    );
    assert.match(await by('request-r-1').innerText(), /src\/orders/);
  },
);

mainTest(
  'a double click on Cancel cancels one request, also when the next one moves up between the clicks',
  { snapshot: { servers: [server('files')], requests: [request('r-1'), request('r-2')] } },
  async ({ by, hub, page, settle }) => {
    const box = await by('request-r-1').locator('[data-testid="cancel"]').boundingBox();
    if (!box) throw new Error('there is no Cancel');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.up();
    await hub.next('cancelMcpRequest');
    await hub.say({
      mcpRequestCancelled: { requestId: 'r-1', server: 'files', cancellation: { origin: 'ORIGIN_USER', time: at(0) } },
    });
    await by('request-r-1').waitFor({ state: 'detached' });
    await settle();
    await page.mouse.down({ clickCount: 2 });
    await page.mouse.up({ clickCount: 2 });
    await settle();
    assert.deepEqual(
      hub.all('cancelMcpRequest').map((message) => message.cancelMcpRequest?.requestId),
      ['r-1'],
    );
    await by('request-r-2').locator('[data-testid="cancel"]').click();
    assert.equal(
      (await hub.next('cancelMcpRequest')).cancelMcpRequest.requestId,
      'r-2',
      'a click of its own does cancel it',
    );
  },
);

mainTest('a double click on Stop asks, and stops nothing', { snapshot: running() }, async ({ by, hub, settle }) => {
  await by('server-files').hover();
  await by('server-files').getByTestId('stop-server').dblclick();
  await settle();
  assert.equal(hub.all('stopServer').length, 0);
  await by('server-files').getByTestId('confirm').click();
  await hub.next('stopServer');
});

mainTest(
  'progress below nothing or beyond everything stays within the bar',
  { snapshot: running() },
  async ({ by, hub, settle }) => {
    const bar = by('request-r-1').getByRole('progressbar');
    /** @param {import('../../../host/src/gen/mcphub/v1/request_pb.js').ProgressJson} progress */
    const shown = async (progress) => {
      await hub.say({
        mcpRequestProgressed: { requestId: 'r-1', server: 'files', state: 'REQUEST_STATE_RUNNING', progress },
      });
      await settle();
      return [await bar.getAttribute('aria-valuenow'), await bar.getAttribute('aria-valuemax')];
    };
    assert.deepEqual(await shown({ progress: -5, total: 10 }), ['0', '10']);
    assert.deepEqual(await shown({ progress: 50, total: 10 }), ['10', '10']);
    assert.deepEqual(await shown({ progress: 1, total: 'Infinity' }), [null, null]);
    assert.deepEqual(await shown({ progress: 'NaN', total: 10 }), [null, null]);
  },
);
