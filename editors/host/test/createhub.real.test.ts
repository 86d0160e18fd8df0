// The API over the real hub and the demo server: what an embedder does with it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { hubOf } from '../dist/contract.js';
import { createHub, HubError } from '../dist/index.js';
import type {
  FormQuestion,
  HubSettings,
  McpEvent,
  MemoryServer,
  OwnedHub,
  PagePort,
  QuestionHandlers,
} from '../dist/index.js';
import { isAlive } from '../dist/liveness.js';
import { failure, realBinary, stage } from './stage.js';
import type { Stage } from './stage.js';

/** A server in memory whose tools are called without a question, and which records what it hears. */
function demo(s: Stage, more: Partial<MemoryServer> = {}): MemoryServer {
  const args = ['demo-server', '--record', join(s.directory, 'record')];
  return { name: 'demo', command: realBinary(), args, approvals: { '*': 'allow' }, ...more };
}

/** What the server has recorded. */
function recorded(s: Stage): { event: string; tool?: string; reason?: string }[] {
  const file = join(s.directory, 'record');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as { event: string });
}

function withDemo(s: Stage, settings: HubSettings = {}, more: Partial<MemoryServer> = {}): Promise<OwnedHub> {
  return s.owned({ program: 'my-editor', servers: [demo(s, more)], ...settings });
}

/** Resolves with the first event for which something holds. */
function first<T>(event: McpEvent<T>, holds: (event: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    const listening = event((one) => {
      if (holds(one)) {
        listening.dispose();
        resolve(one);
      }
    });
  });
}

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

test('servers are known at once, and each change is told', async (t) => {
  const hub = await withDemo(stage(t));
  assert.deepEqual(
    hub.servers.map(({ name, source, state, configFile }) => [name, source, state, configFile]),
    [['demo', 'host', 'stopped', 'my-editor (in memory)']],
  );
  const ready = first(hub.onDidChangeServers, () => hub.servers[0]?.state === 'ready');
  assert.equal((await hub.startServer('demo')).state, 'ready');
  assert.deepEqual(await ready, { added: [], changed: ['demo'], removed: [] });
});

test('a tool is called by its own name and by that for models, and its result as a text for a model', async (t) => {
  const hub = await withDemo(stage(t));
  const tools = await hub.tools('demo');
  assert.equal(tools.find(({ name }) => name === 'echo')?.policy, 'allow');
  const models = await hub.modelTools();
  const echo = models.tools.find(({ tool }) => tool === 'echo');
  assert.match(echo?.name ?? '', /^[a-zA-Z_][a-zA-Z0-9_-]{0,62}$/);
  assert.equal((echo?.inputSchema as { type: string }).type, 'object');
  const [found] = await hub.searchTools('echo text');
  assert.equal(found?.name, echo?.name);
  const byName = await hub.callTool({ server: 'demo', tool: 'echo', arguments: { text: 'one' } });
  const byModel = await hub.callTool({ tool: echo?.name ?? '', arguments: '{"text":"two"}', view: { maxTokens: 200 } });
  assert.deepEqual([textOf(byName.result), byModel.view?.text], ['one', 'two']);
  const long = 'x'.repeat(10_000);
  const { view } = await hub.callTool({
    server: 'demo',
    tool: 'echo',
    arguments: { text: long },
    view: { maxTokens: 200 },
  });
  assert.equal(view?.cut, true);
  const { text, size, nextOffset } = await hub.readResult(view.resultId, { offset: 1 });
  assert.deepEqual([text, size, nextOffset], [long.slice(1), 10_000, 0]);
});

test('an abort reaches the server with its reason, and is in the history', async (t) => {
  const s = stage(t);
  const hub = await withDemo(s);
  const stop = new AbortController();
  const totals: unknown[] = [];
  const ended = first(hub.onDidChangeRequests, ({ requestId, state }) => requestId === 'mine' && state === 'cancelled');
  const call = failure(
    hub.callTool({
      server: 'demo',
      tool: 'sleep',
      arguments: { seconds: 60, steps: 600 },
      requestId: 'mine',
      signal: stop.signal,
      onProgress: ({ total }) => {
        totals.push(total);
        stop.abort('seen enough');
      },
    }),
  );
  const error = await call;
  assert.deepEqual([error.code, error.reason, error.cause], ['cancelled', 'CANCELLED', 'seen enough']);
  assert.equal(totals[0], 600);
  await ended;
  const request = hub.history.find(({ requestId }) => requestId === 'mine');
  assert.deepEqual(
    [request?.tool, request?.caller, request?.cancellation?.origin, request?.cancellation?.reason],
    ['sleep', 'my-editor', 'host', 'seen enough'],
  );
  await hub.stopServer('demo');
  assert.equal(recorded(s).find(({ event }) => event === 'cancel_received')?.reason, 'seen enough');
});

