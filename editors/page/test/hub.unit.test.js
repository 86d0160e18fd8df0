// The scripted hub of the tests behaves like a real one in a point that tests rely on: a snapshot follows its welcome
// at once.

import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Hub } from './harness/hub.js';

test('what a test says while a window is being welcomed comes after the snapshot', async () => {
  /** @type {import('./harness/schema.js').AttachResponseJson[]} */
  const posted = [];
  const hub = new Hub(
    async (message) => {
      await new Promise((resolve) => setImmediate(resolve)); // a page on a busy machine
      posted.push(message);
    },
    () => new Date(),
  );
  hub.hear({ hello: { windowId: 'w', promptKinds: [], maxHistory: 1 } });
  await hub.say({ configReloaded: {} });
  assert.deepEqual(
    posted.map((message) => Object.keys(message).at(-1)),
    ['welcome', 'snapshot', 'configReloaded'],
  );
});
