// Hello, calls and replies: what the page sends to a hub, and when.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overTransport } from '../src/hub/stream.js';
import { rowsInSight } from '../src/elements/virtuallist.js';

/** @typedef {import('../../host/src/gen/mcphub/v1/editor_pb.js').AttachRequestJson} AttachRequest */
/** @typedef {import('../../host/src/gen/mcphub/v1/editor_pb.js').AttachResponseJson} AttachResponse */
/** @typedef {import('../src/hub/transport.js').Memory} Memory */

/** A fake host that records what it is sent. @param {{ memory?: Memory, open?: boolean }} [options] */
function harness({ memory, open = true } = {}) {
  /** @type {AttachRequest[]} */
  const sent = [];
  /** @type {Memory[]} */
  const remembered = [];
  let reachable = true;
  /** @type {(message: AttachResponse) => void} */
  let say = () => {};
  const stream = overTransport(
    (receive) => {
      say = receive;
      return {
        open,
        post: (message) => {
          if (reachable) sent.push(message);
          return reachable;
        },
        recall: () => memory,
        remember: (what) => void remembered.push(what),
      };
    },
    'test',
    {
      message: () => {},
    },
  );
  return {
    stream,
    sent,
    remembered,
    say: (/** @type {AttachResponse} */ message) => say(message),
    cut: () => (reachable = false),
  };
}

const ready = { hubConnection: { state: /** @type {const} */ ('HUB_CONNECTION_STATE_READY') } };
const welcome = { welcome: { hubId: 'hub-1', windowId: 'w-1' } };

test('what was asked of a hub that does not answer is still waited for, and no hello is said', async () => {
  const { stream, sent, say } = harness();
  say(welcome);
  const reply = stream.ask({ cancelMcpRequest: { requestId: 'r-1' } });
  const before = sent.length;
  say({ hubConnection: { state: 'HUB_CONNECTION_STATE_UNRESPONSIVE' } });
  say({ hubConnection: { state: 'HUB_CONNECTION_STATE_RESPONSIVE' } });
  assert.equal(sent.length, before);
  say({ reply: { messageId: sent.at(-1)?.messageId ?? '', cancelOutcome: 'CANCEL_OUTCOME_CANCELLING' } });
  assert.equal((await reply).cancelOutcome, 'CANCEL_OUTCOME_CANCELLING');
});

test('a relayed page says hello at once, a socket when it is open', () => {
  assert.ok(harness().sent[0]?.hello?.windowId);
  const socket = harness({ open: false });
  assert.equal(socket.sent.length, 0);
  socket.say(ready);
  assert.equal(socket.sent[0]?.hello?.promptKinds?.length, 7);
});

test('after a break the page comes back as the window that it was, to the hub that it was attached to', () => {
  const { say, sent } = harness();
  assert.equal(sent[0]?.hello?.comesBackTo, undefined, 'it was attached to none');
  say(welcome);
  say(ready);
  assert.deepEqual([sent[1]?.hello?.windowId, sent[1]?.hello?.comesBackTo], ['w-1', 'hub-1']);
  say({ welcome: { hubId: 'hub-2', windowId: 'w-1' } });
  say(ready);
  assert.deepEqual([sent[2]?.hello?.windowId, sent[2]?.hello?.comesBackTo], ['w-1', 'hub-2']);
});

test('a page that was loaded anew comes back as the window that it was, or takes another id when refused', () => {
  const { say, sent, remembered } = harness({ memory: { windowId: 'w-1', hubId: 'hub-1' } });
  assert.deepEqual([sent[0]?.hello?.windowId, sent[0]?.hello?.comesBackTo], ['w-1', 'hub-1']);
  say(ready);
  assert.deepEqual(sent[1], sent[0], 'the first hello may have come before there was a hub');
  say(ready);
  const { windowId = '' } = sent[2]?.hello ?? {};
  assert.ok(windowId && windowId !== 'w-1');
  say({ welcome: { hubId: 'hub-1', windowId } });
  assert.deepEqual(remembered.at(-1), { windowId, hubId: 'hub-1' });
});

test('a call names its method, every one gets its own answer, and a lost connection is one', async () => {
  const { stream, say, sent } = harness();
  const first = stream.call('ListTools', { server: 'a' });
  const second = stream.call('AddServer', { server: 'b' });
  assert.deepEqual(sent.slice(1), [
    {
      messageId: 'm1',
      call: {
        method: '/mcphub.v1.McpServerService/ListTools',
        request: { '@type': 'type.googleapis.com/mcphub.v1.ListToolsRequest', 'server': 'a' },
      },
    },
    {
      messageId: 'm2',
      call: {
        method: '/mcphub.v1.ConfigService/AddServer',
        request: { '@type': 'type.googleapis.com/mcphub.v1.AddServerRequest', 'server': 'b' },
      },
    },
  ]);
  /** @type {import('../../host/src/gen/mcphub/v1/config_pb.js').AddServerResponseJson & { '@type': string }} */
  const response = { '@type': 'type.googleapis.com/mcphub.v1.AddServerResponse', 'write': { server: 'b' } };
  say({ reply: { messageId: 'm2', response } });
  assert.equal((await second).response?.write?.server, 'b');
  say({ hubConnection: { state: 'HUB_CONNECTION_STATE_STARTING' } });
  assert.equal((await first).error?.code, 'UNAVAILABLE');
});

test('a call that nobody waits for any more is given up, once', async () => {
  const { stream, say, sent } = harness();
  const unwanted = new AbortController();
  const call = stream.call('SearchRegistry', { query: 'a' }, unwanted.signal);
  unwanted.abort();
  assert.equal((await call).error?.code, 'CANCELLED');
  assert.deepEqual(sent.at(-1), { giveUp: { messageId: 'm1' } });
  const before = sent.length;
  say({ reply: { messageId: 'm1' } });
  assert.equal(sent.length, before);
});

test('what cannot be sent is answered at once, and never sent later', async () => {
  const { stream, cut, sent } = harness();
  cut();
  assert.equal((await stream.call('StartServer', { server: 'a' })).error?.reason, 'CONNECTION_LOST');
  assert.equal(sent.length, 1);
});

test('rows in sight: the first, the last, and none beyond the ends', () => {
  assert.deepEqual(rowsInSight({ scrollTop: 0, height: 400, rowHeight: 40, count: 10_000 }), { first: 0, end: 16 });
  assert.deepEqual(rowsInSight({ scrollTop: 399_600, height: 400, rowHeight: 40, count: 10_000 }), {
    first: 9984,
    end: 10_000,
  });
  assert.deepEqual(rowsInSight({ scrollTop: 800, height: 400, rowHeight: 40, count: 3 }), { first: 0, end: 3 });
  assert.deepEqual(rowsInSight({ scrollTop: 0, height: 400, rowHeight: 40, count: 0 }), { first: 0, end: 0 });
});