test('requests are cancelled by their label, by their id, and all at once', async (t) => {
  const hub = await withDemo(stage(t));
  const running = (requestId: string) =>
    first(hub.onDidChangeRequests, (r) => r.requestId === requestId && r.state === 'running');
  const call = (requestId: string, label: string): Promise<HubError> =>
    failure(hub.callTool({ server: 'demo', tool: 'sleep', arguments: { seconds: 600 }, requestId, label }));
  const runs = Promise.all(['a', 'b', 'c', 'd'].map(running));
  const calls = [call('a', 'task'), call('b', 'task'), call('c', ''), call('d', '')];
  await runs;
  assert.deepEqual(hub.requests.map(({ requestId, label }) => [requestId, label]).sort(), [
    ['a', 'task'],
    ['b', 'task'],
    ['c', ''],
    ['d', ''],
  ]);
  assert.deepEqual((await hub.cancelRequests({ label: 'task' }, 'the task is over')).sort(), ['a', 'b']);
  assert.equal(await hub.cancel('c', 'not this one'), 'cancelling');
  await Promise.all(calls.slice(0, 3)); // one that is being cancelled would be among all
  assert.deepEqual(await hub.cancelRequests({ all: true }, 'stop'), ['d']);
  assert.deepEqual(
    (await Promise.all(calls)).map(({ metadata }) => metadata['cancel_reason']),
    ['the task is over', 'the task is over', 'not this one', 'stop'],
  );
  assert.equal(await hub.cancel('c'), 'already_finished');
  assert.equal(await hub.cancel('nobody'), 'unknown');
});

test('a form of a server is answered, after an answer that does not fit, and sampling by a model of the host', async (t) => {
  const refused: (string | undefined)[] = [];
  const questions: QuestionHandlers = {
    form: (question) => {
      refused.push(question.refused?.message);
      return { action: 'accept', content: question.refused === undefined ? {} : { name: 'Ada' } };
    },
    sampling: ({ request }) => {
      const { messages } = request as { messages: { content: { text: string } }[] };
      const text = `${messages[0]?.content.text.length} letters`;
      return { action: 'accept', result: { role: 'assistant', content: { type: 'text', text }, model: 'mine' } };
    },
  };
  const s = stage(t);
  for (const era of ['legacy', 'modern'] as const) {
    const hub = await withDemo(s, { questions }, { era });
    refused.length = 0;
    assert.equal(textOf((await hub.callTool({ server: 'demo', tool: 'ask_name' })).result), 'Hello, Ada!');
    assert.deepEqual([refused.length, refused[0]], [2, undefined]);
    assert.match(refused[1] ?? '', /name/);
    const { result } = await hub.callTool({ server: 'demo', tool: 'summarize', arguments: { text: 'abc' } });
    assert.equal(textOf(result), '3 letters (by mine)');
    await hub.close();
  }
});

test('a question that its server withdraws is taken back with the reason, and an answer that comes late harms nobody', async (t) => {
  const asked: FormQuestion[] = [];
  let answer: (name: string) => void = () => undefined;
  const questions: QuestionHandlers = {
    form: (question) => {
      asked.push(question);
      return new Promise((resolve) => {
        answer = (name) => resolve({ action: 'accept', content: { name } });
      });
    },
  };
  const errors: unknown[] = [];
  const hub = await withDemo(stage(t), { questions, onError: (error) => errors.push(error) }, { era: 'legacy' });
  const { result } = await hub.callTool({
    server: 'demo',
    tool: 'ask_then_withdraw',
    arguments: { after_ms: 100, reason: 'I know it now' },
  });
  assert.match(textOf(result), /withdrew its question/);
  const [question] = asked;
  assert.equal(question?.message, 'What is your name?');
  if (!question.signal.aborted) {
    await once(question.signal, 'abort'); // it comes on another connection than the result
  }
  const reason: unknown = question.signal.reason;
  assert.ok(reason instanceof HubError);
  assert.deepEqual([reason.reason, reason.message], ['WITHDRAWN', 'I know it now']);
  answer('late');
  assert.equal(textOf((await hub.callTool({ server: 'demo', tool: 'echo', arguments: { text: 'on' } })).result), 'on');
  assert.deepEqual(errors, []);
});

