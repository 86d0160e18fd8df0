// The outcome of a cancel that was still pending when its request ended: the later event reaches windows and pages
// unchanged. Findings B2 and B17.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { create } from '@bufbuild/protobuf';
import { AttachResponseSchema, CancelDelivery, HubError } from '../dist/index.js';
import type { AttachResponse, AttachResponseJson, HubWindow } from '../dist/index.js';
import { PageRelay } from '../dist/relay.js';
import { ResumingWindow } from '../dist/window.js';
import { FakeSource, settle } from './fakestream.js';
import type { FakeStream } from './fakestream.js';

type Event = NonNullable<MessageInitShape<typeof AttachResponseSchema>['event']>;

const ended: Event = {
  case: 'mcpRequestCancelled',
  value: { requestId: 'r', server: 's', delivery: CancelDelivery.PENDING, serverMayContinue: true },
};
const outcomes = [
  { delivery: CancelDelivery.DELIVERED, error: '', page: { delivery: 'CANCEL_DELIVERY_DELIVERED' } },
  {
    delivery: CancelDelivery.FAILED,
    error: 'HTTP 500',
    page: { delivery: 'CANCEL_DELIVERY_FAILED', error: 'HTTP 500' },
  },
  { delivery: CancelDelivery.NOT_NEEDED, error: '', page: { delivery: 'CANCEL_DELIVERY_NOT_NEEDED' } },
];

function numbered(stream: FakeStream, sequence: bigint, event: Event): void {
  stream.inbox.push(create(AttachResponseSchema, { sequence, event }));
}

async function next(window: HubWindow): Promise<AttachResponse['event'] | undefined> {
  const { value } = await window[Symbol.asyncIterator]().next();
  return value?.event;
}

for (const { delivery, error, page } of outcomes) {
  const name = CancelDelivery[delivery];

  test(`a window reads that a cancel was pending, and after a break that it is ${name}`, async () => {
    const source = new FakeSource();
    const window = new ResumingWindow(source, {}, undefined);
    await settle();
    source.stream(0).welcome();
    numbered(source.stream(0), 7n, ended);
    source.stream(0).inbox.end(new HubError('unavailable', 'CONNECTION_LOST', 'broken'));
    assert.equal((await next(window))?.case, 'welcome');
    const cancelled = await next(window);
    assert.ok(cancelled?.case === 'mcpRequestCancelled');
    assert.deepEqual([cancelled.value.delivery, cancelled.value.serverNotified], [CancelDelivery.PENDING, false]);
    while (source.streams.length < 2) {
      await settle();
    }
    assert.equal(source.stream(1).hello.resume?.afterSequence, 7n, 'so the hub sends it the event that it has missed');
    numbered(source.stream(1), 8n, {
      case: 'mcpRequestCancelDelivery',
      value: { requestId: 'r', server: 's', delivery, error },
    });
    const outcome = await next(window);
    assert.ok(outcome?.case === 'mcpRequestCancelDelivery');
    assert.deepEqual([outcome.value.requestId, outcome.value.delivery, outcome.value.error], ['r', delivery, error]);
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
