// The outcome of a cancel that was still pending when its request ended: the later event reaches windows and pages
// unchanged. Findings B2 and B17.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { CancelDelivery, HubError } from '../dist/contract.js';
import type { AttachResponse, AttachResponseJson, AttachResponseSchema, HubWindow } from '../dist/contract.js';
import { PageRelay } from '../dist/relay.js';
import { ReturningWindow } from '../dist/window.js';
import { FakeSource, settle } from './fakestream.js';

type Event = NonNullable<MessageInitShape<typeof AttachResponseSchema>['event']>;

const cancelled = { requestId: 'r', server: 's', delivery: CancelDelivery.PENDING, serverMayContinue: true };
const ended: Event = { case: 'mcpRequestCancelled', value: cancelled };
const outcomes = [
  { delivery: CancelDelivery.DELIVERED, error: '', page: { delivery: 'CANCEL_DELIVERY_DELIVERED' } },
  {
    delivery: CancelDelivery.FAILED,
    error: 'HTTP 500',
    page: { delivery: 'CANCEL_DELIVERY_FAILED', error: 'HTTP 500' },
  },
  { delivery: CancelDelivery.NOT_NEEDED, error: '', page: { delivery: 'CANCEL_DELIVERY_NOT_NEEDED' } },
];

async function next(window: HubWindow): Promise<AttachResponse['event'] | undefined> {
  const { value } = await window[Symbol.asyncIterator]().next();
  return value?.event;
}

for (const { delivery, error, page } of outcomes) {
  const name = CancelDelivery[delivery];

  test(`a window reads that a cancel was pending, and that it is ${name} from the event or after a break`, async () => {
    const source = new FakeSource();
    const window = new ReturningWindow(source, {}, undefined);
    await settle();
    source.stream(0).welcome();
    source.stream(0).say(ended);
    assert.equal((await next(window))?.case, 'welcome');
    const first = await next(window);
    assert.ok(first?.case === 'mcpRequestCancelled');
    assert.deepEqual([first.value.delivery, first.value.serverNotified], [CancelDelivery.PENDING, false]);
    source.stream(0).say({ case: 'mcpRequestCancelDelivery', value: { requestId: 'r', server: 's', delivery, error } });
    const outcome = await next(window);
    assert.ok(outcome?.case === 'mcpRequestCancelDelivery');
    assert.deepEqual([outcome.value.requestId, outcome.value.delivery, outcome.value.error], ['r', delivery, error]);

    source.stream(0).inbox.end(new HubError('unavailable', 'CONNECTION_LOST', 'broken'));
    while (source.streams.length < 2) {
      await settle();
    }
    source.stream(1).welcome();
    const history = [{ end: { case: 'cancelled' as const, value: { ...cancelled, delivery, deliveryError: error } } }];
    source.stream(1).say({ case: 'snapshot', value: { history } });
    assert.equal((await next(window))?.case, 'welcome');
    const snapshot = await next(window);
    assert.ok(snapshot?.case === 'snapshot');
    const end = snapshot.value.history[0]?.end;
    assert.ok(end?.case === 'cancelled');
    assert.deepEqual([end.value.delivery, end.value.deliveryError], [delivery, error]);
    await window.close();
  });

  test(`a page is posted that a cancel was pending, and then that it is ${name}`, async (t) => {
    const source = new FakeSource();
    const posted: AttachResponseJson[] = [];
    let say: (message: unknown) => void = () => {};
    const relay = new PageRelay(
      source,
      {
        post: (message) => posted.push(message),
        onMessage: (listener) => {
          say = listener;
          return () => {};
        },
      },
      {},
    );
    t.after(() => relay.dispose());
    say({ hello: {} });
    source.stream(0).welcome();
    await settle();
    posted.splice(0);
    source.stream(0).say(ended);
    source.stream(0).say({ case: 'mcpRequestCancelDelivery', value: { requestId: 'r', server: 's', delivery, error } });
    await settle();
    assert.deepEqual(posted, [
      {
        mcpRequestCancelled: {
          requestId: 'r',
          server: 's',
          delivery: 'CANCEL_DELIVERY_PENDING',
          serverMayContinue: true,
        },
      },
      { mcpRequestCancelDelivery: { requestId: 'r', server: 's', ...page } },
    ]);
  });
}
