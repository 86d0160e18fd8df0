// Hello, resume and replies: what the page sends to a hub, and when.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overTransport } from '../src/hub/stream.js';
import { rowsInSight } from '../src/elements/virtuallist.js';

/** @typedef {import('../src/hub/stream.js').AttachRequest} AttachRequest */
/** @typedef {import('../src/hub/stream.js').AttachResponse} AttachResponse */
/** @typedef {import('../src/hub/transport.js').Memory} Memory */

/** A fake host that records what it is sent. @param {{ memory?: Memory, open?: boolean }} [options] */
function harness({ memory, open = true } = {}) {
  /** @type {AttachRequest[]} */
  const sent = [];
  /** @type {AttachResponse[]} */
  const heard = [];
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
      message: (message) => {
        heard.push(message);
        return !('resourceUpdated' in message);
      },
    },
  );
  return {
    stream,
    sent,
    heard,
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

test('after a break the page resumes from the latest event that it understood', () => {
  const { say, sent } = harness();
  say(welcome);
  say({ sequence: '65536', snapshot: {} });
  say({ sequence: '131072', toolsChanged: { server: 'files' } });
  say({ sequence: '999999999', resourceUpdated: { server: 'files' } });
  say(ready);
  assert.deepEqual(sent.at(-1)?.hello?.resume, { hubId: 'hub-1', afterSequence: '131072' });
  assert.equal(sent.at(-1)?.hello?.windowId, 'w-1');
});

test('an event that was seen before is not heard again, a snapshot always is', () => {
  const { say, heard } = harness();
  say(welcome);
  say({ sequence: '18446744073709551000', snapshot: {} });
  say({ sequence: '18446744073709550999', toolsChanged: {} });
  assert.equal(heard.length, 2);
  say({ sequence: '1', snapshot: {} });
  assert.equal(heard.length, 3);
});

test('a page that was loaded anew keeps its window id, frees it when refused, and takes another one after that', () => {
  const { say, sent } = harness({ memory: { windowId: 'w-1', hubId: 'hub-1' } });
  assert.deepEqual([sent[0]?.hello?.windowId, sent[0]?.hello?.resume], ['w-1', undefined]);
  say(ready);
  assert.equal(sent[1]?.hello?.windowId, 'w-1');
  assert.equal(sent[1].hello.resume?.hubId, 'hub-1');
  say(ready);
  assert.notEqual(sent[2]?.hello?.windowId, 'w-1');
  assert.equal(sent[2]?.hello?.resume, undefined);
});

test('every question gets its own reply, and a lost connection is one', async () => {
  const { stream, say, sent } = harness();
  const first = stream.ask({ listTools: { server: 'a' } });
  const second = stream.ask({ listTools: { server: 'b' } });
  const ids = sent.slice(1).map((message) => message.messageId);
  say({ reply: { messageId: ids[1] ?? '', listTools: {} } });
  assert.ok((await second).listTools);
  say({ hubConnection: { state: 'HUB_CONNECTION_STATE_STARTING' } });
  assert.equal((await first).error?.code, 'UNAVAILABLE');
});

test('what cannot be sent is answered at once, and never sent later', async () => {
  const { stream, cut, sent } = harness();
  cut();
  assert.equal((await stream.ask({ startServer: { server: 'a' } })).error?.reason, 'CONNECTION_LOST');
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
