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
  /** @type {string[]} */
  sent = [];
  constructor() {
    FakeSocket.all.push(this);
  }
  /** @param {string} text */
  send(text) {
    this.sent.push(text);
  }
}

/**
 * Opens a page at an address, in a tab that has kept something.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} [address]
 * @param {Map<string, string>} [kept]
 */
function opened(t, address = 'http://127.0.0.1:4000/', kept = new Map()) {
  FakeSocket.all = [];
  const { pathname } = new URL(address);
  /** @type {string[]} */
  const shown = [];
  const fakes = {
    location: { href: address, pathname },
    WebSocket: FakeSocket,
    history: { state: null, replaceState: (/** @type {unknown[]} */ ...to) => shown.push(String(to[2])) },
    sessionStorage: {
      getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
      setItem: (/** @type {string} */ key, /** @type {string} */ value) => kept.set(key, value),
      removeItem: (/** @type {string} */ key) => kept.delete(key),
    },
  };
  for (const [name, value] of Object.entries(fakes)) {
    const was = Object.getOwnPropertyDescriptor(globalThis, name);
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    t.after(() => (was ? Object.defineProperty(globalThis, name, was) : Reflect.deleteProperty(globalThis, name)));
  }
  /** @type {import('../../host/src/gen/mcphub/v1/editor_pb.js').AttachResponseJson[]} */
  const said = [];
  socketTransport('/stream', (message) => said.push(message));
  /** Opens the newest socket, and returns what the page says first on it. */
  const first = () => {
    const socket = FakeSocket.all.at(-1);
    socket?.onopen();
    /** @type {unknown} */
    const message = JSON.parse(socket?.sent[0] ?? '{}');
    return /** @type {{ session: string, token?: string }} */ (message);
  };
  return { said, shown, kept, first };
}

/** Ends the first socket of a page with a code. @param {import('node:test').TestContext} t @param {number} code */
function ended(t, code) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { said } = opened(t);
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

test('a link opens a session of this tab, and its token leaves the address; a reload goes on with the session', (t) => {
  const { kept, shown, first } = opened(t, 'http://127.0.0.1:4000/?token=ABC');
  const { session, token } = first();
  assert.equal(token, 'ABC');
  assert.ok(session.length >= 64, 'it cannot be guessed');
  assert.deepEqual(shown, ['/']);
  assert.deepEqual([...kept.values()], [session]);
  assert.deepEqual(opened(t, 'http://127.0.0.1:4000/', kept).first(), { session });
});

test('a new link begins a new session: the one of before may be known to who had the port before', (t) => {
  const { kept, first } = opened(t, 'http://127.0.0.1:4000/?token=DEF', new Map([['mcphub.session', 'old']]));
  assert.notEqual(first().session, 'old');
  assert.notEqual(kept.get('mcphub.session'), 'old');
});

test('a used link leaves the session of the tab as it is', (t) => {
  const { kept, said, first } = opened(t, 'http://127.0.0.1:4000/?token=ABC', new Map([['mcphub.session', 'mine']]));
  first();
  FakeSocket.all[0]?.onclose({ code: 4016, reason: 'Press Enter.' });
  assert.deepEqual(first(), { session: 'mine' });
  assert.equal(kept.get('mcphub.session'), 'mine');
  assert.ok(said.every(({ hubConnection }) => hubConnection?.state !== 'HUB_CONNECTION_STATE_FAILED'));
});

test('a page without a session says how to get a link, and does not try again', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { kept, said, first } = opened(t);
  assert.deepEqual(first(), { session: '' });
  FakeSocket.all[0]?.onclose({ code: 4016, reason: 'Press Enter.' });
  t.mock.timers.tick(60_000);
  assert.equal(FakeSocket.all.length, 1);
  assert.equal(kept.size, 0);
  const { state, message = '' } = said.at(-1)?.hubConnection ?? {};
  assert.equal(state, 'HUB_CONNECTION_STATE_FAILED');
  assert.match(message, /works once\. Press Enter\./);
});
