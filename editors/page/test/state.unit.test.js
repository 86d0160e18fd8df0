// The state of the page after each message of the stream.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mostEnded } from '../src/hub/ended.js';
import { longestLine, mostLines } from '../src/hub/serverlog.js';
import { createState, takeChanged, transition } from '../src/hub/state.js';
import { toldOf } from '../src/hub/truth.js';

/** @typedef {import('../src/hub/state.js').State} State */

const request = (requestId = 'r-1', rest = {}) => ({
  requestId,
  server: 'files',
  method: 'tools/call',
  tool: 'slow',
  state: /** @type {const} */ ('REQUEST_STATE_RUNNING'),
  ...rest,
});
const finished = (requestId = 'r-1', rest = {}) => ({
  mcpRequestFinished: {
    requestId,
    server: 'files',
    tool: 'slow',
    state: /** @type {const} */ ('REQUEST_STATE_DONE'),
    ...rest,
  },
});

/** An end in the history of a snapshot. @param {string} requestId */
const endOf = (requestId) => ({ finished: finished(requestId).mcpRequestFinished });

/** @param {import('../../host/src/gen/mcphub/v1/editor_pb.js').AttachResponseJson[]} messages @returns {State} */
function after(...messages) {
  const state = createState();
  transition(state, { welcome: { hubId: 'hub-1', windowId: 'w' } });
  for (const message of messages) transition(state, message);
  return state;
}

test('a snapshot replaces all that the window knew but what has ended, and a prompt that it lacks is closed', () => {
  const state = after({
    snapshot: {
      servers: [{ name: 'old' }],
      requests: [request('r-old')],
      prompts: [{ promptId: 'p-old' }],
      history: [{ finished: { requestId: 'h-old' } }],
    },
  });
  transition(state, {
    snapshot: { servers: [{ name: 'new' }], requests: [request('r-new')], prompts: [{ promptId: 'p-new' }] },
  });
  assert.deepEqual([...state.servers.keys()], ['new']);
  assert.deepEqual([...state.requests.keys()], ['r-new']);
  assert.deepEqual([...state.prompts.keys()], ['p-new']);
  assert.deepEqual([...state.closed.keys()], ['p-old']);
  assert.deepEqual(
    state.history.map((entry) => entry.requestId),
    ['h-old'],
  );
});

test('what ended while the connection was lost goes into the history with what was known of it, and is news', () => {
  const [first, second] = ['2026-10-05T12:00:00Z', '2026-10-05T12:01:00Z'];
  const state = after({
    snapshot: {
      requests: [
        request('r-1', { startTime: first, parentRequestId: 'r-0' }),
        request('r-2', { startTime: first }),
        request('r-3', { startTime: first }),
      ],
      history: [{ endTime: first, finished: { requestId: 'h-1' } }],
    },
  });
  assert.equal(state.endedNow.length, 0, 'what had ended before is no news');
  const ended = (requestId = '', endTime = second) => ({ endTime, ...endOf(requestId) });
  transition(state, {
    snapshot: {
      requests: [request('r-2', { startTime: first }), request('r-3', { startTime: second })],
      history: [ended('h-1', first), ended('h-2'), ended('r-1'), ended('r-1', '2026-10-05T12:02:00Z'), ended('r-3')],
    },
  });
  assert.deepEqual([...state.requests.keys()], ['r-2', 'r-3']);
  assert.deepEqual(
    state.endedNow.map(({ requestId, endTime }) => [requestId, endTime]),
    [
      ['r-1', second],
      ['r-3', second],
    ],
    'what the page has never shown is no news, nor is a later request with the same id',
  );
  assert.equal(state.endedNow[0]?.about.startTime, first);
  assert.equal(state.endedNow[0].about.parentRequestId, 'r-0');
  assert.deepEqual(
    state.history.map(({ requestId }) => requestId),
    ['h-1', 'h-2', 'r-1', 'r-1', 'r-3'],
  );
});

test('an end that is known stays as it is when a snapshot tells of it again, but for the outcome of its cancel', () => {
  const [first, second, third] = ['2026-10-05T12:00:00Z', '2026-10-05T12:01:00Z', '2026-10-05T12:02:00Z'];
  const cancelled = { requestId: 'r-3', delivery: /** @type {const} */ ('CANCEL_DELIVERY_PENDING') };
  const state = after(
    { time: first, ...finished('r-1') },
    { time: second, ...finished('r-2', { resultJson: '{"a":1}' }) },
    { time: third, mcpRequestCancelled: cancelled },
  );
  const [, was, pending] = state.history;
  transition(state, {
    snapshot: {
      history: [
        { endTime: second, ...endOf('r-2') },
        { endTime: third, cancelled: { ...cancelled, delivery: 'CANCEL_DELIVERY_FAILED', deliveryError: 'no' } },
      ],
    },
  });
  assert.deepEqual(
    state.history.map(({ requestId }) => requestId),
    ['r-1', 'r-2', 'r-3'],
    'the hub may have forgotten the first one',
  );
  assert.equal(state.history[1], was);
  assert.equal(state.history[2]?.key, pending?.key);
  assert.match(toldOf(state.history[2]?.cancelled), /could not be told: no/);
});

