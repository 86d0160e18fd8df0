import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { create, toJson } from '@bufbuild/protobuf';
import { AnySchema, anyPack } from '@bufbuild/protobuf/wkt';
import {
  AttachRequestSchema,
  AttachResponseSchema,
  CancelOutcome,
  ConfigService,
  HubError,
  McpHubService,
  McpServerService,
  ReadRequestResponseSchema,
  RegistryService,
  RequestState,
} from '../dist/contract.js';
import type { AttachResponseJson, RelayOptions } from '../dist/contract.js';
import { PageRelay } from '../dist/relay.js';
import { registry } from '../dist/windowcalls.js';
import { FakeSource, call, settle } from './fakestream.js';

function scene(
  t: TestContext,
  options: RelayOptions = {},
): {
  source: FakeSource;
  posted: AttachResponseJson[];
  say: (m: unknown) => void;
  relay: PageRelay;
  told: () => unknown[];
  throwing: { on: boolean };
} {
  const source = new FakeSource();
  const posted: AttachResponseJson[] = [];
  let say: (m: unknown) => void = () => {};
  const throwing = { on: false };
  const relay = new PageRelay(
    source,
    {
      post: (m) => {
        if (throwing.on) {
          throw new Error('the webview is disposed');
        }
        posted.push(m);
      },
      onMessage: (listener) => {
        say = listener;
        return () => {
          say = () => {};
        };
      },
    },
    options,
  );
  t.after(() => relay.dispose());
  return { source, posted, relay, throwing, say: (m) => say(m), told: () => posted.splice(0) };
}

const READY = { hubConnection: { state: 'HUB_CONNECTION_STATE_READY' } };
const kinds = ['PROMPT_KIND_TOOL_APPROVAL'];

test("the page is told how the hub stands, and its hello opens a stream with the host's last word", async (t) => {
  const { source, told, say, relay } = scene(t, {
    hello: (h) => ({ ...h, windowId: 'side', roots: [{ uri: 'file:///repos/a' }] }),
  });
  assert.deepEqual(told(), [READY]);
  say({ hello: { promptKinds: kinds, title: 'side bar' } });
  const { hello } = source.stream(0);
  assert.deepEqual(
    [hello.windowId, hello.title, hello.roots.map((r) => r.uri), hello.comesBackTo],
    ['side', 'side bar', ['file:///repos/a'], ''],
  );
  source.stream(0).welcome();
  source.stream(0).say({ case: 'toolsChanged', value: { server: 's' } });
  await settle();
  assert.deepEqual(told(), [{ welcome: { hubId: 'h1', windowId: 'side' } }, { toolsChanged: { server: 's' } }]);
  assert.equal(relay.windowId, 'side');
  relay.dispose();
  assert.equal(source.stream(0).ended, 'closed');
});

test('a page that is gone for now breaks its stream, so that its window may come back, and hears nothing more', async (t) => {
  const { source, told, say, relay } = scene(t);
  say({ hello: { promptKinds: kinds } });
  source.stream(0).welcome();
  await settle();
  told();
  relay.leave();
  relay.dispose();
  await settle();
  assert.equal(source.stream(0).ended, 'broken');
  assert.deepEqual([told(), source.streams.length], [[], 1]);
});

test('malformed messages are answered and dropped', (t) => {
  const { told, say, source } = scene(t);
  told();
  say({ hello: {} });
  for (const bad of [
    { messageId: 'm1', nonsense: 1 },
    { messageId: 'm2' },
    { messageId: 'm3', cancelMcpRequest: { requestId: 7 } },
    { messageId: 'm4', closeWindow: {} }, // the host knows when a page is closed for good
    null,
    'text',
    5,
    [],
    undefined,
  ]) {
    say(bad);
  }
  const replies = told() as { reply: { messageId: string; error: { code: string } } }[];
  assert.deepEqual(
    replies.map((r) => [r.reply.messageId, r.reply.error.code]),
    [
      ['m1', 'INVALID_ARGUMENT'],
      ['m2', 'INVALID_ARGUMENT'],
      ['m3', 'INVALID_ARGUMENT'],
      ['m4', 'INVALID_ARGUMENT'],
    ],
  );
  assert.equal(source.stream(0).sent.length, 0);
});

