import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, toJson } from '@bufbuild/protobuf';
import { AnySchema, anyPack, anyUnpack } from '@bufbuild/protobuf/wkt';
import type { Any } from '@bufbuild/protobuf/wkt';
import {
  ApprovalScope,
  CallToolResponseSchema,
  HelloSchema,
  HubError,
  ListToolsRequestSchema,
  ListToolsResponseSchema,
  McpHubService,
  McpServerService,
  PromptAnswerSchema,
  PromptSchema,
  SetRootsSchema,
} from '../dist/contract.js';
import type { HubWindow } from '../dist/contract.js';
import { ReturningWindow } from '../dist/window.js';
import { FakeSource, settle } from './fakestream.js';
import type { FakeStream } from './fakestream.js';
import { failure } from './stage.js';

function opened(
  hello = {},
  signal?: AbortSignal,
  source = new FakeSource(),
): { source: FakeSource; window: HubWindow } {
  return { source, window: new ReturningWindow(source, hello, signal) };
}

/** Returns the next event of a window, which must have arrived. */
async function next(window: HubWindow): Promise<string | undefined> {
  const { value } = await window[Symbol.asyncIterator]().next();
  return value?.event.case;
}

function event(stream: FakeStream): void {
  stream.say({ case: 'toolsChanged', value: { server: 's' } });
}

const question = { message: { case: 'cancelMcpRequest', value: { requestId: 'r' } } } as const;

test('a window that is opened before the hub is started waits for it, and ends when the hub is stopped', async () => {
  const source = new FakeSource();
  source.state = 'stopped';
  const { window } = opened({ title: 'early' }, undefined, source);
  const read = (async () => {
    const cases: (string | undefined)[] = [];
    for await (const message of window) {
      cases.push(message.event.case);
    }
    return cases;
  })();
  await settle();
  assert.equal(source.streams.length, 0);
  source.become('starting', 'The hub is being started.');
  source.become('ready', 'The hub is ready.');
  await settle();
  assert.equal(source.stream(0).hello.title, 'early');
  source.stream(0).welcome();
  await settle();
  source.become('stopped', 'The hub was stopped.');
  source.stream(0).inbox.end();
  assert.deepEqual(await read, ['welcome']);
});

test('a window that waits for the first start hears why there is no hub, and can be closed', async () => {
  const source = new FakeSource();
  source.state = 'stopped';
  const { window } = opened({}, undefined, source);
  const { window: closed } = opened({}, undefined, source);
  await settle();
  await closed.close();
  assert.equal(await next(closed), undefined);
  source.become('starting', 'The hub is being started.');
  source.failure = new HubError('unavailable', 'HUB_NOT_FOUND', 'no program');
  source.become('failed', 'no program');
  assert.equal((await failure(next(window))).reason, 'HUB_NOT_FOUND');
  assert.equal(source.streams.length, 0);
});

for (const [reason, code] of [
  ['WINDOW_TOO_SLOW', 'resource_exhausted'],
  ['DRAINING', 'unavailable'],
  ['CONNECTION_LOST', 'unavailable'],
] as const) {
  test(`after ${reason} a window comes back to its hub, and its reader gets welcome and snapshot again`, async () => {
    const { source, window } = opened({ title: 'test' });
    await settle();
    assert.equal(source.stream(0).hello.comesBackTo, '');
    source.stream(0).welcome();
    source.stream(0).say({ case: 'snapshot', value: {} });
    event(source.stream(0));
    source.stream(0).inbox.end(new HubError(code, reason, 'broken'));
    assert.deepEqual(
      [await next(window), await next(window), await next(window)],
      ['welcome', 'snapshot', 'toolsChanged'],
    );
    while (source.streams.length < 2) {
      await settle();
    }
    const { hello } = source.stream(1);
    assert.deepEqual([hello.windowId, hello.title, hello.comesBackTo], [window.windowId, 'test', 'h1']);
    source.stream(1).welcome();
    source.stream(1).say({ case: 'snapshot', value: {} });
    assert.deepEqual([await next(window), await next(window)], ['welcome', 'snapshot']);
    await window.close();
    assert.equal(source.stream(1).ended, 'closed');
  });
}