test('an approval is asked for, unless the host has asked itself; where nobody can be asked, that is said', async (t) => {
  const asked: string[] = [];
  const questions: QuestionHandlers = {
    approval: ({ tool, argumentsJson }) => {
      asked.push(`${tool} ${argumentsJson}`);
      return { action: 'decline', reason: 'not today' };
    },
  };
  const call = { server: 'demo', tool: 'echo', arguments: { text: 'x' } };
  const asking = { approvals: { '*': 'ask', 'crash': 'deny' } } as const;
  const s = stage(t);
  const hub = await withDemo(s, { questions }, asking);
  const denied = await failure(hub.callTool(call));
  assert.deepEqual([denied.reason, asked], ['DENIED_BY_USER', ['echo {"text":"x"}']]);
  assert.match(denied.message, /not today/);
  assert.equal((await hub.callTool({ ...call, preapproved: true })).isError, false);
  await hub.close();

  const itself = await withDemo(s, { approvals: 'host' }, asking);
  assert.equal((await itself.callTool(call)).isError, false);
  assert.equal((await failure(itself.callTool({ server: 'demo', tool: 'crash' }))).reason, 'DENIED_BY_POLICY');
  await itself.close();

  const alone = await withDemo(s, {}, asking);
  const nobody = await failure(alone.callTool(call));
  assert.deepEqual([nobody.code, nobody.reason], ['failed_precondition', 'NO_APPROVER']);
});

test('a policy of the host refuses servers by the name of its rule, and one that cannot be used refuses all', async (t) => {
  const s = stage(t);
  const policy = { deniedServers: [{ command: [realBinary(), 'demo-server', '*'] }] };
  const hub = await s.owned({ servers: [demo(s)], policy: { policy, name: 'the policy of ACME' } });
  const refused = await failure(hub.startServer('demo'));
  assert.equal(refused.reason, 'LAUNCH_NOT_ALLOWED');
  assert.match(refused.message, /deniedServers\[0\].*the policy of ACME|the policy of ACME.*deniedServers\[0\]/s);
  assert.equal(hub.servers.find(({ name }) => name === 'demo')?.state, 'broken');

  const other = await s.owned({ servers: [demo(s)], policy: { policy: '{"deniedServer": []}' } });
  assert.equal((await failure(other.startServer('demo'))).reason, 'LAUNCH_NOT_ALLOWED');
});

test('a policy that says nothing usable never counts as none', async (t) => {
  const s = stage(t);
  for (const text of ['', ' \n']) {
    const hub = await s.owned({ servers: [demo(s)], policy: { policy: text } });
    assert.equal((await failure(hub.startServer('demo'))).reason, 'LAUNCH_NOT_ALLOWED', JSON.stringify(text));
    assert.match(hub.problems.map(({ message }) => message).join(), /policy cannot be used/);
  }
  // Programs without types: a policy in place of the setting, one that was not found, and a setting spelled otherwise.
  const policy = { allowedServers: [] };
  for (const wrong of [
    { policy },
    { policy: JSON.stringify(policy) },
    { policy: {} },
    { policy: { policy: undefined } },
    { policy: { policy: null } },
    { policy: null },
    { policy: { policy, dialekt: 'vscode' } },
    { polcy: { policy } },
  ]) {
    const error = await failure(s.owned({ servers: [demo(s)], ...(wrong as unknown as HubSettings) }));
    assert.equal(error.reason, 'INVALID_REQUEST', JSON.stringify(wrong));
  }
});

test('what is wrong with the config is known when the hub is there, and when a change is applied', async (t) => {
  const s = stage(t);
  const file = join(s.directory, 'mcp.json');
  for (let n = 0; n < 10; n++) {
    const hub = await s.owned({ files: [file] });
    assert.deepEqual(
      hub.problems.map(({ message }) => message),
      ['there is no such file; it brings no servers'],
    );
    await hub.setFiles([]);
    assert.deepEqual(hub.problems, []);
    await hub.close();
  }
});

test('a server in memory has a name', async (t) => {
  const hub = await stage(t).owned({});
  for (const name of [undefined, '', 7]) {
    const error = await failure(hub.setServers([{ name: name as string, command: 'true' }]));
    assert.equal(error.reason, 'INVALID_REQUEST', String(name));
  }
  assert.deepEqual(hub.servers, []);
});