test('the page is told when the hub stops answering and when it goes on, and its stream stands', async (t) => {
  const UNRESPONSIVE = 'HUB_CONNECTION_STATE_UNRESPONSIVE';
  const { source, told, say } = scene(t);
  const states = (): unknown[] => (told() as AttachResponseJson[]).map((m) => m.hubConnection?.state);
  source.respond(false);
  assert.deepEqual(states(), ['HUB_CONNECTION_STATE_READY'], 'a page that has not said hello waits for nothing');
  say({ hello: {} });
  assert.deepEqual(states(), [UNRESPONSIVE]);
  source.respond(true);
  assert.deepEqual(states(), [], 'the welcome says it');
  source.stream(0).welcome();
  await settle();
  told();
  source.respond(false);
  say({ messageId: 'c1', cancelMcpRequest: { requestId: 'r' } });
  source.respond(true);
  assert.deepEqual(states(), [UNRESPONSIVE, 'HUB_CONNECTION_STATE_RESPONSIVE']);
  assert.deepEqual([source.streams.length, source.stream(0).sent.length], [1, 1]);
});

test('without a hub messages are refused, and hello is kept until there is one', async (t) => {
  const { source, told, say } = scene(t);
  source.become('restarting', 'It died.');
  told();
  say({ messageId: 'c1', cancelMcpRequest: { requestId: 'r' } });
  say({ cancelMcpRequest: { requestId: 'r' } });
  say({ hello: { promptKinds: kinds } });
  const [refused, state] = told() as [{ reply: { messageId: string; error: { code: string } } }, unknown];
  assert.deepEqual([refused.reply.messageId, refused.reply.error.code], ['c1', 'UNAVAILABLE']);
  assert.deepEqual(state, { hubConnection: { state: 'HUB_CONNECTION_STATE_STARTING', message: 'It died.' } });
  source.become('ready', '');
  assert.deepEqual(told(), [READY]);
  say({ hello: { promptKinds: kinds } }); // as a page does when it is told that
  assert.equal(source.streams.length, 1);
  source.stream(0).welcome();
  await settle();
  source.become('failed', 'It is gone.');
  assert.deepEqual(told().at(-1), { hubConnection: { state: 'HUB_CONNECTION_STATE_FAILED', message: 'It is gone.' } });
});

test('a page that loads anew takes the place of its own stream', async (t) => {
  const { source, say } = scene(t);
  say({ hello: {} });
  say({ hello: { title: 'loaded anew before the welcome' } });
  assert.equal(source.streams.length, 1);
  source.stream(0).welcome();
  await settle();
  assert.equal(source.streams.length, 2);
  assert.deepEqual(
    [source.stream(0).ended, source.stream(1).hello.windowId, source.stream(1).hello.comesBackTo],
    ['broken', 'minted', 'h1'],
  );
});

test('a page comes back to the hub that it names, and to the one of the last welcome once there was one', async (t) => {
  const { source, say } = scene(t);
  say({ hello: { windowId: 'side', comesBackTo: 'before the reload' } });
  assert.equal(source.stream(0).hello.comesBackTo, 'before the reload');
  say({ hello: { windowId: 'side', comesBackTo: 'before the reload', title: 'crosses the welcome' } });
  source.stream(0).welcome('h1');
  await settle();
  assert.equal(source.stream(1).hello.comesBackTo, 'h1', 'the window that is attached there is its own');
  source.stream(1).welcome('h1');
  await settle();
  say({ hello: { windowId: 'another', comesBackTo: 'h0' } });
  assert.equal(source.stream(2).hello.comesBackTo, 'h0', 'nothing is known of another window');
});