test('a long question that follows its snapshot was never closed', () => {
  const prompt = { promptId: 'p-1' };
  const state = after({ snapshot: { prompts: [prompt] } });
  transition(state, { snapshot: { laterPromptIds: ['p-1', 'p-2'] } });
  assert.deepEqual([...state.prompts.keys()], ['p-1']);
  transition(state, { promptOpened: { prompt } });
  assert.deepEqual([...state.prompts.keys()], ['p-1']);
  assert.equal(state.closed.size, 0);
});

test('a request runs, is being cancelled, and ends in the history with what was known of it', () => {
  const state = after({ mcpRequestStarted: { request: request('r-1', { startTime: '2026-10-05T12:00:00Z' }) } });
  transition(state, {
    mcpRequestProgressed: { requestId: 'r-1', state: 'REQUEST_STATE_RUNNING', progress: { progress: 3 } },
  });
  assert.equal(state.requests.get('r-1')?.progress?.progress, 3);
  transition(state, {
    mcpRequestCancelling: { requestId: 'r-1', cancellation: { origin: 'ORIGIN_USER', reason: 'wrong folder' } },
  });
  assert.equal(state.requests.get('r-1')?.state, 'REQUEST_STATE_CANCELLING');
  transition(state, {
    time: '2026-10-05T12:00:09Z',
    mcpRequestCancelled: {
      requestId: 'r-1',
      server: 'files',
      tool: 'slow',
      cancellation: { origin: 'ORIGIN_USER', reason: 'wrong folder' },
    },
  });
  assert.equal(state.requests.size, 0);
  assert.equal(state.history[0]?.outcome, 'cancelled');
  assert.equal(state.history[0].about.startTime, '2026-10-05T12:00:00Z');
  assert.match(state.history[0].words, /slow.*wrong folder/);
});

test('the outcome of a cancel that was on its way stands in its end, once', () => {
  // Finding B2: the outcome comes after the end of the request.
  /** @param {import('../../host/src/gen/mcphub/v1/editor_pb.js').McpRequestCancelDeliveryJson} rest */
  const outcome = (rest) => ({
    mcpRequestCancelDelivery: { requestId: 'r-1', server: 'files', ...rest },
  });
  const state = after({
    mcpRequestCancelled: { requestId: 'r-1', delivery: 'CANCEL_DELIVERY_PENDING', serverMayContinue: true },
  });
  const told = () => state.history[0]?.cancelled ?? {};
  assert.match(toldOf(told()), /is being told/);
  transition(state, outcome({ requestId: 'r-2', delivery: 'CANCEL_DELIVERY_DELIVERED' }));
  assert.equal(told().delivery, 'CANCEL_DELIVERY_PENDING');
  transition(state, outcome({ delivery: 'CANCEL_DELIVERY_FAILED', error: 'no\u202e' }));
  assert.equal(state.history.length, 1);
  assert.match(toldOf(told()), /could not be told: no⟨U\+202E⟩/);
  transition(state, outcome({ delivery: 'CANCEL_DELIVERY_DELIVERED' }));
  assert.equal(told().delivery, 'CANCEL_DELIVERY_FAILED');
});

test('an answer that comes after the cancel stands in the end of its request, once', () => {
  /** @param {string} requestId @param {string} after */
  const late = (requestId, after) => ({
    mcpRequestAnsweredLate: { requestId, server: 'files', answer: { after } },
  });
  const end = { requestId: 'r-1', delivery: /** @type {const} */ ('CANCEL_DELIVERY_PENDING'), serverMayContinue: true };
  const state = after({ mcpRequestCancelled: end, time: '2026-10-05T12:00:00Z' }, finished('r-2'));
  const [before, done] = state.history;
  for (const one of [late('r-2', '1s'), late('r-3', '1s')]) transition(state, one);
  assert.deepEqual(state.history, [before, done], 'an end that is none of a cancel, or is not known');
  transition(state, late('r-1', '3.400s'));
  transition(state, late('r-1', '5s'));
  transition(state, {
    mcpRequestCancelDelivery: { requestId: 'r-1', server: 'files', delivery: 'CANCEL_DELIVERY_DELIVERED' },
  });
  const { lateAnswer, serverMayContinue, delivery } = state.history[0]?.cancelled ?? {};
  assert.deepEqual(
    [lateAnswer, serverMayContinue, delivery],
    [{ after: '3.400s' }, false, 'CANCEL_DELIVERY_DELIVERED'],
  );
});

