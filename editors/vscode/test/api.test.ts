// The API for other extensions, with a fake hub.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ApprovalPolicy,
  HubError,
  LaunchConsent,
  RequestState,
  ServerStart,
  ServerState,
  ServerTransport,
  SignInState,
} from '@mcphub/host';
import type { AttachResponse, Hub } from '@mcphub/host';
import type { McpHubApi, McpServerName, McpSource } from '../api.js';
import { createApi } from '../src/api/api.js';
import { Grants, manageGrants } from '../src/api/grants.js';
import type { WatcherListener, WatcherWindow } from '../src/hub/watcherwindow.js';
import { newEditor, type Editor } from './fakevscode.js';

type Sent = Record<string, unknown>;

/** The editor's storage for an extension. */
class Memory {
  readonly values = new Map<string, unknown>();
  keys = (): readonly string[] => [...this.values.keys()];
  get<T>(key: string, otherwise: T): T {
    return (this.values.get(key) as T | undefined) ?? otherwise;
  }
  update(key: string, value: unknown): Promise<void> {
    this.values.set(key, value);
    return Promise.resolve();
  }
}

class Scene {
  readonly editor: Editor = newEditor();
  readonly calls: Sent[] = [];
  readonly cancels: Sent[] = [];
  readonly listeners = new Set<WatcherListener>();
  readonly memory = new Memory();
  readonly grants = new Grants(this.memory as never);
  files: { path: string; scope: McpSource }[] = [];
  answer: () => Promise<unknown> = () =>
    Promise.resolve({ outcome: { case: 'resultJson', value: '{"n":1}' }, isError: false });
  answers: Record<string, unknown> = {};
  readonly api: McpHubApi;

  constructor(ready: () => Promise<void> = () => Promise.resolve()) {
    this.editor.extensions.set('some.body', { displayName: 'Some Body' });
    const take = (sent: Sent): Promise<unknown> => {
      this.calls.push(sent);
      return this.answer();
    };
    const answered =
      (name: string) =>
      (sent: Sent): Promise<unknown> => {
        this.calls.push(sent);
        return Promise.resolve(this.answers[name]);
      };
    const hub = {
      requests: {
        callTool: take,
        cancelRequest: (sent: Sent) => {
          this.cancels.push(sent);
          return Promise.resolve({ outcome: 1 });
        },
        cancelRequests: answered('cancelRequests'),
      },
      servers: {
        readResource: take,
        getMcpPrompt: take,
        complete: take,
        listServers: answered('listServers'),
        listTools: answered('listTools'),
        restartServer: answered('restartServer'),
      },
      configs: {
        addServer: answered('addServer'),
        updateServer: answered('updateServer'),
        removeServer: answered('removeServer'),
        undoConfigWrite: answered('undoConfigWrite'),
      },
    } as unknown as Hub;
    const watcher = {
      listen: (listener: WatcherListener) => {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
      },
      standing: { requests: new Map() },
    } as unknown as WatcherWindow;
    this.api = createApi({ hub: () => hub, ready, watcher, grants: this.grants, configFiles: () => this.files });
  }

  tell(event: unknown): void {
    this.listeners.forEach((listener) => listener.event?.({ event } as AttachResponse));
  }
}

const of = (id: string): { id: string; packageJSON: object } => ({ id, packageJSON: {} });

