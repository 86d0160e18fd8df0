// What the API shows of what a window was told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CancelDelivery, Origin, RequestDirection, RequestState, ServerState } from '../dist/contract.js';
import { ApiScene } from './apiscene.js';
import { settle } from './fakestream.js';

test('servers are there at once, in the order of the config, and each change says which are others', async () => {
  const scene = new ApiScene();
  const api = scene.api();
  assert.equal(api.servers.length, 0);
  const changes: unknown[] = [];
  api.onDidChangeServers((change) => changes.push([change, api.servers.map(({ name, state }) => `${name} ${state}`)]));
  const stream = await scene.attach({
    servers: [
      { name: 'b', place: 2, state: ServerState.STOPPED },
      { name: 'a', place: 1, state: ServerState.READY },
    ],
  });
  const before = api.servers;
  stream.say({ case: 'serverChanged', value: { server: { name: 'b', place: 2, state: ServerState.READY } } });
  stream.say({ case: 'serverChanged', value: { server: { name: 'a' }, removed: true } });
  await settle();
  assert.deepEqual(changes, [
    [{ added: ['a', 'b'], changed: [], removed: [] }, ['a ready', 'b stopped']],
    [{ added: [], changed: ['b'], removed: [] }, ['a ready', 'b ready']],
    [{ added: [], changed: [], removed: ['a'] }, ['b ready']],
  ]);
  assert.deepEqual(
    before.map(({ state }) => state),
    ['ready', 'stopped'],
    'a list that somebody has never changes',
  );
  assert.equal(before[0]?.name, 'a');
  assert.equal(api.servers, api.servers, 'and is made once');
  assert.throws(() => (api.servers as unknown[]).push(1), TypeError);
  await scene.close();
});

test('requests are told from their beginning to their end, and what becomes known later', async () => {
  const scene = new ApiScene();
  const api = scene.api();
  const told: string[] = [];
  api.onDidChangeRequests((r) =>
    told.push(
      'endTime' in r
        ? `${r.requestId} ${r.state} ${r.delivery} ${r.lateAnswer?.afterMs ?? 'no answer'} ${r.serverMayContinue}`
        : `${r.requestId} ${r.state} ${r.progress?.progress ?? ''} ${r.cancellation?.reason ?? ''}`,
    ),
  );
  const stream = await scene.attach();
  const request = { requestId: 'r', server: 's', method: 'tools/call', tool: 't', caller: 'Me', taskLabel: 'l' };
  stream.say({ case: 'mcpRequestStarted', value: { request: { ...request, state: RequestState.QUEUED } } });
  stream.say({
    case: 'mcpRequestProgressed',
    value: { requestId: 'r', state: RequestState.RUNNING, progress: { progress: 2 } },
  });
  await settle();
  assert.deepEqual(
    api.requests.map(({ requestId, label, state, progress }) => [requestId, label, state, progress]),
    [['r', 'l', 'running', { progress: 2, message: '' }]],
  );
  const cancellation = { origin: Origin.USER, reason: 'enough', time: { seconds: 7n, nanos: 5_000_000 } };
  stream.say({ case: 'mcpRequestCancelling', value: { requestId: 'r', cancellation } });
  stream.say({
    case: 'mcpRequestCancelled',
    value: { ...request, cancellation, delivery: CancelDelivery.PENDING, serverMayContinue: true },
  });
  stream.say({ case: 'mcpRequestCancelDelivery', value: { requestId: 'r', delivery: CancelDelivery.DELIVERED } });
  stream.say({
    case: 'mcpRequestAnsweredLate',
    value: { requestId: 'r', answer: { after: { seconds: 1n, nanos: 500_000_000 } } },
  });
  stream.say({
    case: 'mcpRequestFinished',
    value: {
      requestId: 'q',
      direction: RequestDirection.INCOMING,
      state: RequestState.FAILED,
      mcpError: { code: -1n, message: 'no' },
      timings: { human: { seconds: 2n } },
    },
  });
  await settle();
  assert.deepEqual(told, [
    'r queued  ',
    'r running 2 ',
    'r cancelling 2 enough',
    'r cancelled pending no answer true',
    'r cancelled delivered no answer true',
    'r cancelled delivered 1500 false',
    'q failed  no answer false',
  ]);
  assert.deepEqual(api.requests, []);
  const [cancelled, failed] = api.history;
  assert.ok(cancelled !== undefined && failed !== undefined);
  assert.deepEqual(cancelled.cancellation, { origin: 'user', reason: 'enough', time: new Date(7005) });
  assert.deepEqual(
    [cancelled.tool, cancelled.caller, cancelled.lateAnswer],
    ['t', 'Me', { afterMs: 1500, isError: false }],
  );
  assert.deepEqual(
    [failed.direction, failed.mcpError, failed.timings.humanMs],
    ['incoming', { code: -1, message: 'no', dataJson: '' }, 2000],
  );
  await scene.close();
});