test('a window that was away learns from the snapshot that a server has answered late', () => {
  const end = { requestId: 'r-1', delivery: /** @type {const} */ ('CANCEL_DELIVERY_DELIVERED') };
  const endTime = '2026-10-05T12:00:00Z';
  const state = after({ mcpRequestCancelled: end, time: endTime });
  const key = state.history[0]?.key;
  const answered = { endTime, cancelled: { ...end, lateAnswer: { after: '2s', isError: true } } };
  transition(state, { snapshot: { history: [answered] } });
  const [entry] = state.history;
  assert.deepEqual([entry?.key, entry?.cancelled?.lateAnswer], [key, answered.cancelled.lateAnswer]);
  transition(state, { snapshot: { history: [answered] } });
  assert.equal(state.history[0], entry, 'nothing is new');
});

test('each end has its outcome', () => {
  const state = after(
    finished('a'),
    finished('b', { isError: true }),
    finished('c', { state: 'REQUEST_STATE_FAILED' }),
    { mcpRequestCancelled: { requestId: 'd', cancellation: { origin: 'ORIGIN_TIMEOUT' } } },
    { mcpRequestCancelled: { requestId: 'e', cancellation: { origin: 'ORIGIN_SERVER' } } },
    {
      mcpRequestCancelled: {
        requestId: 'f',
        direction: 'REQUEST_DIRECTION_INCOMING',
        cancellation: { origin: 'ORIGIN_SERVER' },
      },
    },
    {
      mcpRequestCancelled: {
        requestId: 'g',
        direction: 'REQUEST_DIRECTION_INCOMING',
        cancellation: { origin: 'ORIGIN_PARENT' },
      },
    },
  );
  assert.deepEqual(
    state.history.map((entry) => entry.outcome),
    ['done', 'tool-error', 'failed', 'timed-out', 'cancelled', 'withdrawn', 'cancelled'],
  );
});

test('progress for what has ended makes nothing of it', () => {
  const state = after({ mcpRequestStarted: { request: request() } }, finished());
  transition(state, { mcpRequestProgressed: { requestId: 'r-1', state: 'REQUEST_STATE_RUNNING' } });
  assert.equal(state.requests.size, 0);
});

test('10,000 large results and errors do not fill the memory: the texts of old ones go, what happened stays', () => {
  const text = 'x'.repeat(250_000);
  const state = after();
  for (let i = 0; i < 400; i++) {
    // A new string each time, as JSON.parse returns it.
    transition(
      state,
      finished(
        `r-${i}`,
        i % 2
          ? { resultJson: `"${i}${text}"` }
          : { state: 'REQUEST_STATE_FAILED', mcpError: { code: 1, message: `${i}${text}`, dataJson: `"${i}${text}"` } },
      ),
    );
  }
  const kept = JSON.stringify(state.history).length;
  assert.ok(kept < 36e6, `${kept} characters are held`);
  assert.equal(state.history.length, 400);
  assert.equal(state.history.at(-1)?.finished?.resultJson?.length, 250_005);
  assert.equal(state.history[0]?.finished?.mcpError?.message?.slice(0, 3), '0xx');
});

test('what an earlier hub was doing is lost with it, and its history stays', () => {
  const state = after(finished('h-1'), { mcpRequestStarted: { request: request('r-1') } });
  transition(state, { hubConnection: { state: 'HUB_CONNECTION_STATE_STARTING', message: 'It died.' } });
  assert.deepEqual(state.connection, { state: 'starting', message: 'It died.' });
  transition(state, { welcome: { hubId: 'hub-2', windowId: 'w' } });
  transition(state, { snapshot: { history: [{ finished: { requestId: 'h-2', state: 'REQUEST_STATE_DONE' } }] } });
  assert.deepEqual(
    state.history.map((entry) => [entry.requestId, entry.outcome]),
    [
      ['h-1', 'done'],
      ['r-1', 'lost'],
      ['h-2', 'done'],
    ],
  );
  assert.equal(state.connection.state, 'ready');
});