for (const [reason, code] of [
  ['WINDOW_SUPERSEDED', 'failed_precondition'],
  ['WINDOW_ID_IN_USE', 'already_exists'],
  ['HELLO_EXPECTED', 'invalid_argument'],
] as const) {
  test(`${reason} ends a window for good, and its reader hears why`, async () => {
    const { source, window } = opened();
    await settle();
    source.stream(0).inbox.end(new HubError(code, reason, 'no more'));
    assert.equal((await failure(next(window))).reason, reason);
    assert.equal(await next(window), undefined);
    assert.equal(source.streams.length, 1);
    await window.close();
  });
}

test('a window that nobody reads takes 1,024 messages and lets the hub wait', async () => {
  const { source, window } = opened();
  await settle();
  for (let i = 0; i < 5000; i++) {
    event(source.stream(0));
  }
  await settle();
  assert.equal(source.stream(0).inbox.size, 5000 - 1025); // one message is with the reader
  assert.equal(await next(window), 'toolsChanged');
  await settle();
  assert.equal(source.stream(0).inbox.size, 5000 - 1026);
  await window.close(); // although nobody reads any more
});

test('a reader that awaits a reply gets it, whatever came before', async () => {
  const { source, window } = opened();
  await settle();
  for (const early of [true, false]) {
    // Asked before the events arrive, or when the window is full.
    const asked = early ? window.ask(question) : undefined;
    for (let i = 0; i < 3000; i++) {
      event(source.stream(0));
    }
    await settle();
    const reply = asked ?? window.ask(question);
    const messageId = source.stream(0).sent.at(-1)?.messageId ?? '';
    source.stream(0).say({ case: 'reply', value: { messageId } });
    assert.equal((await reply).messageId, messageId);
  }
  await window.close();
});

test('an answer carries the hash of the launch that was shown, and one that is refused rejects', async () => {
  const { source, window } = opened();
  await settle();
  const launch = create(PromptSchema, {
    promptId: 'p1',
    question: { case: 'serverLaunch', value: { launchHash: 'all of it' } },
  });
  const approval = create(PromptSchema, { promptId: 'p2', question: { case: 'toolApproval', value: {} } });
  const answers = [
    window.answer(launch, 'accept'),
    window.answer(launch, 'decline', { reason: 'no' }),
    window.answer(approval, 'accept', { scope: ApprovalScope.ALWAYS }),
    window.answer(approval, 'dismiss'),
  ];
  const sent = source.stream(0).sent.map(({ message }) => message.case === 'answerPrompt' && message.value);
  assert.deepEqual(
    sent.map((answer) => answer && toJson(PromptAnswerSchema, answer)),
    [
      { promptId: 'p1', accept: { launchHash: 'all of it' } },
      { promptId: 'p1', decline: { reason: 'no' } },
      { promptId: 'p2', accept: { scope: 'APPROVAL_SCOPE_ALWAYS' } },
      { promptId: 'p2', dismiss: {} },
    ],
  );
  const error = { code: 'INVALID_ARGUMENT', reason: 'CONSENT_NOT_SHOWN', message: 'still open' };
  for (const { messageId } of source.stream(0).sent) {
    source.stream(0).say({ case: 'reply', value: { messageId, error } });
  }
  for (const answer of answers) {
    assert.equal((await failure(answer)).reason, 'CONSENT_NOT_SHOWN');
  }
  await window.close();
});

test('a reader that awaits a reply behind far too much loses the reply, not the window', async () => {
  const { source, window } = opened();
  await settle();
  source.stream(0).welcome();
  const asked = failure(window.ask(question));
  for (let i = 0; i < 40_000; i++) {
    event(source.stream(0));
  }
  assert.deepEqual(
    [(await asked).code, (await asked).reason, source.stream(0).ended],
    ['unavailable', 'WINDOW_TOO_SLOW', 'broken'],
  );
  while (source.streams.length < 2) {
    await settle();
  }
  assert.equal(source.stream(1).hello.comesBackTo, 'h1');
  await window.close();
});

