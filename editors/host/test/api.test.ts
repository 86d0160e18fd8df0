// Calls by the API: what the hub is told, how they are cancelled, and how they fail.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HubError } from '../dist/index.js';
import { ApiScene, refusal } from './apiscene.js';
import { settle } from './fakestream.js';

const result = { outcome: { case: 'resultJson', value: '{"n":1}' }, isError: false };

test('a call that is aborted while the hub starts ends at once, and the hub never hears of it', async () => {
  const scene = new ApiScene();
  scene.answers['callTool'] = result;
  let start: () => void = () => assert.fail('nobody waits for the hub');
  scene.ready = () =>
    new Promise((resolve) => {
      start = resolve;
    });
  const api = scene.api();
  const [first, second] = [new AbortController(), new AbortController()];
  const aborted = refusal(api.callTool({ server: 's', tool: 't', signal: first.signal }));
  first.abort('no longer wanted');
  const error = await aborted;
  assert.deepEqual([error instanceof HubError, error.code, error.cause], [true, 'cancelled', 'no longer wanted']);
  const before = AbortSignal.abort('never wanted');
  assert.equal((await refusal(api.callTool({ server: 's', tool: 't', signal: before }))).cause, 'never wanted');
  const called = api.callTool({ server: 's', tool: 't', signal: second.signal });
  await settle();
  start();
  assert.equal((await called).resultJson, '{"n":1}');
  assert.deepEqual(
    scene.sent.map(([method]) => method),
    ['requests.callTool'],
  );
});

test('a call is made under the name of its caller, with its label, its clocks and its bound', async () => {
  const scene = new ApiScene();
  scene.answers['callTool'] = { ...result, view: { text: 'short', imagesJson: [], leftBytes: 9n, leftLines: 1n } };
  const answer = await scene.api({ timeouts: { totalMs: 9, humanMs: 1 } }).callTool({
    server: 's',
    tool: 't',
    arguments: '{"big":12345678901234567890}',
    requestId: 'mine',
    label: 'task 1',
    timeouts: { idleMs: 1500, totalMs: 0 },
    view: { maxTokens: 200 },
  });
  assert.deepEqual(scene.sent, [
    [
      'requests.callTool',
      {
        requestId: 'mine',
        taskLabel: 'task 1',
        timeouts: {
          idle: { seconds: 1n, nanos: 500_000_000 },
          total: { seconds: 0n, nanos: 0 },
          human: { seconds: 0n, nanos: 1_000_000 },
        },
        server: 's',
        tool: 't',
        argumentsJson: '{"big":12345678901234567890}',
        preapproved: false,
        caller: 'Some Body',
        view: { maxTokens: 200, images: false },
      },
    ],
  ]);
  assert.deepEqual([answer.requestId, answer.resultJson, answer.result], ['mine', '{"n":1}', { n: 1 }]);
  assert.deepEqual([answer.isError, answer.view?.text, answer.view?.leftBytes], [false, 'short', 9]);
});

test('without a server, a tool is named as models name it', async () => {
  const scene = new ApiScene();
  scene.answers['callTool'] = result;
  await scene.api().callTool({ tool: 's__t' });
  const [, request] = scene.sent[0] ?? [];
  assert.deepEqual(
    Object.entries(request as object).filter(([name]) => ['modelName', 'server', 'tool'].includes(name)),
    [['modelName', 's__t']],
  );
});

test('a call is preapproved if its caller may say so: by itself, or for all of its calls', async () => {
  const scene = new ApiScene();
  scene.answers['callTool'] = result;
  const said = async (preapproved: boolean | undefined, may: boolean, asksItself: boolean): Promise<unknown> => {
    const api = scene.api({ asksItself, preapproved: () => Promise.resolve(may) });
    await api.callTool({ server: 's', tool: 't', ...(preapproved !== undefined && { preapproved }) });
    return (scene.sent.at(-1)?.[1] as { preapproved: boolean }).preapproved;
  };
  assert.equal(await said(true, true, false), true);
  assert.equal(await said(true, false, false), false, 'the user did not allow it');
  assert.equal(await said(undefined, true, false), false, 'only calls that say so');
  assert.equal(await said(undefined, true, true), true, 'the host has asked itself');
  assert.equal(await said(false, true, true), false, 'but not before this one');
});

test('an abort reaches the server as a cancel with its reason, whatever that is', async () => {
  const reasons: [unknown, string][] = [
    ['too slow', 'too slow'],
    [new Error('no time'), 'no time'],
    [undefined, ''],
    [7, ''],
  ];
  for (const [reason, told] of reasons) {
    const scene = new ApiScene();
    const stop = new AbortController();
    scene.answers['readResource'] = () => {
      stop.abort(reason);
      return Promise.reject(new HubError('cancelled', 'CANCELLED', 'it was cancelled'));
    };
    const reading = scene.api().readResource({ server: 's', uri: 'x://1', requestId: 'r', signal: stop.signal });
    const error = await refusal(reading);
    assert.deepEqual([error.code, error.reason, error.cause], ['cancelled', 'CANCELLED', stop.signal.reason]);
    assert.deepEqual(scene.sent.at(-1), ['requests.cancelRequest', { requestId: 'r', reason: told }]);
  }
});