test('a hub that does not answer loses nothing, and a page that waits for its welcome goes on waiting', () => {
  const silent = /** @type {const} */ ({ state: 'HUB_CONNECTION_STATE_UNRESPONSIVE', message: 'It does not answer.' });
  const goesOn = /** @type {const} */ ({ state: 'HUB_CONNECTION_STATE_RESPONSIVE' });
  const state = after({ snapshot: { requests: [request()] } });
  transition(state, { welcome: { hubId: 'hub-1', windowId: 'w' } });
  transition(state, { hubConnection: silent });
  assert.deepEqual(state.connection, { state: 'unresponsive', message: 'It does not answer.' });
  transition(state, { hubConnection: goesOn });
  assert.deepEqual(state.connection, { state: 'ready', message: '' });
  assert.equal(state.requests.size, 1);
  transition(state, { hubConnection: { state: 'HUB_CONNECTION_STATE_STARTING' } });
  transition(state, { hubConnection: silent });
  assert.deepEqual(state.connection, { state: 'starting', message: 'It does not answer.' });
  transition(state, { hubConnection: goesOn });
  assert.equal(state.connection.state, 'starting');
});

test('the history keeps the latest 10,000, and results within their bound', () => {
  const state = after();
  const resultJson = 'x'.repeat(256 << 10);
  for (let i = 0; i < 200; i++)
    transition(state, finished(`big-${i}`, { resultJson, resultSizeBytes: String(resultJson.length) }));
  const kept = state.history.filter((entry) => entry.finished?.resultJson);
  assert.equal(kept.length, 128, '32 MiB of them');
  assert.equal(kept.at(-1)?.requestId, 'big-199', 'the latest');
  for (let i = 0; i < mostEnded; i++) transition(state, finished(`r-${i}`));
  assert.equal(state.history.length, mostEnded);
  assert.equal(state.history[0]?.requestId, 'r-0');
});

test('logs are kept up to their bound, and stderr is what the server says anew', () => {
  const state = after({ snapshot: { servers: [{ name: 'files', stderr: ['a'] }] } });
  transition(state, { logMessage: { server: 'files', level: 'stderr', dataJson: '"b\\n"' } });
  assert.deepEqual(state.logs.get('files')?.stderr, ['a', 'b\n']);
  for (let i = 0; i < mostLines + 5; i++)
    transition(state, { logMessage: { server: 'files', level: 'info', dataJson: `{"n":${i}}` } });
  assert.equal(state.logs.get('files')?.messages.length, mostLines);
  assert.equal(state.logs.get('files')?.messages.at(-1)?.text, `{"n":${mostLines + 4}}`);
  transition(state, { serverChanged: { server: { name: 'files', stderr: ['c'] } } });
  assert.deepEqual(state.logs.get('files')?.stderr, ['c']);
});

test('a line of a log that is very long is cut, and says so', () => {
  const state = after({ snapshot: { servers: [{ name: 'files', stderr: ['x'.repeat(longestLine + 3)] }] } });
  transition(state, {
    logMessage: {
      server: 'files',
      level: 'info',
      dataJson: JSON.stringify('y'.repeat(longestLine - 1) + '\u{1F600}'.repeat(2)),
    },
  });
  transition(state, {
    logMessage: { server: 'files', level: 'info', dataJson: JSON.stringify('z'.repeat(longestLine)) },
  });
  const log = state.logs.get('files');
  assert.equal(log?.stderr[0], `${'x'.repeat(longestLine)} … and 3 more characters`);
  assert.equal(
    log.messages[0]?.text,
    `${'y'.repeat(longestLine - 1)} … and 4 more characters`,
    'no half of a character stays',
  );
  assert.equal(log.messages[1]?.text, 'z'.repeat(longestLine));
});

test('a server that becomes ready has its tools listed again; a removed one goes', () => {
  const state = after({ snapshot: { servers: [{ name: 'files', state: 'SERVER_STATE_STOPPED' }] } });
  takeChanged(state);
  transition(state, { serverChanged: { server: { name: 'files', state: 'SERVER_STATE_READY' } } });
  assert.deepEqual([...takeChanged(state).tools], ['files']);
  transition(state, { serverChanged: { server: { name: 'files' }, removed: true } });
  assert.equal(state.servers.size, 0);
  assert.equal(takeChanged(state).serverList, true);
});