test('a stream that breaks is told, its open questions are answered, and READY follows', async (t) => {
  const { source, told, say } = scene(t);
  say({ hello: {} });
  source.stream(0).welcome();
  say({ messageId: 'c1', cancelMcpRequest: { requestId: 'r' } });
  await settle();
  told();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  source.stream(0).inbox.end(new HubError('resource_exhausted', 'WINDOW_TOO_SLOW', 'too slow'));
  await settle();
  const [reply, starting] = told() as [{ reply: { messageId: string } }, unknown];
  assert.equal(reply.reply.messageId, 'c1');
  assert.deepEqual(starting, { hubConnection: { state: 'HUB_CONNECTION_STATE_STARTING', message: 'too slow' } });
  t.mock.timers.tick(0);
  assert.deepEqual(told(), [READY]);
  say({ hello: { windowId: 'minted', comesBackTo: 'h1' } });
  assert.equal(source.stream(1).hello.comesBackTo, 'h1');
  source.stream(1).inbox.end(new HubError('already_exists', 'WINDOW_ID_IN_USE', 'in use'));
  await settle();
  assert.deepEqual(told().at(-1), { hubConnection: { state: 'HUB_CONNECTION_STATE_FAILED', message: 'in use' } });
});

test('the host may replace or keep back an answer, and hears when the hub has taken it', async (t) => {
  const taken: string[] = [];
  const { source, told, say } = scene(t, {
    answer: (answer, prompt) => {
      if (prompt === undefined) {
        return Promise.reject(new HubError('not_found', 'PROMPT_CLOSED', 'unknown'));
      }
      const decline = { $typeName: 'mcphub.v1.DeclinePrompt', reason: 'the host says no' } as const;
      return Promise.resolve(
        prompt.server === 'quiet' ? undefined : { ...answer, action: { case: 'decline', value: decline } },
      );
    },
    answered: (answer, prompt) => taken.push(`${prompt.promptId} ${answer.action.case ?? ''}`),
  });
  say({ hello: {} });
  const stream = source.stream(0);
  stream.welcome();
  stream.say({ case: 'snapshot', value: { prompts: [{ promptId: 'p1', server: 's' }] } });
  stream.say({ case: 'promptOpened', value: { prompt: { promptId: 'p2', server: 'quiet' } } });
  stream.say({ case: 'promptOpened', value: { prompt: { promptId: 'p3', server: 's' } } });
  stream.say({ case: 'promptClosed', value: { promptId: 'p3' } });
  await settle();
  told();
  for (const n of [1, 2, 3]) {
    say({ messageId: `m${n}`, answerPrompt: { promptId: `p${n}`, accept: {} } });
  }
  say({ answerPrompt: { promptId: 'p1', dismiss: {} } });
  await settle();
  const refused = told() as { reply: { messageId: string; error: { reason: string } } }[];
  assert.deepEqual(refused.map((r) => [r.reply.messageId, r.reply.error.reason]).sort(), [
    ['m2', 'ANSWER_NOT_SENT'],
    ['m3', 'PROMPT_CLOSED'],
  ]);
  assert.deepEqual(
    stream.sent.map((m) => m.message.case === 'answerPrompt' && m.message.value.action.case),
    ['decline', 'decline'],
  );
  for (const { messageId } of stream.sent) {
    stream.say({
      case: 'reply',
      value: messageId === 'm1' ? { messageId } : { messageId, error: { code: 'NOT_FOUND', reason: 'PROMPT_CLOSED' } },
    });
  }
  await settle();
  assert.deepEqual(taken, ['p1 decline']);
  assert.deepEqual(told(), [{ reply: { messageId: 'm1' } }]); // the page never sees the message id that the relay made
});

test('a page that is gone breaks nothing', async (t) => {
  const seen: string[] = [];
  const { source, say, throwing, told } = scene(t, { event: (e) => seen.push(e.event.case ?? '') });
  say({ hello: {} });
  throwing.on = true;
  source.stream(0).welcome();
  source.stream(0).say({ case: 'toolsChanged', value: {} });
  source.become('restarting', '');
  say('junk');
  await settle();
  throwing.on = false;
  told();
  source.stream(0).say({ case: 'toolsChanged', value: {} });
  await settle();
  assert.deepEqual([seen, told().length], [['welcome', 'toolsChanged', 'toolsChanged'], 1]);
});

test('what a page says before its hello is refused with what to do', (t) => {
  const { told, say, source } = scene(t);
  told();
  say({ messageId: 'm1', cancelMcpRequest: { requestId: 'r' } });
  const [refused] = told() as { reply: { error: { code: string; message: string } } }[];
  assert.deepEqual([refused?.reply.error.code, source.streams.length], ['UNAVAILABLE', 0]);
  assert.match(refused?.reply.error.message ?? '', /hello first/);
});