test('a call that is aborted while the hub starts ends at once, and the hub never hears of it', async () => {
  let start: () => void = () => assert.fail('nobody waits for the hub');
  const { api, calls } = new Scene(
    () =>
      new Promise((resolve) => {
        start = resolve;
      }),
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
  await new Promise(setImmediate);
  start();
  assert.equal((await called).resultJson, '{"n":1}');
  assert.equal(calls.length, 1);
});

test('a call is made under the name of its extension, with its label and its clocks', async () => {
  const { api, calls } = new Scene();
  const answer = await api.connect(of('some.body')).callTool({
    server: 's',
    tool: 't',
    arguments: '{"big":12345678901234567890}',
    requestId: 'mine',
    label: 'task 1',
    timeouts: { idleMs: 1500, totalMs: 0 },
  });
  assert.deepEqual(calls, [
    {
      requestId: 'mine',
      taskLabel: 'task 1',
      timeouts: { idle: { seconds: 1n, nanos: 500_000_000 }, total: { seconds: 0n, nanos: 0 } },
      server: 's',
      tool: 't',
      argumentsJson: '{"big":12345678901234567890}',
      preapproved: false,
      caller: 'Some Body',
    },
  ]);
  assert.deepEqual(answer, { requestId: 'mine', resultJson: '{"n":1}', result: { n: 1 }, isError: false });
  await assert.rejects(
    api.connect(of('some.body')).callTool({ server: 's', tool: 't', timeouts: { humanMs: -1 } }),
    /timeouts.humanMs is -1/,
  );
  assert.throws(() => api.connect(of('no.body')), /There is no extension "no.body"/);
});

test('preapproved counts after the user has agreed to it, once for each extension, until that is taken back', async () => {
  const scene = new Scene();
  const { api, calls, editor } = scene;
  const call = { server: 's', tool: 't', preapproved: true };
  const approved = (): unknown => calls.at(-1)?.['preapproved'];
  await api.callTool(call);
  assert.deepEqual([approved(), editor.messages.length], [false, 0], 'nobody knows who asks');
  const mine = api.connect(of('some.body'));
  await mine.callTool(call);
  assert.deepEqual([approved(), editor.messages.length], [false, 1], 'the user did not allow it');
  editor.answer = 'Allow';
  await Promise.all([mine.callTool(call), mine.callTool(call)]);
  assert.deepEqual([approved(), editor.messages.length], [true, 2], 'asked once for both');
  assert.match(editor.messages[1] ?? '', /Some Body \(some\.body\)/);
  await mine.callTool(call);
  assert.deepEqual([approved(), editor.messages.length], [true, 2]);
  await mine.callTool({ server: 's', tool: 't' });
  assert.equal(approved(), false, 'only calls that say so');
  await manageGrants(scene.grants);
  assert.deepEqual(scene.grants.granted('preapproved'), []);
});

test('an abort reaches the server as a cancel with its reason, and the call rejects with it', async () => {
  const scene = new Scene();
  const stop = new AbortController();
  scene.answer = () => {
    stop.abort('too slow');
    return Promise.reject(new HubError('cancelled', 'CANCELLED', 'it was cancelled'));
  };
  const reading = scene.api
    .connect(of('some.body'))
    .readResource({ server: 's', uri: 'x://1', requestId: 'r', signal: stop.signal });
  await assert.rejects(reading, (error) => error === 'too slow');
  assert.deepEqual(scene.cancels, [{ requestId: 'r', reason: 'too slow' }]);
});

test('what a server answers in place of a result is an error with its code, also of a completion', async () => {
  const scene = new Scene();
  const mine = scene.api.connect(of('some.body'));
  scene.answer = () =>
    Promise.resolve({ outcome: { case: 'error', value: { code: -32602n, message: 'no', dataJson: '1' } } });
  const wrong = { code: 'mcp_error', mcpError: { code: -32602, message: 'no', dataJson: '1' } };
  await assert.rejects(mine.getPrompt({ server: 's', name: 'p' }), wrong);
  const completion = { server: 's', of: { prompt: 'p' }, argument: 'a', value: 'x' };
  await assert.rejects(mine.complete(completion), wrong);
  scene.answer = () =>
    Promise.resolve({ outcome: { case: 'resultJson', value: '{"completion":{"values":["x1",7,"x2"]}}' } });
  assert.deepEqual(await mine.complete(completion), ['x1', 'x2']);
  scene.answer = () => Promise.resolve({ outcome: { case: 'resultJson', value: '[]' } });
  assert.deepEqual(await mine.complete(completion), []);
});

test('servers and tools are shown with their facts', async () => {
  const scene = new Scene();
  const facts = {
    name: 's',
    lastError: '',
    configFile: '/f',
    configLine: 3,
    configScope: 'user',
    configDialect: 'roo',
    configName: 's',
  };
  const server = {
    ...facts,
    state: ServerState.READY,
    transport: ServerTransport.HTTP,
    launchConsent: LaunchConsent.GIVEN,
    signIn: SignInState.NEEDED,
    start: ServerStart.EAGER,
    readyTime: { seconds: 1_000n, nanos: 5_000_000 },
    nextStartTime: undefined,
    shadows: [{ file: '/w', line: 2, scope: '', dialect: 'vscode' }],
    waitingForConsent: [],
    stderr: ['a line'],
    problems: [{ file: '/f', line: 4, column: 2, key: 'args', message: 'odd', fatal: false }],
  };
  scene.answers = {
    listServers: { servers: [server] },
    restartServer: { server },
    listTools: { tools: [{ server: 's', name: 't', policy: ApprovalPolicy.DENY, cached: true }] },
    cancelRequests: { requestIds: ['a'] },
  };
  const mine = scene.api.connect(of('some.body'));
  const [shown] = await mine.listServers();
  assert.deepEqual(
    [shown?.state, shown?.transport, shown?.source, shown?.dialect, shown?.configLine, shown?.stderr, shown?.problems],
    [
      'ready',
      'streamable_http',
      'user',
      'roo',
      3,
      ['a line'],
      [{ file: '/f', line: 4, column: 2, key: 'args', message: 'odd', fatal: false }],
    ],
  );
  assert.deepEqual(
    [shown?.source, shown?.configName, shown?.consent, shown?.signIn, shown?.start, shown?.readyTime?.getTime()],
    ['user', 's', 'given', 'needed', 'eager', 1_000_005],
  );
  assert.deepEqual(
    [shown?.nextStartTime, shown?.shadows],
    [undefined, [{ file: '/w', line: 2, source: 'workspace', dialect: 'vscode' }]],
  );
  await mine.restartServer({ name: 's', source: 'workspace' });
  assert.deepEqual(scene.calls.at(-1), { server: 's@workspace', reason: '' });
  assert.ok(shown);
  const asked = async (one: McpServerName): Promise<unknown> => {
    await mine.restartServer(one);
    return scene.calls.at(-1)?.['server'];
  };
  assert.equal(await asked({ ...shown, name: 's@user' }), 's@user', 'one that is beside another');
  assert.equal(await asked({ ...shown, state: 'broken', source: 'workspace' }), 's', 'it has no entry of a source');
  assert.equal((await mine.restartServer('s', 'because')).name, 's');
  assert.deepEqual(scene.calls.at(-1), { server: 's', reason: 'because' });
  assert.equal((await mine.listTools('s'))[0]?.policy, 'deny');
  assert.deepEqual(await mine.cancelAll({ label: 'task 1' }, 'enough'), ['a']);
  assert.deepEqual(scene.calls.at(-1), { scope: { case: 'taskLabel', value: 'task 1' }, reason: 'enough' });
});

test('requests, questions, tools and logs are told, until nobody wants to hear of them', () => {
  const scene = new Scene();
  const mine = scene.api.connect(of('some.body'));
  const heard: unknown[] = [];
  const all = [
    mine.onDidChangeRequests((event) => heard.push(event)),
    mine.onDidChangeTools((event) => heard.push(event)),
    mine.onDidLog((event) => heard.push(event)),
    mine.onDidChangeQuestions((event) => heard.push(event)),
  ];
  const request = { requestId: 'r', server: 's', method: 'tools/call', tool: 't', caller: 'Some Body' };
  scene.tell({ case: 'mcpRequestStarted', value: { request } });
  scene.tell({ case: 'mcpRequestCancelled', value: { ...request, cancellation: { reason: 'too slow' } } });
  scene.tell({ case: 'mcpRequestFinished', value: { ...request, state: RequestState.FAILED } });
  scene.tell({ case: 'toolsChanged', value: { server: 's' } });
  scene.tell({ case: 'logMessage', value: { server: 's', level: 'info', logger: 'l', dataJson: '"x"' } });
  const prompt = { promptId: 'p', server: 's', requestId: 'q', parentRequestId: 'r' };
  scene.listeners.forEach((listener) =>
    listener.changed?.({ opened: [prompt], closed: [{ prompt, end: undefined }] } as never, {} as never),
  );
  assert.deepEqual(heard, [
    { ...request, state: 'open', reason: '' },
    { ...request, state: 'cancelled', reason: 'too slow' },
    { ...request, state: 'failed', reason: '' },
    { server: 's' },
    { server: 's', level: 'info', logger: 'l', dataJson: '"x"' },
    { questionId: 'p', server: 's', open: true, requestId: 'r' },
    { questionId: 'p', server: 's', open: false, requestId: 'r' },
  ]);
  all.forEach((one) => one.dispose());
  assert.equal(scene.listeners.size, 0);
});
