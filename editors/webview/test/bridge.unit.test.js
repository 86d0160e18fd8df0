// What a view is forgiven in the long run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBridge } from '../src/apps/bridge.js';

test('what was dropped is forgiven with time, and a flood is not', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  /** @type {string[]} */
  const ends = [];
  const none = () => Promise.resolve(undefined);
  const bridge = openBridge({
    send: () => undefined,
    hostInfo: {},
    capabilities: {},
    context: () => ({}),
    asked: {
      callTool: none,
      readResource: none,
      listTools: none,
      openLink: () => Promise.resolve(false),
      message: () => undefined,
      modelContext: () => undefined,
      displayMode: () => undefined,
      log: () => undefined,
      resized: () => undefined,
      ended: (reason) => ends.push(reason),
    },
  });
  const post = (/** @type {number} */ count) => {
    for (let n = 0; n < count; n++) bridge.receive({ jsonrpc: '2.0', method: 'ping' });
  };
  for (let hour = 0; hour < 5; hour++) {
    post(200 + 300); // 300 too many
    now += 3_600_000;
  }
  assert.deepEqual(ends, []);
  post(200 + 500 + 1);
  assert.equal(ends.length, 1);
});
