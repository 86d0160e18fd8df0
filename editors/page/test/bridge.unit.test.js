// How many messages of a view may be dropped over time, and what a view is told about the time before it was
// initialized.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBridge } from '../src/apps/bridge.js';

/** @typedef {{ method?: string, id?: string, params?: { [key: string]: unknown } }} Sent */

/**
 * Opens a bridge with a page that does nothing for the view. It returns what the bridge sends, and why it ended the
 * view.
 */
function opened() {
  /** @type {Sent[]} */
  const sent = [];
  /** @type {string[]} */
  const ends = [];
  const none = () => Promise.resolve(undefined);
  const bridge = openBridge({
    send: (message) => void sent.push(message),
    hostInfo: {},
    capabilities: {},
    context: () => ({ theme: 'dark' }),
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
  return { bridge, sent, ends };
}

test('what was dropped is forgiven with time, and a flood is not', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const { bridge, ends } = opened();
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

test('what changes between the greeting and the word that it is initialized is told once', async () => {
  const { bridge, sent } = opened();
  bridge.contextChanged({ theme: 'light' }); // before the greeting, which says how it is by then
  bridge.receive({ jsonrpc: '2.0', id: 'hello', method: 'ui/initialize', params: {} });
  bridge.contextChanged({ theme: 'light' });
  bridge.contextChanged({ theme: 'dark', locale: 'de' });
  bridge.given({ path: 'a' });
  await Promise.resolve();
  assert.deepEqual(
    sent.map(({ id, method }) => id ?? method),
    ['hello'],
  );
  bridge.receive({ jsonrpc: '2.0', method: 'ui/notifications/initialized' });
  bridge.contextChanged({ theme: 'light' });
  assert.deepEqual(
    sent.slice(1).map(({ method, params }) => [method, params]),
    [
      ['ui/notifications/host-context-changed', { theme: 'dark', locale: 'de' }],
      ['ui/notifications/tool-input', { arguments: { path: 'a' } }],
      ['ui/notifications/host-context-changed', { theme: 'light' }],
    ],
  );
});