test('a launch that was shown and agreed to in a page of the host is not asked about, by the next hub neither', async (t) => {
  const s = stage(t);
  const file = join(s.directory, 'mcp.json');
  const state = { MCPHUB_STATE_DIR: join(s.directory, 'state') };
  writeFileSync(file, JSON.stringify({ mcpServers: { mine: { command: realBinary(), args: ['demo-server'] } } }));
  const questions = { launch: () => assert.fail('nobody is asked') };
  const hub = await s.owned({ files: [file], env: state, questions });
  const shown = await hub.launch('mine');
  assert.deepEqual([shown?.command, shown?.args, shown?.allowed], [realBinary(), ['demo-server'], false]);
  assert.equal((await failure(hub.allowLaunch('mine', 'another hash'))).reason, 'LAUNCH_CHANGED');
  await hub.allowLaunch('mine', shown?.hash ?? '', 'always');
  assert.equal((await hub.startServer('mine')).state, 'ready');
  await hub.close();

  const next = await s.owned({ files: [file], env: state, questions });
  assert.equal((await next.launch('mine'))?.allowed, true);
  assert.equal((await next.startServer('mine')).state, 'ready');
});

test('servers in memory stand beside those of files, start without a question, and can be replaced', async (t) => {
  const s = stage(t);
  const file = join(s.directory, 'mcp.json');
  const entry = { command: realBinary(), args: ['demo-server'] };
  writeFileSync(file, JSON.stringify({ mcpServers: { filed: { ...entry, timeouts: { total: '90s' } } } }));
  const launched: string[] = [];
  const hub = await s.owned({
    program: 'my-editor',
    files: [file],
    servers: [demo(s)],
    questions: {
      launch: ({ server, args }) => {
        launched.push(`${server} ${args.join(' ')}`);
        return { action: 'decline' };
      },
    },
  });
  const names = (): unknown => hub.servers.map(({ name, source }) => `${name} ${source}`);
  assert.deepEqual(names(), ['filed workspace', 'demo host']);
  assert.equal((await hub.startServer('demo')).state, 'ready');
  assert.deepEqual(launched, []);
  assert.equal((await failure(hub.startServer('filed'))).reason, 'LAUNCH_DECLINED');
  assert.deepEqual(launched, ['filed demo-server']);
  assert.deepEqual((await hub.serverSettings('filed')).timeouts, { totalMs: 90_000 });

  const changed = first(hub.onDidChangeServers, ({ added }) => added.includes('two'));
  const second = demo(s, { name: 'two', enabled: false, timeouts: { idleMs: 1500, totalMs: 0 } });
  assert.deepEqual(await hub.setServers([demo(s), second]), { problems: [], stopped: [] });
  assert.deepEqual(
    names(),
    ['filed workspace', 'demo host', 'two host'],
    'the lists show it when the promise resolves',
  );
  await changed;
  assert.deepEqual(
    hub.servers.map(({ state }) => state),
    ['failed', 'ready', 'disabled'],
  );
  const { configFile, enabled, timeouts, approvals } = await hub.serverSettings('two');
  assert.deepEqual(
    { configFile, enabled, timeouts, approvals },
    {
      configFile: 'my-editor (in memory)',
      enabled: false,
      timeouts: { idleMs: 1500, totalMs: 0 },
      approvals: { '*': 'allow' },
    },
  );
  assert.deepEqual(
    (await hub.configFiles()).map(({ path, source }) => [path, source]),
    [
      [file, 'workspace'],
      ['my-editor (in memory)', 'host'],
    ],
  );
  assert.deepEqual((await hub.setServers([])).stopped, ['demo']);
  await hub.setFiles([]);
  assert.deepEqual(names(), [], 'no files are not the files of before');
  const twice = await failure(hub.setServers([demo(s), demo(s)]));
  assert.deepEqual([twice.code, twice.reason], ['invalid_argument', 'INVALID_REQUEST']);
  const broken = await hub.setServers([{ name: 'empty' }]);
  assert.deepEqual(
    broken.problems.map(({ server, fatal }) => [server, fatal]),
    [['empty', true]],
  );
});

test('folders are the roots of servers', async (t) => {
  const s = stage(t);
  const hub = await withDemo(s, {}, { era: 'legacy' });
  hub.setFolders([s.directory]);
  const { result } = await hub.callTool({ server: 'demo', tool: 'list_roots' });
  assert.equal(textOf(result), `1 roots\n${pathToFileURL(s.directory).href}`);
});

