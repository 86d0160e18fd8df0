// The code of docs/migrating.md on a hub of one's own, and what takes the place of each method that the document names.
// The document quotes what is for Continue from here, the other from migratingcode.ts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { McpEvent, McpHub, McpServer, McpServerForm, MemoryServer, OwnedHub } from '../dist/index.js';
import { Authority } from './authority.js';
import { named, writing } from './migratingcode.js';
import { failure, long, realBinary, stage } from './stage.js';
import type { Stage } from './stage.js';

interface Options extends Pick<McpServerForm, 'command' | 'args' | 'env' | 'cwd' | 'url'> {
  readonly id: string;
  readonly type?: 'stdio' | 'sse' | 'streamable-http';
  readonly timeout?: number; // of the connecting, in ms
  readonly requestOptions?: { readonly headers: Readonly<Record<string, string>> };
}

const serverOf = ({ id, type, timeout, requestOptions, ...entry }: Options): MemoryServer => ({
  ...entry,
  name: id,
  ...requestOptions,
  ...(type === 'sse' && { transport: 'sse' }),
  ...(timeout !== undefined && { timeouts: { connectMs: timeout } }),
});

test('what the guide for Continue shows does what its manager of connections did', async (t) => {
  const options: Options[] = [{ id: 'notes', command: realBinary(), args: ['demo-server'], timeout: long }];
  const hub = await stage(t).owned({ approvals: 'host' }); // Continue asks by itself
  await hub.setServers(options.map(serverOf));
  assert.deepEqual(
    hub.servers.map(({ name, source }) => [name, source]),
    [['notes', 'host']],
  );
  assert.equal((await hub.restartServer('notes')).state, 'ready');
  const stop = new AbortController();
  const called = hub.callTool({ server: 'notes', tool: 'long_task', arguments: { steps: 1 }, signal: stop.signal });
  assert.match((await called).resultJson, /content/);
  assert.deepEqual(await hub.setServers([]), { problems: [], stopped: ['notes'] });
});

/** Resolves when something holds, which is asked now and after each event. */
function until<T>(event: McpEvent<T>, holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (holds()) {
        listening.dispose();
        resolve();
      }
    };
    const listening = event(look);
    look();
  });
}

/** Resolves with the first event for which something holds. */
function first<T>(event: McpEvent<T>, holds: (event: T) => boolean = () => true): Promise<T> {
  return new Promise((resolve) => {
    const listening = event((one) => {
      if (holds(one)) {
        listening.dispose();
        resolve(one);
      }
    });
  });
}

const called = (hub: McpHub, name: string): McpServer => {
  const server = hub.servers.find((one) => one.name === name);
  assert.ok(server !== undefined, `there is no server ${name}`);
  return server;
};

interface Extension {
  readonly hub: OwnedHub;
  /** The user's file, and the project's. */
  readonly files: { readonly user: string; readonly workspace: string };
  /** The servers whose launch was asked about. */
  readonly launches: string[];
  /** The entry of a server in a file. */
  readonly entry: (name: string, file?: string) => Record<string, unknown> | undefined;
  /** What the demo server of the user's file has recorded. */
  readonly recorded: () => { event: string; tool?: string; reason?: string }[];
  /** Addresses that the user was led to. */
  readonly visited: string[];
}