test('an answer that is replaced while the hub is restarted reaches no prompt of the next hub', async (t) => {
  let replace = (): void => {};
  const { source, told, say } = scene(t, {
    answer: (answer) =>
      new Promise((resolve) => {
        replace = () => resolve(answer);
      }),
  });
  const ask = async (n: number, hubId: string): Promise<void> => {
    say({ hello: {} });
    source.stream(n).welcome(hubId);
    source.stream(n).say({ case: 'snapshot', value: { prompts: [{ promptId: 'prompt-1', server: 's' }] } });
    await settle();
  };
  const restart = async (): Promise<void> => {
    source.become('restarting', 'It died.');
    source.stream(-1).inbox.end(new HubError('unavailable', 'HUB_DIED', 'died'));
    await settle();
    source.become('ready', '');
  };
  await ask(0, 'h1');
  for (const [n, hubId] of [
    [1, 'h2'],
    [2, 'h3'],
  ] as const) {
    say({ messageId: `a${n}`, answerPrompt: { promptId: 'prompt-1', accept: {} } });
    await settle();
    await restart();
    if (n === 1) {
      await ask(n, hubId); // the next hub asks another question with the same id
    } else {
      say({ hello: {} }); // and the hub after that has not sent its welcome
    }
    told();
    replace();
    await settle();
    assert.deepEqual(
      (told() as { reply: { messageId: string; error: { code: string } } }[]).map((r) => [
        r.reply.messageId,
        r.reply.error.code,
      ]),
      [[`a${n}`, 'UNAVAILABLE']],
    );
    assert.deepEqual(source.stream(n).sent, []);
  }
});

test('an answer between hello and welcome is refused: nobody knows yet which hub it would reach', (t) => {
  const { source, told, say } = scene(t);
  say({ hello: {} });
  told();
  say({ messageId: 'a1', answerPrompt: { promptId: 'prompt-1', accept: {} } });
  assert.equal((told() as { reply: { error: { code: string } } }[])[0]?.reply.error.code, 'UNAVAILABLE');
  assert.deepEqual(source.stream(0).sent, []);
});

test('the prompts of a hub are forgotten with it, and kept until the next snapshot of the same hub', async (t) => {
  const known: (string | undefined)[] = [];
  const { source, say } = scene(t, {
    answer: (_, prompt) => {
      known.push(prompt?.server);
      return Promise.resolve(undefined);
    },
  });
  say({ hello: {} });
  source.stream(0).welcome();
  source.stream(0).say({ case: 'promptOpened', value: { prompt: { promptId: 'p', server: 'old' } } });
  await settle();
  for (const [n, hubId] of [
    [1, 'h1'],
    [2, 'h2'],
  ] as const) {
    source.stream(-1).inbox.end(new HubError('unavailable', 'CONNECTION_LOST', 'broken'));
    await settle();
    say({ hello: { windowId: 'minted' } });
    source.stream(n).welcome(hubId);
    await settle();
    say({ answerPrompt: { promptId: 'p', accept: {} } });
    await settle();
  }
  say({ hello: { windowId: 'minted' } });
  source.stream(3).welcome('h2');
  source.stream(3).say({ case: 'snapshot', value: { prompts: [{ promptId: 'p', server: 'new' }] } });
  await settle();
  say({ answerPrompt: { promptId: 'p', accept: {} } });
  await settle();
  assert.deepEqual(known, ['old', undefined, 'new']);
});

test('a message that cannot be shown to the page costs neither the stream nor the rest', async (t) => {
  const { source, told, say } = scene(t);
  say({ hello: {} });
  source.stream(0).welcome();
  source.stream(0).inbox.push({
    ...create(AttachResponseSchema, { event: { case: 'toolsChanged', value: {} } }),
    time: { $typeName: 'google.protobuf.Timestamp', seconds: 1n << 60n, nanos: 0 },
  });
  source.stream(0).say({ case: 'toolsChanged', value: { server: 'next' } });
  await settle();
  assert.deepEqual(told().at(-1), { toolsChanged: { server: 'next' } });
  assert.equal(source.stream(0).ended, '');
});