test('resources, prompts and completions are there, and their changes are told', async (t) => {
  const offers = { name: 'offers', command: process.execPath, args: [join(import.meta.dirname, 'offerserver.js')] };
  const hub = await stage(t).owned({ servers: [offers] });
  assert.deepEqual(
    (await hub.resources('offers')).map(({ uri }) => uri),
    ['note://1'],
  );
  assert.deepEqual(
    (await hub.resourceTemplates('offers')).map(({ uriTemplate }) => uriTemplate),
    ['note://{id}'],
  );
  assert.deepEqual(
    (await hub.prompts('offers')).map(({ name }) => name),
    ['greet'],
  );
  const { result } = await hub.readResource({ server: 'offers', uri: 'note://1' });
  assert.deepEqual(result, { contents: [{ uri: 'note://1', text: 'the note' }] });
  const completed = { server: 'offers', of: { prompt: 'greet' }, argument: 'who', value: 'a' };
  assert.deepEqual(await hub.complete(completed), ['a1']);
  const missing = await failure(hub.readResource({ server: 'offers', uri: 'note://none' }));
  assert.deepEqual([missing.code, missing.mcpError?.code], ['mcp_error', -32601]);

  const logged = (text: string) => first(hub.onDidLog, ({ dataJson }) => dataJson === JSON.stringify(text));
  const subscribed = logged('subscribed');
  const watching = await hub.watchResource('offers', 'note://1');
  await subscribed;
  const told = Promise.all([
    first(hub.onDidUpdateResource, () => true),
    first(hub.onDidChangeResources, () => true),
    first(hub.onDidChangePrompts, () => true),
    logged('filled'),
  ]);
  await hub.getPrompt({ server: 'offers', name: 'greet', arguments: { who: 'you' } });
  assert.deepEqual(await told, [
    { server: 'offers', uri: 'note://1' },
    { server: 'offers' },
    { server: 'offers' },
    { server: 'offers', level: 'warning', logger: '', dataJson: '"filled"' },
  ]);

  // A hub that was started anew knows of no subscription.
  const renewed = logged('subscribed');
  await hub.restart('to be tested');
  await renewed;
  const again = first(hub.onDidUpdateResource, () => true);
  await hub.getPrompt({ server: 'offers', name: 'greet', arguments: { who: 'you' } });
  assert.deepEqual(await again, { server: 'offers', uri: 'note://1' });
  watching.dispose();
});

test('a hub that dies is started anew with its config and its window; what ran has failed', async (t) => {
  const hub = await withDemo(stage(t), { restart: { firstDelayMs: 1 } });
  const running = first(hub.onDidChangeRequests, ({ tool, state }) => tool === 'sleep' && state === 'running');
  const call = failure(hub.callTool({ server: 'demo', tool: 'sleep', arguments: { seconds: 600 } }));
  await running;
  const pid = hubOf(hub).processId;
  assert.ok(pid !== undefined);
  const lost = first(hub.onDidChangeState, ({ state }) => state === 'restarting');
  process.kill(pid, 'SIGKILL');
  assert.equal((await call).reason, 'HUB_DIED');
  await lost;
  await hub.ready();
  assert.deepEqual(
    hub.servers.map(({ name, state }) => [name, state]),
    [['demo', 'stopped']],
  );
  assert.equal(
    textOf((await hub.callTool({ server: 'demo', tool: 'echo', arguments: { text: 'again' } })).result),
    'again',
  );
  await hub.restart('to be tested');
  assert.deepEqual(
    hub.servers.map(({ name }) => name),
    ['demo'],
  );
});

test('after its close nothing of a hub is left, and every method says so', async (t) => {
  let asked: FormQuestion | undefined;
  const questions: QuestionHandlers = {
    form: (question) => {
      asked = question;
      return new Promise(() => undefined);
    },
  };
  const s = stage(t);
  const hub = await withDemo(s, { questions }, { era: 'legacy' });
  const pid = hubOf(hub).processId ?? 0;
  const opened = first(hub.onDidChangeQuestions, ({ open }) => open);
  const call = failure(hub.callTool({ server: 'demo', tool: 'ask_name' }));
  const { questionId, kind } = await opened;
  assert.deepEqual([kind, hub.questions.map((one) => one.questionId)], ['form', [questionId]]);
  assert.equal((await failure(hubOf(hub).requests.cancelRequest({ requestId: '' }))).code, 'invalid_argument');
  await hub.close('the editor ends');
  assert.equal((await call).code, 'cancelled');
  assert.equal((asked?.signal.reason as HubError).code, 'cancelled');
  assert.deepEqual([hub.state, isAlive(pid), s.sockets()], ['stopped', false, []]);
  assert.deepEqual([hub.servers, hub.requests, hub.questions], [[], [], []]);
  const methods: ((hub: OwnedHub) => Promise<unknown>)[] = [
    (one) => one.ready(),
    (one) => one.tools(),
    (one) => one.callTool({ server: 'demo', tool: 'echo' }),
    (one) => one.setServers([]),
    (one) => one.restart(),
  ];
  for (const method of methods) {
    assert.equal((await failure(method(hub))).reason, 'STOPPED');
  }
  await hub.close();
});