/** A hub as an extension like Cline or Kilo Code has it, and a user who agrees to all. */
async function extension(
  s: Stage,
  { npx = false, kilo = false, visit }: { npx?: boolean; kilo?: boolean; visit?: (url: string) => unknown } = {},
): Promise<Extension> {
  const record = join(s.directory, 'record');
  const files = { user: join(s.directory, 'cline_mcp_settings.json'), workspace: join(s.directory, 'mcp.json') };
  const demo = (...more: string[]) => ({ command: realBinary(), args: ['demo-server', ...more] });
  const offers = { command: process.execPath, args: [join(import.meta.dirname, 'offerserver.js')] };
  writeFileSync(
    files.user,
    JSON.stringify({
      mcpServers: {
        demo: demo('--record', record, '--greet', 'hello to all'),
        off: { ...demo(), disabled: true },
        offers,
      },
    }),
  );
  writeFileSync(files.workspace, JSON.stringify({ mcpServers: { demo: demo() } }));
  const launches: string[] = [];
  const visited: string[] = [];
  const hub = await s.owned({
    program: 'an extension',
    approvals: 'host', // it asks by itself
    files: [
      { path: files.user, source: 'user', dialect: kilo ? 'roo' : 'cline' },
      ...(kilo ? [{ path: files.workspace, dialect: 'roo' }] : []),
    ],
    env: {
      MCPHUB_STATE_DIR: join(s.directory, 'state'),
      ...(npx && { NOTES_TOKEN: 'secret', PATH: `${npxFolder(s)}${delimiter}${process.env['PATH']}` }),
    },
    questions: {
      launch: ({ server }) => {
        launches.push(server);
        return { action: 'accept', scope: 'always' };
      },
      signIn: () => ({ action: 'accept' }),
      openUrl: (url) => {
        visited.push(url);
        return visit?.(url);
      },
    },
  });
  const entries = (file: string) =>
    (JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: Record<string, Record<string, unknown>> }).mcpServers;
  return {
    hub,
    files,
    launches,
    visited,
    entry: (name, file = files.user) => entries(file)[name],
    recorded: () =>
      (existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : []).map(
        (line) => JSON.parse(line) as { event: string },
      ),
  };
}

/** A folder with a program npx, which runs the server of notes and installs nothing. */
function npxFolder(s: Stage): string {
  const folder = join(s.directory, 'programs');
  mkdirSync(folder);
  const server = join(import.meta.dirname, 'offerserver.js');
  const [name, text] =
    process.platform === 'win32'
      ? ['npx.cmd', `@"${process.execPath}" "${server}" %*\r\n`]
      : ['npx', `#!/bin/sh\nexec '${process.execPath}' '${server}' "$@"\n`];
  writeFileSync(join(folder, name), text, { mode: 0o755 });
  return folder;
}