test('new folders are told on the stream that is there, and with each hello after it', async (t) => {
  const { source, say, relay } = scene(t, { hello: (h) => ({ ...h, roots: [{ uri: 'file:///repos/a' }] }) });
  relay.setRoots([{ uri: 'file:///repos/early' }]);
  say({ hello: {} });
  assert.deepEqual(
    source.stream(0).hello.roots.map((r) => r.uri),
    ['file:///repos/early'],
  );
  source.stream(0).welcome();
  await settle();
  relay.setRoots([{ uri: 'file:///repos/a' }, { uri: 'file:///repos/b', name: 'b' }]);
  const [told, ...more] = source.stream(0).sent.map((s) => s.message);
  assert.ok(told?.case === 'setRoots' && more.length === 0);
  assert.deepEqual(
    told.value.roots.map((r) => [r.uri, r.name]),
    [
      ['file:///repos/a', ''],
      ['file:///repos/b', 'b'],
    ],
  );
  assert.deepEqual(
    [source.streams.length, source.stream(0).ended],
    [1, ''],
    'the window stays attached, with all that is bound to it',
  );
  source.stream(0).inbox.end(new HubError('unavailable', 'CONNECTION_LOST', 'it broke'));
  relay.setRoots([]);
  await settle();
  say({ hello: { windowId: 'minted' } });
  assert.deepEqual(source.stream(1).hello.roots, []);
});

test('what the page has in view is for the host alone, and a failing hook ends nothing', (t) => {
  const seen: (readonly string[])[] = [];
  const { source, told, say } = scene(t, {
    inView: (ids) => {
      seen.push(ids);
      throw new Error('a hook');
    },
  });
  told();
  say({ messageId: 'v0', promptsInView: { promptIds: ['p1'] } }); // before there is a stream
  say({ hello: {} });
  say({ messageId: 'v1', promptsInView: { promptIds: ['p1', 'p2'] } });
  say({ promptsInView: {} });
  assert.deepEqual(seen, [['p1'], ['p1', 'p2'], []]);
  assert.deepEqual(told(), [{ reply: { messageId: 'v0' } }, { reply: { messageId: 'v1' } }]);
  assert.equal(source.stream(0).sent.length, 0);
});

test('a page is told to open the form that adds a server, and one that is not there yet when it is, once', async (t) => {
  const { source, told, say, relay } = scene(t);
  told();
  relay.openAddServer();
  relay.openAddServer({ server: 'notes', entryText: '{}' });
  say({ hello: {} });
  source.stream(0).welcome();
  source.stream(0).say({ case: 'snapshot', value: {} });
  await settle();
  assert.deepEqual(told(), [
    { welcome: { hubId: 'h1', windowId: 'minted' } },
    { snapshot: {} },
    { openAddServer: { server: 'notes', entryText: '{}' } },
  ]);
  relay.openAddServer();
  assert.deepEqual(told(), [{ openAddServer: {} }]);
});

test('a page is told what to open, and one that is not there yet when it is, beside what else it is to do', async (t) => {
  const { source, told, say, relay } = scene(t);
  told();
  relay.reveal('p1');
  relay.open({ server: 'notes' });
  relay.open({ server: 'notes', thing: { case: 'tool', value: 'read' } });
  say({ hello: {} });
  source.stream(0).welcome();
  source.stream(0).say({ case: 'snapshot', value: {} });
  await settle();
  assert.deepEqual(told().slice(2), [
    { revealPrompt: { promptId: 'p1' } },
    { open: { server: 'notes', tool: 'read' } },
  ]);
  relay.open({ thing: { case: 'requestId', value: 'r1' } });
  assert.deepEqual(told(), [{ open: { requestId: 'r1' } }]);
});