test('a hub that cannot be started leaves nothing, and says what to do', async (t) => {
  const s = stage(t);
  const error = await failure(createHub({ binary: '/no/such/mcphub' }));
  assert.deepEqual([error.code, error.reason], ['not_found', 'BINARY_NOT_FOUND']);
  const nowhere = await failure(createHub({ binary: realBinary(), cwd: '/no/such/directory' }));
  assert.deepEqual([nowhere.code, nowhere.reason], ['not_found', 'DIRECTORY_NOT_FOUND']);
  const wrong: HubSettings[] = [
    { servers: [demo(s, { timeouts: { totalMs: -1 } })] },
    { folders: ['file://elsewhere/%zz'] },
  ];
  for (const settings of wrong) {
    assert.equal((await failure(createHub({ binary: realBinary(), ...settings }))).code, 'invalid_argument');
  }
  assert.deepEqual(s.sockets(), []);
});

test('of several changes of the config at once the last one counts', async (t) => {
  const s = stage(t);
  const hub = await s.owned();
  const one = (name: string): MemoryServer[] => [demo(s, { name })];
  await Promise.all([hub.setServers(one('a')), hub.setServers(one('b')), hub.setServers(one('c')), hub.setFiles([])]);
  assert.deepEqual(
    hub.servers.map(({ name }) => name),
    ['c'],
  );
  assert.deepEqual(
    (await hubOf(hub).servers.listServers({})).servers.map(({ name }) => name),
    ['c'],
  );
});

test('a page answers what this program has no handler for, and has what it agreed to visit opened', async (t) => {
  const visited: string[] = [];
  const s = stage(t);
  let hear: (message: unknown) => void = () => undefined;
  const posted = new Set<(message: Record<string, unknown>) => void>();
  const comes = (name: string): Promise<Record<string, unknown>> =>
    new Promise((resolve) => {
      const listener = (message: Record<string, unknown>): void => {
        if (name in message) {
          posted.delete(listener);
          resolve(message[name] as Record<string, unknown>);
        }
      };
      posted.add(listener);
    });
  const attached = comes('snapshot');
  const opened = comes('promptOpened');
  const greeted = comes('hubConnection');
  const page: PagePort = {
    post: (message) => [...posted].forEach((listener) => listener(message as Record<string, unknown>)),
    onMessage: (listener) => {
      hear = listener;
      return () => undefined;
    },
  };
  let open: () => void = () => undefined;
  const visit = new Promise<void>((resolve) => {
    open = resolve;
  });
  const openUrl = (url: string): void => {
    visited.push(url);
    open();
  };
  const hub = await withDemo(s, { page, questions: { openUrl }, folders: [s.directory] }, { era: 'legacy' });
  await greeted;
  hear({ hello: { promptKinds: ['PROMPT_KIND_ELICITATION_URL'] } });
  await attached;
  const call = hub.callTool({ server: 'demo', tool: 'open_page', arguments: { url: 'https://example.com/a' } });
  const { prompt } = (await opened) as { prompt: { promptId: string } };
  hear({ messageId: '1', answerPrompt: { promptId: prompt.promptId, accept: {} } });
  await visit;
  assert.deepEqual(visited, ['https://example.com/a']);
  assert.match(textOf((await call).result), /agreed to open/);
});

test('a hub goes through the proxy that its host names', async (t) => {
  const heard: string[] = [];
  const proxy = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (data) => {
      heard.push(data.toString().split('\r\n')[0] ?? '');
      socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n');
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const hub = await stage(t).owned({
    proxy: { url: `http://127.0.0.1:${port}` },
    servers: [{ name: 'far', url: 'https://far.example.com/mcp', transport: 'streamable_http' }],
  });
  await failure(hub.startServer('far'));
  assert.ok(heard.includes('CONNECT far.example.com:443 HTTP/1.1'), heard.join('\n'));
});