/** The demo server over HTTP; resolves with its address. */
async function demoOverHttp(t: TestContext): Promise<string> {
  const server = spawn(realBinary(), ['demo-server', '--http', '', '--until-eof'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(async () => {
    const ended = once(server, 'exit');
    server.stdin.end();
    await ended;
  });
  for await (const line of createInterface({ input: server.stdout })) {
    const address = /http:\S+\/mcp/u.exec(line)?.[0];
    if (address !== undefined) {
      return address;
    }
  }
  return assert.fail('the server said no address');
}

test('what the guide shows of writing runs: the entry is written, agreed to, called and removed, and undone not', async (t) => {
  const { hub, files, launches, entry } = await extension(stage(t), { npx: true });
  const before = readFileSync(files.user, 'utf8');
  const { write, found } = await writing(hub);
  assert.equal(write.configFile, files.user);
  assert.equal(write.needsConsent, true);
  assert.match(found, /milk, by secret/);
  assert.deepEqual(launches, ['notes']);
  assert.equal(entry('notes'), undefined);
  assert.deepEqual(JSON.parse(readFileSync(files.user, 'utf8')), JSON.parse(before));
  const gone = await failure(hub.undo(write));
  assert.equal(gone.code, 'failed_precondition', gone.message);
});

test('Cline: servers, their state, and how they are told', async (t) => {
  const { hub, files, recorded } = await extension(stage(t));
  await hub.ready();
  const listed = (): string[] => hub.servers.filter((s) => s.state !== 'disabled').map(({ name }) => name);
  assert.deepEqual(listed().sort(), ['demo', 'offers']); // getServers
  assert.equal(called(hub, 'off').state, 'disabled');
  assert.equal(called(hub, 'demo').configFile, files.user); // getMcpSettingsFilePath
  assert.equal(called(hub, 'demo').configLine, 1);

  // isConnecting, connections, sendLatestMcpServers
  const states: string[] = [];
  const listening = hub.onDidChangeServers(() => states.push(called(hub, 'demo').state));
  const said = first(hub.onDidLog, ({ dataJson }) => dataJson.includes('hello to all')); // setNotificationCallback
  await hub.startServer('demo');
  await until(hub.onDidChangeServers, () => called(hub, 'demo').state === 'ready');
  assert.deepEqual([...new Set(states)].slice(0, 2), ['connecting', 'ready']);
  assert.equal((await said).server, 'demo');
  await until(hub.onDidChangeServers, () => called(hub, 'demo').stderr.length > 0);
  assert.match(called(hub, 'demo').stderr.join(), /hello to all/);
  listening.dispose();

  // setToolListChangeCallback, computeToolFingerprint
  const before = await hub.tools('demo');
  const changed = first(hub.onDidChangeTools);
  await hub.callTool({ server: 'demo', tool: 'add_tool', arguments: { name: 'added' } });
  assert.deepEqual(await changed, { server: 'demo' });
  const added = (await hub.tools('demo')).filter((tool) => !before.some(({ name }) => name === tool.name));
  assert.deepEqual(
    added.map(({ name, definitionJson }) => [name, (JSON.parse(definitionJson) as { name: string }).name]),
    [['added', 'added']],
  );

  // getMcpServerByKey
  const { tools } = await hub.modelTools();
  const echo = tools.find(({ server, tool }) => server === 'demo' && tool === 'echo');
  assert.ok(echo !== undefined);
  assert.match((await hub.callTool({ tool: echo.name, arguments: { text: 'by its name' } })).resultJson, /by its name/);

  // restartConnection, deleteConnection
  const pid = called(hub, 'demo').processId;
  const again = await hub.restartServer('demo', 'to be tested');
  assert.deepEqual([again.state, again.processId === pid, pid === 0], ['ready', false, false]);
  const stopped = await hub.stopServer('demo', 'no longer needed');
  assert.equal(stopped.state, 'stopped');
  await hub.callTool({ server: 'demo', tool: 'echo', arguments: { text: 'needed again' } });
  await until(hub.onDidChangeServers, () => called(hub, 'demo').state === 'ready');
  assert.equal(recorded().filter(({ event }) => event === 'ready').length, 3);
});

test('Cline: a call with its label, its progress and its clocks, and a task that is aborted', async (t) => {
  const { hub, recorded } = await extension(stage(t));
  const done = await hub.callTool({
    server: 'demo',
    tool: 'echo',
    arguments: { text: 'done' },
    label: 'ulid',
    timeouts: { totalMs: long },
  });
  assert.match(done.resultJson, /^\{.*"content"/);
  const late = await failure(
    hub.callTool({ server: 'demo', tool: 'sleep', arguments: { seconds: 600 }, timeouts: { totalMs: 20 } }),
  );
  assert.equal(late.code, 'deadline_exceeded', late.message);

  const stop = new AbortController();
  const one = failure(
    hub.callTool({
      server: 'demo',
      tool: 'sleep',
      arguments: { seconds: 60, steps: 600 },
      signal: stop.signal,
      onProgress: () => stop.abort('this call alone'),
    }),
  );
  assert.equal((await one).code, 'cancelled');
  const running = new Set<string>();
  const all = new Promise<void>((resolve) => {
    hub.onDidChangeRequests(({ requestId, state }) => {
      if (state === 'running' && running.add(requestId).has('a') && running.has('b')) resolve();
    });
  });
  const calls = ['a', 'b'].map((requestId) =>
    failure(hub.callTool({ server: 'demo', tool: 'sleep', arguments: { seconds: 600 }, requestId, label: 'ulid' })),
  );
  await all;
  assert.deepEqual((await hub.cancelRequests({ label: 'ulid' }, 'the task is over')).sort(), ['a', 'b']);
  assert.deepEqual(
    (await Promise.all(calls)).map(({ code }) => code),
    ['cancelled', 'cancelled'],
  );
  await hub.stopServer('demo');
  // The clock may have run out before its call was sent, and the end of the server ends a subscription.
  const heard = recorded().flatMap(({ event, reason }) => (event === 'cancel_received' ? [reason] : []));
  assert.deepEqual(
    heard.filter((reason) => reason === 'this call alone' || reason === 'the task is over'),
    ['this call alone', 'the task is over', 'the task is over'],
  );
});

test('Cline: the settings of a server are written into its file', async (t) => {
  const { hub, entry, launches } = await extension(stage(t));
  // toggleServerDisabledRPC
  await hub.updateServer('demo', { enabled: false });
  assert.equal(entry('demo')?.['disabled'], true);
  await until(hub.onDidChangeServers, () => called(hub, 'demo').state === 'disabled');
  await hub.updateServer('demo', { enabled: true });
  assert.notEqual(entry('demo')?.['disabled'], true);
  await hub.setServerEnabled('demo', false);
  await until(hub.onDidChangeServers, () => called(hub, 'demo').state === 'disabled');
  assert.notEqual(entry('demo')?.['disabled'], true, 'for as long as the hub lives');
  await hub.setServerEnabled('demo', true);

  // toggleToolAutoApprove
  const policy = async (): Promise<string | undefined> =>
    (await hub.tools('demo')).find(({ name }) => name === 'echo')?.policy;
  assert.equal(await policy(), 'ask');
  await hub.updateServer('demo', { alwaysAllow: { echo: true, sleep: true } });
  assert.deepEqual(entry('demo')?.['autoApprove'], ['echo', 'sleep']);
  assert.equal(await policy(), 'ask');
  assert.deepEqual(launches, []);
  await hub.restartServer('demo');
  assert.deepEqual(launches, ['demo'], 'the user agrees to tools that are called without a question');
  assert.equal(await policy(), 'allow');
  await hub.updateServer('demo', { alwaysAllow: { echo: false } });
  assert.deepEqual(entry('demo')?.['autoApprove'], ['sleep']);
  assert.equal(await policy(), 'ask');

  // updateServerTimeoutRPC
  await hub.updateServer('demo', { timeouts: { totalMs: 90 * 1000 } });
  assert.equal(entry('demo')?.['timeout'], 90);
  assert.equal((await hub.serverSettings('demo')).timeouts.totalMs, 90_000);
});

test('Cline: servers come and go, by writes of the extension and by the hand of the user', async (t) => {
  const { hub, files, entry, launches } = await extension(stage(t));
  const changes: string[] = [];
  const listening = hub.onDidChangeServers(({ added, removed }) =>
    changes.push(...added.map((name) => `+${name}`), ...removed.map((name) => `-${name}`)),
  );
  // addRemoteServer
  const url = await demoOverHttp(t);
  await hub.addServer({ name: 'remote', entry: { url, transport: 'streamable_http' }, source: 'user' });
  assert.equal(entry('remote')?.['url'], url);
  assert.match((await hub.callTool({ server: 'remote', tool: 'echo', arguments: { text: 'far' } })).resultJson, /far/);
  assert.deepEqual(launches, ['remote']);
  // deleteServerRPC
  await hub.removeServer('remote');
  assert.equal(entry('remote'), undefined);
  await until(hub.onDidChangeServers, () => changes.includes('-remote'));
  assert.deepEqual(changes, ['+remote', '-remote'], 'a write is one change');
  listening.dispose();

  // updateServerConnections
  const byHand = first(hub.onDidChangeServers, ({ added }) => added.includes('typed'));
  const text = JSON.parse(readFileSync(files.user, 'utf8')) as { mcpServers: Record<string, unknown> };
  text.mcpServers['typed'] = text.mcpServers['off'];
  writeFileSync(files.user, JSON.stringify(text));
  await byHand;
  assert.equal(called(hub, 'typed').state, 'disabled');
});

test('Cline: resources, prompts and sign-ins', async (t) => {
  const authority = await Authority.open(t);
  const { hub, visited } = await extension(stage(t), { visit: (url) => authority.agree(url) });
  const read = await hub.readResource({ server: 'offers', uri: 'note://1' });
  assert.equal(read.resultJson, '{"contents":[{"uri":"note://1","text":"the note"}]}');
  const { result } = await hub.getPrompt({ server: 'offers', name: 'greet', arguments: { who: 'you' } });
  assert.deepEqual(result, { messages: [] });

  // initiateOAuth, completeOAuth, clearOAuthForConnection
  await hub.addServer({ name: 'guarded', entry: { url: authority.url }, source: 'user' });
  const asked = await hub.signIn('guarded');
  assert.equal(asked.signIn, 'signed_in');
  assert.equal(visited.length, 1);
  assert.match((await hub.callTool({ server: 'guarded', tool: 'who' })).resultJson, /signed in/);
  assert.equal((await hub.signOut('guarded')).signIn, 'needed');
  assert.match((await hub.callTool({ server: 'guarded', tool: 'who' })).resultJson, /signed in/);
  assert.equal(visited.length, 2, 'a call that needs a sign-in asks for it');
});

test('Kilo Code: servers by their name and the source of their entry', async (t) => {
  const { hub, files, entry, launches } = await extension(stage(t), { kilo: true });
  const here = named('demo', 'global');
  const there = named('demo', 'project');
  const echo = async (server: typeof here, text: string): Promise<string> =>
    (await hub.callTool({ server, tool: 'echo', arguments: { text } })).resultJson;
  assert.match(await echo(here, 'of the user'), /of the user/);
  assert.deepEqual(launches, []);
  assert.match(await echo(there, 'of the project'), /of the project/);
  assert.equal(launches.length, 1, 'a project asks');
  // getServers: of two of one name the one that counts
  assert.deepEqual(
    hub.servers
      .filter(({ state, name, configName }) => state !== 'disabled' && name === configName)
      .map(({ name }) => name)
      .sort(),
    ['demo', 'offers'],
  );
  const states = (): string[] =>
    hub.servers.flatMap((s) => (s.configName === 'demo' ? [`${s.source} ${s.state}`] : [])).sort();
  await hub.stopServer(there, 'no longer needed');
  await until(hub.onDidChangeServers, () => states().join() === 'user ready,workspace stopped');
  assert.equal((await hub.restartServer(there)).state, 'ready');
  const which = await failure(hub.updateServer('demo', { enabled: false }));
  assert.equal(which.code, 'invalid_argument', 'a name that two files have does not say where to write');
  await hub.updateServer(there, { enabled: false });
  assert.equal(entry('demo', files.workspace)?.['disabled'], true);
  assert.equal(entry('demo')?.['disabled'], undefined);
  await hub.updateServer(there, { enabled: true, timeouts: { totalMs: 60 * 1000 } });
  assert.equal((await hub.serverSettings(there)).timeouts.totalMs, 60_000);
  await hub.updateServer(here, { alwaysAllow: { echo: true } });
  assert.deepEqual(entry('demo')?.['alwaysAllow'], ['echo']);
  assert.deepEqual(
    (await hub.resourceTemplates(named('offers', 'global'))).map(({ uriTemplate }) => uriTemplate),
    ['note://{id}'],
  );
  assert.equal((await hub.resources(named('offers', 'global'))).length, 1);
  assert.match((await hub.readResource({ server: named('offers', 'global'), uri: 'note://1' })).resultJson, /the note/);
  await hub.updateServer(here, { patch: { disabledTools: ['echo'] } });
  assert.deepEqual(
    (await hub.tools(here)).filter(({ name }) => name === 'echo'),
    [],
    'a hidden tool is in no list',
  );
  await hub.removeServer(there);
  assert.equal(entry('demo', files.workspace), undefined);
  assert.notEqual(entry('demo'), undefined);
});
