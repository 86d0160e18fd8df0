// The host's own window, with a fake hub.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CancelDelivery, McpHubService, WatcherWindow } from '../dist/contract.js';
import type { AttachResponse, Hub, HubWindow } from '../dist/contract.js';

/** A fake hub with one window, which receives the events that the test feeds. */
function playedHub(): { hub: Hub; feed: (event: AttachResponse['event']) => void } {
  const unread: AttachResponse[] = [];
  let wake = (): void => {};
  let closed = false;
  const window = {
    windowId: 'w',
    send: () => {},
    close: () => {
      closed = true;
      wake();
      return Promise.resolve();
    },
    async *[Symbol.asyncIterator]() {
      while (!closed) {
        const next = unread.shift();
        if (next !== undefined) {
          yield next;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
  } as unknown as HubWindow;
  return {
    hub: { window: () => window } as unknown as Hub,
    feed: (event) => {
      unread.push({ event } as AttachResponse);
      wake();
    },
  };
}

const server = (name: string): AttachResponse['event'] =>
  ({ case: 'serverChanged', value: { server: { name }, removed: false } }) as unknown as AttachResponse['event'];

test('a listener that throws disturbs neither the others nor the window', async () => {
  const { hub, feed } = playedHub();
  const told: unknown[] = [];
  const watcher = new WatcherWindow({}, [], (error) => told.push(error));
  // A listener of another extension, which uses the exported API, may throw.
  watcher.listen({
    changed: () => {
      throw new Error('of a change');
    },
    event: () => {
      throw new Error('of an event');
    },
  });
  const seen: number[] = [];
  const both = new Promise<void>((resolve) => {
    watcher.listen({ changed: (_, standing) => seen.push(standing.servers.size) === 2 && resolve() });
  });
  watcher.follow(hub);
  feed(server('a'));
  feed(server('b'));
  await both;
  await watcher.close();
  assert.deepEqual(seen, [1, 2]);
  assert.equal(watcher.standing.servers.size, 2);
  assert.deepEqual([...new Set(told.map((error) => (error as Error).message))], ['of a change', 'of an event']);
});

test('what a dead hub still had to say changes nothing: the next welcome begins anew', async () => {
  const { hub, feed } = playedHub();
  const watcher = new WatcherWindow({}, [], (error) => assert.fail(String(error)));
  const heard: (string | undefined)[] = [];
  let wait: { readonly name: string; readonly resolve: () => void } | undefined;
  const until = (name: string): Promise<void> =>
    new Promise((resolve) => {
      wait = { name, resolve };
    });
  watcher.listen({
    event: ({ event }) => {
      heard.push(event.case);
      if (event.case === wait?.name) {
        wait?.resolve();
      }
    },
  });
  const opened = (promptId: string): AttachResponse['event'] =>
    ({ case: 'promptOpened', value: { prompt: { promptId, server: 's' } } }) as unknown as AttachResponse['event'];
  watcher.follow(hub);
  const first = until('promptOpened');
  feed({ case: 'welcome', value: {} } as AttachResponse['event']);
  feed(opened('before'));
  await first;
  watcher.hubLost(); // its process has exited, and its last output is read only now
  feed(opened('too late'));
  const again = until('welcome');
  feed({ case: 'welcome', value: {} } as AttachResponse['event']);
  await again;
  assert.deepEqual([...watcher.standing.prompts.keys()], []);
  const next = until('promptOpened');
  feed(opened('of the next'));
  await next;
  assert.deepEqual([...watcher.standing.prompts.keys()], ['of the next']);
  assert.deepEqual(
    heard,
    ['welcome', 'promptOpened', 'promptOpened', 'welcome', 'promptOpened'],
    'the last lines of the log are wanted all the same',
  );
  await watcher.close();
});

// Finding B2: listeners are told the outcome of a pending cancel, although its request has ended for them.
test('what became of a pending cancel is told to who listens, and changes nothing that stands', async () => {
  const { hub, feed } = playedHub();
  const watcher = new WatcherWindow({}, [], (error) => assert.fail(String(error)));
  const heard: unknown[] = [];
  const changes: unknown[] = [];
  const both = new Promise<void>((resolve) => {
    watcher.listen({
      changed: (change) => void changes.push(change),
      event: ({ event }) => {
        if (
          event.case === 'mcpRequestCancelDelivery'
          && heard.push([event.value.requestId, event.value.delivery]) === 2
        ) {
          resolve();
        }
      },
    });
  });
  watcher.follow(hub);
  for (const [requestId, delivery] of [
    ['a', CancelDelivery.DELIVERED],
    ['b', CancelDelivery.FAILED],
  ] as const) {
    const cancelled = { case: 'mcpRequestCancelled', value: { requestId, delivery: CancelDelivery.PENDING } };
    const outcome = { case: 'mcpRequestCancelDelivery', value: { requestId, delivery } };
    feed(cancelled as unknown as AttachResponse['event']);
    feed(outcome as unknown as AttachResponse['event']);
  }
  await both;
  await watcher.close();
  assert.deepEqual(heard, [
    ['a', CancelDelivery.DELIVERED],
    ['b', CancelDelivery.FAILED],
  ]);
  assert.deepEqual(changes, []);
});

test('after a break a question that has closed is taken back, and one that is open is not told again', async () => {
  const { hub, feed } = playedHub();
  const watcher = new WatcherWindow({}, [], (error) => assert.fail(String(error)));
  const told: string[] = [];
  let snapshots = 0;
  const second = new Promise<void>((resolve) => {
    watcher.listen({
      changed: ({ opened = [], closed = [] }, { requests }) => {
        told.push(
          ...opened.map(({ promptId }) => `asks ${promptId}`),
          ...closed.map(({ prompt }) => `took back ${prompt.promptId}`),
          `${requests.size} run`,
        );
      },
      event: ({ event }) => {
        if (event.case === 'mcpRequestFinished') {
          told.push(`ended ${event.value.requestId}`);
        } else if (event.case === 'snapshot' && ++snapshots === 2) {
          resolve();
        }
      },
    });
  });
  const snapshot = (prompts: string[], requests: string[], ended: string[] = []): void => {
    const value = {
      servers: [],
      requests: requests.map((requestId) => ({ requestId })),
      prompts: prompts.map((promptId) => ({ promptId, server: 's' })),
      history: ended.map((requestId) => ({ end: { case: 'finished', value: { requestId } } })),
      laterPromptIds: [],
    };
    feed({ case: 'welcome', value: {} } as AttachResponse['event']);
    feed({ case: 'snapshot', value } as unknown as AttachResponse['event']);
  };
  watcher.follow(hub);
  snapshot(['kept', 'closed'], ['a', 'b']);
  snapshot(['kept', 'new'], ['b'], ['a']);
  await second;
  await watcher.close();
  assert.deepEqual(told, ['asks kept', 'asks closed', '2 run', 'asks new', 'took back closed', '1 run', 'ended a']);
});

test('a window calls methods of the hub that it follows, and of no other', async () => {
  const { hub } = playedHub();
  const watcher = new WatcherWindow({}, [], (error) => assert.fail(String(error)));
  const call = async (): Promise<unknown> => watcher.call(McpHubService.method.cancelRequests, { reason: 'r' });
  await assert.rejects(call, { reason: 'HUB_NOT_READY' });
  const window = hub.window({});
  const called: unknown[] = [];
  window.call = ((...given: unknown[]) => Promise.resolve(called.push(given))) as unknown as HubWindow['call'];
  watcher.follow(hub);
  await call();
  assert.deepEqual(called, [[McpHubService.method.cancelRequests, { reason: 'r' }]]);
  await watcher.close();
  await assert.rejects(call, { reason: 'HUB_NOT_READY' });
});