test('the history begins with what was before, and keeps the last 1,000', async () => {
  const scene = new ApiScene();
  const api = scene.api();
  const stream = await scene.attach({
    history: [
      { endTime: { seconds: 3n }, end: { case: 'finished', value: { requestId: '0', state: RequestState.DONE } } },
    ],
  });
  assert.equal(stream.hello.maxHistory, 1000);
  assert.deepEqual(
    api.history.map(({ requestId, state, endTime }) => [requestId, state, endTime]),
    [['0', 'done', new Date(3000)]],
  );
  for (let i = 1; i <= 1000; i++) {
    stream.say({ case: 'mcpRequestFinished', value: { requestId: String(i), state: RequestState.DONE } });
  }
  await settle();
  assert.deepEqual([api.history.length, api.history[0]?.requestId, api.history.at(-1)?.requestId], [1000, '1', '1000']);
  await scene.close();
});

test('when the hub is lost everything is empty, and what ran has ended nobody knows how', async () => {
  const scene = new ApiScene();
  const api = scene.api();
  await scene.attach({
    servers: [{ name: 's' }],
    requests: [{ requestId: 'r', server: 's', tool: 't' }],
    prompts: [{ promptId: 'p', server: 's', question: { case: 'sampling', value: {} } }],
    problems: [{ file: '/f', message: 'odd' }],
  });
  assert.deepEqual(
    api.problems.map(({ message }) => message),
    ['odd'],
  );
  const told: unknown[] = [];
  api.onDidChangeServers((change) => told.push(change));
  api.onDidChangeRequests((r) => told.push([r.requestId, r.state, 'error' in r && r.error?.reason]));
  api.onDidChangeQuestions((change) => told.push(change));
  api.onDidChangeProblems(() => told.push(api.problems));
  scene.watcher.hubLost();
  assert.deepEqual(told, [
    [],
    ['r', 'failed', 'CONNECTION_LOST'],
    { added: [], changed: [], removed: ['s'] },
    { questionId: 'p', server: 's', kind: 'sampling', requestId: '', open: false },
  ]);
  assert.deepEqual([api.servers, api.requests, api.questions, api.history, api.problems], [[], [], [], [], []]);
  await scene.close();
});

test('lists, resources, questions and logs are told, until nobody wants to hear of them', async () => {
  const scene = new ApiScene();
  const api = scene.api();
  const told: unknown[] = [];
  const hear = (event: unknown): void => void told.push(event);
  const all = [
    api.onDidChangeTools(hear),
    api.onDidChangeResources(hear),
    api.onDidChangePrompts(hear),
    api.onDidUpdateResource(hear),
    api.onDidChangeQuestions(hear),
    api.onDidLog(hear),
  ];
  const stream = await scene.attach();
  const tell = async (): Promise<void> => {
    stream.say({ case: 'toolsChanged', value: { server: 's' } });
    stream.say({ case: 'resourcesChanged', value: { server: 's' } });
    stream.say({ case: 'mcpPromptsChanged', value: { server: 's' } });
    stream.say({ case: 'resourceUpdated', value: { server: 's', uri: 'x://1' } });
    const prompt = { promptId: 'p', server: 's', requestId: 'q', parentRequestId: 'r' };
    stream.say({
      case: 'promptOpened',
      value: { prompt: { ...prompt, question: { case: 'elicitationForm', value: {} } } },
    });
    stream.say({ case: 'promptClosed', value: { promptId: 'p' } });
    stream.say({ case: 'logMessage', value: { server: 's', level: 'info', logger: 'l', dataJson: '"x"' } });
    await settle();
  };
  await tell();
  const question = { questionId: 'p', server: 's', kind: 'form', requestId: 'r' };
  assert.deepEqual(told, [
    { server: 's' },
    { server: 's' },
    { server: 's' },
    { server: 's', uri: 'x://1' },
    { ...question, open: true },
    { ...question, open: false },
    { server: 's', level: 'info', logger: 'l', dataJson: '"x"' },
  ]);
  all.forEach((one) => one.dispose());
  await tell();
  assert.equal(told.length, 7);
  await scene.close();
});

test('a listener that throws disturbs no other, and is reported', async () => {
  const scene = new ApiScene();
  const api = scene.api();
  let told = 0;
  api.onDidChangeTools(() => {
    throw new Error('of a listener');
  });
  api.onDidChangeTools(() => told++);
  const stream = await scene.attach();
  stream.say({ case: 'toolsChanged', value: { server: 's' } });
  await settle();
  assert.equal(told, 1);
  assert.match(String(scene.failed.pop()), /of a listener/);
  await scene.close();
});
