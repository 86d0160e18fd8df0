// The API for other extensions, with a hub that a test turns.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hub } from '@mcphub/host';
import { createApi } from '../src/api.js';
import type { WatcherWindow } from '../src/hub/watcherwindow.js';

test('a call that is aborted while the hub starts ends at once, and the hub never hears of it', async () => {
  let calls = 0;
  const hub = {
    requests: {
      callTool: () => {
        calls++;
        return Promise.resolve({ outcome: { case: 'resultJson', value: '{}' }, isError: false });
      },
    },
  } as unknown as Hub;
  const watcher = { listen: () => () => undefined } as unknown as WatcherWindow;
  let start: () => void = () => assert.fail('nobody waits for the hub');
  const api = createApi(
    () => hub,
    () =>
      new Promise((resolve) => {
        start = resolve;
      }),
    watcher,
  );
  const [first, second] = [new AbortController(), new AbortController()];
  const aborted = api.callTool({ server: 's', tool: 't', signal: first.signal });
  first.abort(new Error('no longer wanted'));
  await assert.rejects(aborted, /no longer wanted/);
  const before = AbortSignal.abort(new Error('never wanted'));
  await assert.rejects(api.callTool({ server: 's', tool: 't', signal: before }), (error) => {
    start();
    return /never wanted/.test(String(error));
  });
  const called = api.callTool({ server: 's', tool: 't', signal: second.signal });
  start();
  assert.equal((await called).resultJson, '{}');
  assert.equal(calls, 1);
});