test('closing twice is closing once; a hub that does not end the stream is not waited for', async (t) => {
  const { source, window } = opened();
  await settle();
  const stream = source.stream(0);
  stream.close = () => {
    stream.ended = 'closed';
  }; // the hub does not answer it
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const closed = Promise.all([window.close(), window.close()]);
  await settle();
  assert.equal(stream.ended, 'closed');
  t.mock.timers.tick(2000);
  await closed;
  assert.equal(stream.ended, 'broken');
  assert.equal((await failure(window.ask(question))).reason, 'HUB_NOT_READY');
});

test('an abort closes the window; one that has been opened with an aborted signal attaches to nothing', async () => {
  const aborting = new AbortController();
  const { source, window } = opened({}, aborting.signal);
  await settle();
  aborting.abort();
  assert.equal(await next(window), undefined);
  assert.equal(source.stream(0).ended, 'closed');
  const never = opened({}, aborting.signal);
  assert.equal(await next(never.window), undefined);
  assert.equal(never.source.streams.length, 0);
});

test('questions of a stream that breaks are answered, and an abort of one leaves the others', async () => {
  const { source, window } = opened();
  await settle();
  const aborting = new AbortController();
  const [aborted, lost] = [failure(window.ask(question, { signal: aborting.signal })), failure(window.ask(question))];
  aborting.abort();
  assert.equal((await aborted).code, 'cancelled');
  source.stream(0).inbox.end(new HubError('unavailable', 'HUB_DIED', 'died'));
  assert.deepEqual([(await lost).code, (await lost).reason], ['unavailable', 'HUB_DIED']);
  await window.close();
});

test('roots that are said while there is no stream are said with the next hello, and the caller keeps its own message', async () => {
  const said = create(HelloSchema, { title: 'test' });
  const source = new FakeSource();
  source.become('restarting', '');
  const { window } = opened(said, undefined, source);
  window.send({
    message: {
      case: 'setRoots',
      value: {
        $typeName: SetRootsSchema.typeName,
        roots: [{ $typeName: 'mcphub.v1.Root', uri: 'file:///repos/a', name: '' }],
      },
    },
  });
  assert.throws(() => window.send(question), { reason: 'HUB_NOT_READY' });
  await settle();
  source.become('ready', '');
  await settle();
  assert.deepEqual(
    source.stream(0).hello.roots.map((r) => r.uri),
    ['file:///repos/a'],
  );
  assert.deepEqual(said, create(HelloSchema, { title: 'test' }));
  await window.close();
});

test('a window that is closed in the moment in which the hub gets ready attaches to nothing', async () => {
  const source = new FakeSource();
  source.become('starting', '');
  const { window } = opened({}, undefined, source);
  await settle();
  source.become('ready', '');
  await window.close();
  assert.equal(source.streams.length, 0);
});

test('a window comes back to the hub of its last welcome, even if nothing has followed that', async () => {
  const { source, window } = opened({ comesBackTo: 'h0' });
  await settle();
  assert.equal(source.stream(0).hello.comesBackTo, 'h0', 'as its host has said');
  for (const [n, hubId] of [
    [0, 'h1'],
    [1, 'h2'],
    [2, undefined],
    [3, 'h2'],
  ] as const) {
    if (hubId !== undefined) {
      source.stream(n).welcome(hubId);
    }
    source.stream(n).inbox.end(new HubError('unavailable', 'HUB_DIED', 'died'));
    while (source.streams.length < n + 2) {
      await settle();
    }
  }
  assert.deepEqual(
    source.streams.map(({ hello }) => hello.comesBackTo),
    ['h0', 'h1', 'h2', 'h2', 'h2'],
  );
  await window.close();
});

test('roots that are said to a stream that has just broken are kept and said with the next hello', async () => {
  const { source, window } = opened();
  await settle();
  source.stream(0).welcome();
  source.stream(0).inbox.end(new HubError('unavailable', 'HUB_DIED', 'died'));
  window.send({
    message: {
      case: 'setRoots',
      value: {
        $typeName: SetRootsSchema.typeName,
        roots: [{ $typeName: 'mcphub.v1.Root', uri: 'file:///repos/a', name: '' }],
      },
    },
  });
  assert.throws(() => window.send(question), { code: 'unavailable' });
  while (source.streams.length < 2) {
    await settle();
  }
  assert.deepEqual(
    source.stream(1).hello.roots.map((r) => r.uri),
    ['file:///repos/a'],
  );
  await window.close();
});