test('a page is told at once what to reveal, and one that is not there yet when it is, once', async (t) => {
  const { source, told, say, relay } = scene(t);
  told();
  relay.reveal('p0');
  relay.reveal('p1');
  say({ hello: {} });
  assert.deepEqual(told(), []);
  source.stream(0).welcome();
  await settle();
  assert.deepEqual(told(), [{ welcome: { hubId: 'h1', windowId: 'minted' } }]);
  source.stream(0).say({ case: 'snapshot', value: {} });
  await settle();
  assert.deepEqual(told(), [{ snapshot: {} }, { revealPrompt: { promptId: 'p1' } }]);
  relay.reveal('');
  assert.deepEqual(told(), [{ revealPrompt: {} }]);
  relay.dispose();
  relay.reveal('p2');
  assert.deepEqual(told(), []);
});

const remove = { messageId: 'w1', call: call(ConfigService.method.removeServer, { server: 's' }) };

test('config files are written for pages whose hosts have turned that on, and for no others', async (t) => {
  const closed = scene(t);
  closed.say({ hello: { promptKinds: kinds } });
  closed.source.stream(0).welcome();
  await settle();
  closed.told();
  const methods = [...ConfigService.methods, ...RegistryService.methods];
  assert.equal(methods.length, 11);
  for (const message of [
    ...methods.map((method) => ({ messageId: 'w1', call: call(method) })),
    { messageId: 'w1', chooseBundle: {} },
  ]) {
    closed.say(message);
    const [refused] = closed.told() as [{ reply: { messageId: string; error: { code: string; reason: string } } }];
    assert.deepEqual(
      [refused.reply.messageId, refused.reply.error.code, refused.reply.error.reason],
      ['w1', 'PERMISSION_DENIED', 'CONFIG_WRITES_OFF'],
    );
  }
  assert.equal(closed.source.stream(0).sent.length, 0);

  const open = scene(t, { configWrites: true });
  open.say({ hello: { promptKinds: kinds } });
  open.source.stream(0).welcome();
  await settle();
  open.say(remove);
  assert.equal(open.source.stream(0).sent.length, 1);
});

test('a program does not agree to the launch of what it wrote', async (t) => {
  const { source, say, told } = scene(t, { actsFor: 'an extension' });
  say({ hello: { promptKinds: kinds } });
  assert.equal(source.stream(0).hello.actsFor, 'an extension');
  source.stream(0).welcome();
  for (const name of ['an extension', 'another one']) {
    source.stream(0).say({
      case: 'promptOpened',
      value: {
        prompt: {
          promptId: name,
          question: { case: 'serverLaunch', value: { command: 'x', launchHash: 'h', writtenBy: { name } } },
        },
      },
    });
  }
  await settle();
  told();
  say({ messageId: 'a1', answerPrompt: { promptId: 'an extension', accept: { launchHash: 'h' } } });
  const [refused] = told() as [{ reply: { messageId: string; error: { reason: string } } }];
  assert.deepEqual([refused.reply.messageId, refused.reply.error.reason], ['a1', 'CONSENT_NOT_SHOWN']);
  assert.equal(source.stream(0).sent.length, 0);
  say({ messageId: 'a2', answerPrompt: { promptId: 'an extension', decline: {} } });
  say({ messageId: 'a3', answerPrompt: { promptId: 'another one', accept: { launchHash: 'h' } } });
  await settle();
  assert.equal(source.stream(0).sent.length, 2);
});