test('after its end, a call listens to its signal no more', async () => {
  const scene = new ApiScene();
  scene.answers['callTool'] = result;
  const stop = new AbortController();
  await scene.api().callTool({ server: 's', tool: 't', signal: stop.signal });
  stop.abort('too late');
  await settle();
  assert.equal(scene.sent.length, 1);
});

test('what a server answers in place of a result is an error with its code, also of a completion', async () => {
  const scene = new ApiScene();
  const api = scene.api();
  const error = { outcome: { case: 'error', value: { code: -32602n, message: 'no', dataJson: '1' } } };
  scene.answers['getMcpPrompt'] = error;
  scene.answers['complete'] = error;
  const completion = { server: 's', of: { prompt: 'p' }, argument: 'a', value: 'x' };
  for (const refused of [
    await refusal(api.getPrompt({ server: 's', name: 'p' })),
    await refusal(api.complete(completion)),
  ]) {
    assert.ok(refused instanceof HubError);
    assert.deepEqual([refused.code, refused.mcpError], ['mcp_error', { code: -32602, message: 'no', dataJson: '1' }]);
  }
  const completed = (value: string): object => ({ outcome: { case: 'resultJson', value } });
  scene.answers['complete'] = completed('{"completion":{"values":["x1",7,"x2"]}}');
  assert.deepEqual(await api.complete(completion), ['x1', 'x2']);
  scene.answers['complete'] = completed('[]');
  assert.deepEqual(await api.complete(completion), []);
});

test('whatever goes wrong, it is a HubError', async () => {
  const scene = new ApiScene();
  const api = scene.api();
  scene.answers['listTools'] = () => {
    throw new TypeError('something of the library');
  };
  const wrong: [Promise<unknown>, string][] = [
    [api.tools(), 'internal'],
    [api.startServer('s'), 'internal'], // the hub has answered nothing
    [api.readResult('id', { offset: 0.5 }), 'invalid_argument'],
    [api.callTool({ server: 's', tool: 't', timeouts: { humanMs: -1 } }), 'invalid_argument'],
    [api.callTool({ server: 's', tool: 't', arguments: { large: 1n } }), 'internal'],
    [api.updateServer('s', { timeouts: { totalMs: Number.NaN } }), 'invalid_argument'],
  ];
  for (const [promise, code] of wrong) {
    const error = await refusal(promise);
    assert.ok(error instanceof HubError, String(error));
    assert.equal(error.code, code, error.message);
  }
});

test('of a server its plain name, the entry of a source, and an object of the list are the same to every method', async () => {
  const scene = new ApiScene();
  const stream = await scene.attach({
    servers: [
      { name: 's', configName: 's', configScope: 'user', state: 3 },
      { name: 's@host', configName: 's', configScope: 'host', state: 3 },
      { name: 'b', configName: 'b', configScope: 'workspace', state: 7 },
    ],
  });
  const api = scene.api();
  const asked = (): unknown => (scene.sent.at(-1)?.[1] as { server: unknown }).server;
  const names: unknown[] = [];
  for (const server of ['s', { name: 's', source: 'workspace' } as const, ...api.servers]) {
    await refusal(api.restartServer(server));
    names.push(asked());
  }
  assert.deepEqual(names, ['s', 's@workspace', 's@user', 's@host', 'b']); // a broken one has no entry of a source
  stream.close();
  await scene.close();
});

test('a resource that two watch is subscribed to until neither does, and anew at a new hub', async () => {
  const scene = new ApiScene();
  const api = scene.api();
  const watched = [await api.watchResource('s', 'x://1'), await api.watchResource('s', 'x://1')];
  const methods = (): string[] => scene.sent.splice(0).map(([method]) => method);
  methods();
  scene.subscriptions.renew();
  watched[0]?.dispose();
  watched[0]?.dispose();
  await settle();
  assert.deepEqual(methods(), ['servers.subscribeResource']);
  watched[1]?.dispose();
  await settle();
  assert.deepEqual(methods(), ['servers.unsubscribeResource']);
  scene.subscriptions.renew();
  assert.deepEqual(methods(), []);
  scene.answers['subscribeResource'] = () => Promise.reject(new HubError('failed_precondition', 'NOT_OFFERED', 'no'));
  assert.equal((await refusal(api.watchResource('s', 'x://2'))).reason, 'NOT_OFFERED');
  methods();
  scene.subscriptions.renew();
  assert.deepEqual(methods(), [], 'what was refused is not watched');
});
