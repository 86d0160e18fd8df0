// When the socket of a page in a browser is opened again, and when it must not be.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { socketTransport } from '../src/hub/transport.js';

/** A fake WebSocket with the members that the page uses. */
class FakeSocket {
  /** @type {FakeSocket[]} */
  static all = [];
  /** @type {(event: { code: number, reason: string }) => unknown} */
  onclose = () => undefined;
  onopen = () => undefined;
  constructor() {
    FakeSocket.all.push(this);
  }
}

/** Ends the first socket of a page with a code. @param {import('node:test').TestContext} t @param {number} code */
function ended(t, code) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  FakeSocket.all = [];
  const before = ['location', 'WebSocket'].map(
    (name) => /** @type {const} */ ([name, Object.getOwnPropertyDescriptor(globalThis, name)]),
  );
  Object.defineProperty(globalThis, 'location', { value: { href: 'http://127.0.0.1:4000/' }, configurable: true });
  Object.defineProperty(globalThis, 'WebSocket', { value: FakeSocket, configurable: true });
  t.after(() =>
    before.forEach(([name, was]) =>
      was ? Object.defineProperty(globalThis, name, was) : Reflect.deleteProperty(globalThis, name),
    ),
  );
  /** @type {import('../src/hub/transport.js').AttachResponse[]} */
  const said = [];
  socketTransport('/stream', (message) => said.push(message));
  FakeSocket.all[0]?.onclose({ code, reason: '' });
  t.mock.timers.tick(60_000);
  return { sockets: FakeSocket.all.length, state: said.at(-1)?.hubConnection?.state };
}

test('a socket that broke, or whose window was too slow, comes back', (t) => {
  assert.deepEqual(ended(t, 1006), { sockets: 2, state: 'HUB_CONNECTION_STATE_STARTING' });
});

test('a window whose place another has taken does not take it back', (t) => {
  assert.deepEqual(ended(t, 4009), { sockets: 1, state: 'HUB_CONNECTION_STATE_FAILED' });
});