test('what a view asks goes to the hub as the page said it, and what comes of it comes back to the page', async (t) => {
  const { source, say, told } = scene(t, { hello: (h) => ({ ...h, windowId: 'own page' }) });
  say({ hello: { promptKinds: kinds, extensionsJson: '{"io.modelcontextprotocol/ui":{}}' } });
  const stream = source.stream(0);
  stream.welcome();
  await settle();
  told();

  const { callTool, readRequest } = McpHubService.method;
  const { readResource } = McpServerService.method;
  const ofView = { server: 's', appRequestId: 'shown', ownerWindowId: 'own page' };
  const argumentsJson = '{"big":12345678901234567890,"a":1.0}';
  const ofViews = [
    { messageId: 'v1', call: call(callTool, { requestId: 'r1', tool: 'next', argumentsJson, ...ofView }) },
    { messageId: 'v2', call: call(readResource, { requestId: 'r2', uri: 'ui://s/data', ...ofView }) },
    { messageId: 'v3', call: call(callTool, { requestId: 'r3', tool: 'for models', ...ofView }) },
    { messageId: 'v4', cancelMcpRequest: { requestId: 'r2', reason: 'The view has closed.' } },
  ];
  for (const message of ofViews) {
    say(message);
  }
  assert.deepEqual(
    stream.sent.map((m) => toJson(AttachRequestSchema, m, { registry })),
    ofViews,
  );
  assert.deepEqual(told(), []);

  const ended = { requestId: 'r1', server: 's', tool: 'next' };
  stream.say({ case: 'mcpRequestFinished', value: { ...ended, state: RequestState.DONE } });
  stream.say({ case: 'reply', value: { messageId: 'v1' } });
  const error = { code: 'PERMISSION_DENIED', reason: 'NOT_FOR_APPS', message: 'The tool is not for views.' };
  stream.say({ case: 'reply', value: { messageId: 'v3', error } });
  stream.say({ case: 'reply', value: { messageId: 'v4', cancelOutcome: CancelOutcome.CANCELLING } });
  await settle();
  assert.deepEqual(told(), [
    { mcpRequestFinished: { ...ended, state: 'REQUEST_STATE_DONE' } },
    { reply: { messageId: 'v1' } },
    { reply: { messageId: 'v3', error } },
    { reply: { messageId: 'v4', cancelOutcome: 'CANCEL_OUTCOME_CANCELLING' } },
  ]);

  const read = { messageId: 'v5', call: call(readRequest, { requestId: 'r1', part: 'REQUEST_PART_RESULT' }) };
  say(read);
  assert.deepEqual(toJson(AttachRequestSchema, stream.sent.at(-1) ?? create(AttachRequestSchema), { registry }), read);
  const text = '{"content":[{"type":"text","text":"é"}],"structuredContent":{"n":1.0}}';
  const response = anyPack(ReadRequestResponseSchema, create(ReadRequestResponseSchema, { text }));
  stream.say({ case: 'reply', value: { messageId: 'v5', response } });
  await settle();
  const type = 'type.googleapis.com/mcphub.v1.ReadRequestResponse';
  assert.deepEqual(told(), [{ reply: { messageId: 'v5', response: { '@type': type, text } } }]);
});

test('a call that is none, or that could mean something else to the hub, is refused', async (t) => {
  const { source, say, told } = scene(t, { configWrites: true, registry: () => 'https://registry.example' });
  say({ hello: {} });
  source.stream(0).welcome();
  await settle();
  told();
  const { searchRegistry } = RegistryService.method;
  const { listTools } = McpServerService.method;
  const [good, other] = [call(searchRegistry, { registryUrl: 'http://127.0.0.1' }), call(listTools, { server: 's' })];
  const { request } = good;
  const { '@type': type, ...fields } = request;
  const bad: Record<string, unknown> = {
    'of no method': { request },
    'of an unknown method': { ...good, method: '/mcphub.v1.RegistryService/Search' },
    'of an unknown service': { ...good, method: '/mcphub.v1.Registry/SearchRegistry' },
    'of the stream itself': { method: '/mcphub.v1.EditorService/Attach', request },
    'of another spelling': { ...good, method: '/mcphub.v1.registryservice/searchregistry' },
    'without a slash': { ...good, method: 'mcphub.v1.RegistryService/SearchRegistry' },
    'with two slashes': { ...good, method: '//mcphub.v1.RegistryService/SearchRegistry' },
    'with a slash at the end': { ...good, method: '/mcphub.v1.RegistryService/SearchRegistry/' },
    'with spaces': { ...good, method: ' /mcphub.v1.RegistryService/SearchRegistry' },
    'with a query': { ...good, method: '/mcphub.v1.RegistryService/SearchRegistry?' },
    'escaped': { ...good, method: '/mcphub.v1.RegistryService/%53earchRegistry' },
    'without a request': { method: good.method },
    'with an empty request': { method: good.method, request: {} },
    'with the request of another method': { method: good.method, request: other.request },
    'with the response of the method': {
      method: good.method,
      request: { '@type': type.replace('Request', 'Response') },
    },
    'to another method with this request': { method: other.method, request },
    'with a type of no contract': { ...good, request: { '@type': 'type.googleapis.com/google.protobuf.Empty' } },
    'with an unknown field': { ...good, request: { ...request, registry_URL: 'http://127.0.0.1' } },
    'with a text': { ...good, request: 'text' },
    'with another call': { ...good, request: { '@type': 'type.googleapis.com/mcphub.v1.Call', ...good } },
  };
  for (const [name, called] of Object.entries(bad)) {
    say({ messageId: name, call: called });
    await settle();
    const replies = told() as { reply: { messageId: string; error: { code: string; reason: string } } }[];
    assert.deepEqual(
      replies.map(({ reply }) => [reply.messageId, reply.error.code, reply.error.reason]),
      [[name, 'INVALID_ARGUMENT', 'MALFORMED_MESSAGE']],
      name,
    );
  }
  say({ messageId: 'two messages', call: other, chooseBundle: {} });
  assert.equal((told() as AttachResponseJson[])[0]?.reply?.error?.reason, 'MALFORMED_MESSAGE');
  assert.equal(source.stream(0).sent.length, 0);

  // The spelling of the type does not count: the hub gets the usual one, with what the host decides.
  const spellings = [type, 'example.com/mcphub.v1.SearchRegistryRequest', 'mcphub.v1.SearchRegistryRequest'];
  for (const spelling of spellings) {
    say({ messageId: spelling, call: { ...good, request: { ...fields, '@type': spelling } } });
    await settle();
  }
  assert.deepEqual(
    source.stream(0).sent.map((m) => toJson(AttachRequestSchema, m, { registry })),
    spellings.map((messageId) => ({
      messageId,
      call: call(searchRegistry, { registryUrl: 'https://registry.example' }),
    })),
  );
});