test('servers stand where the hub says, whichever it tells of first; those of a hub that does not say, as they came', () => {
  const state = after({
    snapshot: {
      servers: [
        { name: 'a', place: 1 },
        { name: 'b', place: 2 },
      ],
    },
  });
  takeChanged(state);
  transition(state, { serverChanged: { server: { name: 'new', place: 1 } } });
  transition(state, { serverChanged: { server: { name: 'b', place: 3 } } });
  transition(state, { serverChanged: { server: { name: 'a', place: 2 } } });
  assert.deepEqual([...state.servers.keys()], ['new', 'a', 'b']);
  assert.equal(takeChanged(state).serverList, true);
  transition(state, { serverChanged: { server: { name: 'b', place: 1 } } });
  transition(state, { serverChanged: { server: { name: 'new', place: 3 } } });
  assert.deepEqual([...state.servers.keys()], ['b', 'a', 'new']);
  assert.equal(takeChanged(state).serverList, true);
  transition(state, { serverChanged: { server: { name: 'a', place: 2, lastError: 'lost' } } });
  assert.equal(takeChanged(state).serverList, false);

  const silent = after({ snapshot: { servers: [{ name: 'z' }] } });
  transition(silent, { serverChanged: { server: { name: 'a' } } });
  transition(silent, { serverChanged: { server: { name: 'z', lastError: 'lost' } } });
  assert.deepEqual([...silent.servers.keys()], ['z', 'a']);
});

test('only what has changed is marked', () => {
  const state = after(
    { mcpRequestStarted: { request: request('r-1') } },
    { mcpRequestStarted: { request: request('r-2') } },
  );
  takeChanged(state);
  transition(state, { mcpRequestProgressed: { requestId: 'r-2', progress: { progress: 1 } } });
  const changed = takeChanged(state);
  assert.deepEqual([...changed.requests], ['r-2']);
  assert.equal(
    changed.requestList || changed.history || changed.prompts || changed.serverList || changed.connection,
    false,
  );
});

test('what the page does not know is told to be so', () => {
  assert.equal(transition(createState(), {}), false);
});

test('an update marks what is subscribed to, and what lies below it, once', () => {
  const state = after({
    snapshot: { servers: [{ name: 'files' }], subscriptions: [{ server: 'files', uri: 'x:a' }] },
  });
  takeChanged(state);
  for (const uri of ['x:ab', 'x:', 'y:a']) transition(state, { resourceUpdated: { server: 'files', uri } });
  assert.equal(state.changed.subscribed, false);
  transition(state, { resourceUpdated: { server: 'files', uri: 'x:a/b' } });
  assert.equal(takeChanged(state).subscribed, true);
  transition(state, { resourceUpdated: { server: 'files', uri: 'x:a' } });
  assert.equal(state.changed.subscribed, false, 'a flood paints nothing');
  transition(state, { serverChanged: { server: { name: 'files' }, removed: true } });
  assert.equal(state.subscriptions.size, 0);
});

test('what was subscribed to before the connection was lost may have changed meanwhile', () => {
  const [a, b] = ['x:a', 'x:b'].map((uri) => ({ server: 'files', uri }));
  const state = after({ snapshot: { subscriptions: [a ?? {}] } });
  const marks = () => [...state.subscriptions.values()].map(({ uri, changed, sure }) => [uri, changed, sure]);
  assert.deepEqual(marks(), [['x:a', false, false]]);
  transition(state, { snapshot: { subscriptions: [a ?? {}, b ?? {}] } });
  assert.deepEqual(marks(), [
    ['x:a', true, false],
    ['x:b', false, false],
  ]);
});

test('what the window did not get is counted until a snapshot, and notices among it make every list of tools stale', () => {
  const state = after({ snapshot: { servers: [{ name: 'files' }, { name: 'docs' }] } });
  takeChanged(state);
  assert.equal(transition(state, { dropped: { logMessages: '40' } }), true);
  assert.deepEqual(
    [state.dropped, state.changed.dropped, state.changed.tools.size],
    [{ logMessages: 40, notices: 0 }, true, 0],
  );
  transition(state, { dropped: { logMessages: '2', notices: '3' } });
  assert.deepEqual([state.dropped, [...state.changed.tools]], [{ logMessages: 42, notices: 3 }, ['files', 'docs']]);
  transition(state, { snapshot: {} });
  assert.deepEqual(state.dropped, { logMessages: 0, notices: 0 });
});

// Finding C9: long names.
test('names of ended requests fill no memory: the filter looks through their start, and what is old keeps but that', () => {
  const tool = 'x'.repeat(4 << 20);
  const state = after(...Array.from({ length: 12 }, (_, i) => finished(`r-${i}`, { tool })));
  assert.ok(state.history.every((entry) => entry.words.length < 1000));
  assert.equal(state.history.at(-1)?.about.tool, tool);
  assert.match(state.history[0]?.about.tool ?? '', /^x{64}… \(4194304 characters\)$/);
  assert.match(state.history[0]?.finished?.tool ?? '', /^x{64}… /);
});