test('a call of a method is sent with its request, and resolves with the response', async () => {
  const { source, window } = opened();
  await settle();
  const { listTools, stopServer } = McpServerService.method;
  const called = window.call(listTools, { server: 's', allowCached: true });
  const [sent] = source.stream(0).sent;
  assert.ok(sent?.message.case === 'call');
  assert.equal(sent.message.value.method, '/mcphub.v1.McpServerService/ListTools');
  assert.equal(sent.message.value.request?.typeUrl, 'type.googleapis.com/mcphub.v1.ListToolsRequest');
  assert.deepEqual(
    anyUnpack(sent.message.value.request, ListToolsRequestSchema),
    create(ListToolsRequestSchema, { server: 's', allowCached: true }),
  );
  const response = anyPack(ListToolsResponseSchema, create(ListToolsResponseSchema, { tools: [{ name: 't' }] }));
  source.stream(0).say({ case: 'reply', value: { messageId: sent.messageId, response } });
  assert.deepEqual(
    (await called).tools.map(({ name }) => name),
    ['t'],
  );
  const refused = failure(window.call(stopServer, { server: 'none' }));
  const { messageId = '' } = source.stream(0).sent[1] ?? {};
  const error = { code: 'NOT_FOUND', reason: 'SERVER_NOT_FOUND', message: 'no such server' };
  source.stream(0).say({ case: 'reply', value: { messageId, error } });
  assert.deepEqual([(await refused).code, (await refused).reason], ['not_found', 'SERVER_NOT_FOUND']);
  await window.close();
});

test('a call whose result goes to every window ends with an empty message, and any other type is refused', async () => {
  const { source, window } = opened();
  await settle();
  const answer = (response?: Any): void => {
    const { messageId } = source.stream(0).sent.at(-1) ?? assert.fail('nothing was sent');
    source.stream(0).say({ case: 'reply', value: { messageId, ...(response === undefined ? {} : { response }) } });
  };
  const tool = window.call(McpHubService.method.callTool, { server: 's', tool: 't' });
  answer();
  assert.deepEqual(await tool, create(CallToolResponseSchema));
  const list = (): Promise<HubError> => failure(window.call(McpServerService.method.listTools, {}));
  const other = list();
  answer(anyPack(CallToolResponseSchema, create(CallToolResponseSchema)));
  const unreadable = list();
  const typeUrl = 'type.googleapis.com/mcphub.v1.ListToolsResponse';
  answer(create(AnySchema, { typeUrl, value: new Uint8Array([0xff]) }));
  for (const error of await Promise.all([other, unreadable])) {
    assert.deepEqual([error.code, error.reason], ['internal', 'PROTOCOL_ERROR']);
  }
  assert.equal(source.stream(0).ended, '', 'the window stays attached');
  await window.close();
});

test('an aborted call is given up at the hub, and one that cannot be sent rejects', async () => {
  const { source, window } = opened();
  await settle();
  const aborting = new AbortController();
  const { signal } = aborting;
  const { listResources } = McpServerService.method;
  const aborted = [
    failure(window.call(listResources, { server: 's' }, { signal })),
    failure(window.ask(question, { signal })),
  ];
  aborting.abort();
  for (const error of await Promise.all(aborted)) {
    assert.equal(error.code, 'cancelled');
  }
  const [called, , ...more] = source.stream(0).sent;
  assert.deepEqual(
    more.map(({ message }) => message.case === 'giveUp' && message.value.messageId),
    [called?.messageId],
  );
  assert.equal((await failure(window.call(listResources, {}, { signal }))).code, 'cancelled');
  const invalid = await failure(window.call(McpHubService.method.readRequest, { offset: 2n ** 80n }));
  assert.equal(invalid.code, 'invalid_argument');
  assert.equal(source.stream(0).sent.length, 3);
  source.stream(0).inbox.end(new HubError('unavailable', 'HUB_DIED', 'died'));
  source.become('restarting', '');
  await settle();
  assert.equal((await failure(window.call(listResources, {}))).reason, 'HUB_NOT_READY');
  await window.close();
});