test('a page without config writes gets around that by no service and no spelling', async (t) => {
  const { source, say, told } = scene(t);
  say({ hello: {} });
  source.stream(0).welcome();
  await settle();
  told();
  const { addServer } = ConfigService.method;
  const { listTools } = McpServerService.method;
  const { method, request } = call(addServer, { server: 's', entryJson: '{}' });
  for (const called of [
    { method: method.toUpperCase(), request },
    { method: method.slice(1), request },
    { method: call(listTools).method, request },
    { method, request: call(listTools).request },
  ]) {
    say({ messageId: 'm', call: called });
    assert.equal((told() as AttachResponseJson[])[0]?.reply?.error?.code, 'INVALID_ARGUMENT');
  }
  say({ message_id: 'm', call: { method, request } }); // the JSON of a message has these names, too
  assert.equal((told() as AttachResponseJson[])[0]?.reply?.error?.reason, 'CONFIG_WRITES_OFF');
  assert.equal(source.stream(0).sent.length, 0);
});

test('a response that this host cannot pass on is told to the page as an error, and costs nothing else', async (t) => {
  const { source, say, told } = scene(t);
  say({ hello: {} });
  const stream = source.stream(0);
  stream.welcome();
  await settle();
  told();
  const known = 'type.googleapis.com/mcphub.v1.ListToolsResponse';
  for (const response of [
    { typeUrl: 'type.googleapis.com/mcphub.v9.ListToolsResponse', value: new Uint8Array() },
    { typeUrl: known, value: new Uint8Array([0xff]) },
  ]) {
    say({ messageId: 'm1', call: call(McpServerService.method.listTools) });
    stream.say({ case: 'reply', value: { messageId: 'm1', response: create(AnySchema, response) } });
    stream.say({ case: 'reply', value: { response: create(AnySchema, response) } });
    stream.say({ case: 'toolsChanged', value: { server: 'next' } });
    await settle();
    const [reply, next, ...more] = told() as AttachResponseJson[];
    assert.deepEqual(
      [reply?.reply?.messageId, reply?.reply?.error?.code, reply?.reply?.error?.reason],
      ['m1', 'INTERNAL', 'PROTOCOL_ERROR'],
    );
    assert.deepEqual([next, more], [{ toolsChanged: { server: 'next' } }, []]);
  }
  assert.equal(stream.ended, '');
  assert.equal(stream.sent.length, 2);
});
