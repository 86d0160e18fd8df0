// Code lenses and diagnostics in config files, in a fake editor.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ServerState } from '@mcphub/host/contract';
import type { ConfigProblem, Server, Standing, WatcherListener, WatcherWindow } from '@mcphub/host/contract';
import type { HubProcess } from '../src/hub/hubprocess.js';
import { ConfigProblems } from '../src/lens/configproblems.js';
import { entriesByFile, lineOf, mostEntries, mostOnLine, type Lines } from '../src/lens/entries.js';
import { Lenses } from '../src/lens/lenses.js';
import { actionsOf, lensTitle } from '../src/lens/lenswords.js';
import { newEditor, Uri, type Editor, type Lens } from './fakevscode.js';

const file = '/repos/a/.cursor/mcp.json';
const server = (more: Partial<Server> = {}): Server =>
  ({
    name: 'files',
    state: ServerState.READY,
    configFile: file,
    configLine: 3,
    configDialect: 'cursor',
    lastError: '',
    problems: [],
    shadows: [],
    waitingForConsent: [],
    incarnation: 1n,
    processId: 7,
    ...more,
  }) as unknown as Server;

const text = (lines: readonly string[], isDirty = false): Lines & { uri: Uri } => ({
  uri: Uri.file(file),
  isDirty,
  lineCount: lines.length,
  lineAt: (line) => {
    const here = lines[line];
    assert.ok(here !== undefined, `line ${line} is not there`);
    return { text: here };
  },
});
const config = ['{', '  "mcpServers": {', '    "files": {', '      "command": "x"', '    }', '  }', '}'];

interface Scene {
  readonly editor: Editor;
  readonly stands: (...servers: Server[]) => void;
  readonly change: (...servers: Server[]) => void; // as stands, and a second passes
  readonly event: (kind: string, value: object, after?: number) => void; // and what happens in the time after it, in ms
  readonly lenses: (lines?: readonly string[], isDirty?: boolean) => Promise<string[]>;
  listed: number;
  listing: Promise<{ readonly tools: readonly object[] }>; // what each server answers that is asked for its tools
}

function scene(t: TestContext): Scene {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const editor = newEditor();
  const listeners: WatcherListener[] = [];
  const standing = { known: true, servers: new Map<string, Server>() };
  const watcher = {
    standing,
    listen: (listener: WatcherListener) => {
      listeners.push(listener);
      return () => listeners.splice(listeners.indexOf(listener), 1);
    },
  } as unknown as WatcherWindow;
  const made: Scene = {
    editor,
    listed: 0,
    listing: Promise.resolve({ tools: [{}, {}] }),
    stands: (...servers) => {
      standing.servers = new Map(servers.map((s) => [s.name, s]));
      listeners.forEach((one) => one.changed?.({ servers: true }, standing as unknown as Standing));
    },
    change: (...servers) => {
      made.stands(...servers);
      t.mock.timers.tick(1_000);
    },
    event: (kind, value, after = 1_000) => {
      listeners.forEach((one) => one.event?.({ event: { case: kind, value } } as never));
      t.mock.timers.tick(after);
    },
    lenses: async (lines = config, isDirty = false) => {
      const now = (): string[] =>
        [...editor.lensProviders].flatMap(({ provider }) =>
          (provider.provideCodeLenses(text(lines, isDirty)) as Lens[]).map(
            ({ command, range }) => `${range.start.line}: ${command?.title ?? 'left to be resolved'}`,
          ),
        );
      now(); // requests the numbers of tools
      await made.listing;
      return now();
    },
  };
  const process = {
    hub: { servers: { listTools: () => (made.listed++, made.listing) } },
  } as unknown as HubProcess;
  const all = [new Lenses(watcher, process), new ConfigProblems(watcher)];
  t.after(() => all.forEach((one) => one.dispose()));
  return made;
}

test('a server that runs has lenses with its tools and what can be done; they change with it', async (t) => {
  const { change, lenses } = scene(t);
  change(server());
  assert.deepEqual(await lenses(), [
    '2: McpHub: Ready, 2 tools',
    '2: Stop',
    '2: Restart',
    '2: Show Tools',
    '2: Show Log',
  ]);
  change(server({ state: ServerState.STOPPED }));
  assert.deepEqual(await lenses(), ['2: McpHub: Stopped', '2: Start']);
  change(server({ state: ServerState.FAILED, lastError: `it ended ${'x'.repeat(500)} $(check)` }));
  const [failed = '', ...actions] = await lenses();
  assert.match(failed, /^2: McpHub: Failed: it ended x+…$/u);
  assert.ok(failed.length < 100);
  assert.deepEqual(actions, ['2: Start', '2: Show Error', '2: Show Log']);
});

test('no lens waits for the number of tools, and one that comes late changes nothing', async (t) => {
  const made = scene(t);
  made.change(server());
  const provider = [...made.editor.lensProviders][0]?.provider;
  assert.ok(provider !== undefined && !('resolveCodeLens' in provider));
  let counted: (list: { tools: object[] }) => void = () => undefined;
  made.listing = new Promise((resolve) => (counted = resolve));
  const titles = (): unknown[] => (provider.provideCodeLenses(text(config)) as Lens[]).map((one) => one.command?.title);
  assert.equal(titles()[0], 'McpHub: Ready');
  made.change(server({ state: ServerState.STOPPED }));
  assert.deepEqual(titles(), ['McpHub: Stopped', 'Start']);
  let drawn = 0;
  provider.onDidChangeCodeLenses(() => drawn++);
  counted({ tools: [{}] });
  await made.listing;
  assert.equal(drawn, 0);
  assert.deepEqual(titles(), ['McpHub: Stopped', 'Start']);
});

test('lenses are drawn anew for what they say, and for nothing else', (t) => {
  const { change, editor } = scene(t);
  change(server({ state: ServerState.STOPPED }));
  let drawn = 0;
  for (const { provider } of editor.lensProviders) provider.onDidChangeCodeLenses(() => drawn++);
  change(server({ state: ServerState.STOPPED, stderr: ['a line'] }));
  assert.equal(drawn, 0, 'a click on a lens is lost while the editor draws it');
  change(server({ state: ServerState.STOPPED, lastError: 'it ended' }), server({ name: 'other', configLine: 5 }));
  change(server({ incarnation: 2n }));
  assert.equal(drawn, 2);
});

test('tools are counted once, until they change; another number is drawn, and the old stays until then', async (t) => {
  const made = scene(t);
  made.change(server(), server({ name: 'other', configLine: 4 }));
  await made.lenses();
  const shown = await made.lenses();
  assert.equal(made.listed, 2);
  let drawn = 0;
  for (const { provider } of made.editor.lensProviders) provider.onDidChangeCodeLenses(() => drawn++);
  made.event('toolsChanged', { server: 'files' });
  assert.deepEqual(await made.lenses(), shown);
  assert.deepEqual(
    [made.listed, drawn],
    [3, 0],
    'only those of this server, and a number that stays is not drawn anew',
  );
  made.listing = Promise.resolve({ tools: [{}] });
  made.event('toolsChanged', { server: 'files' });
  assert.ok((await made.lenses()).includes('2: McpHub: Ready, 1 tool'));
  assert.equal(drawn, 1);
});

test('a server that always changes its tools holds up no lens, and is asked a few times a second', async (t) => {
  const made = scene(t);
  made.change(server(), server({ name: 'other', configLine: 4, state: ServerState.STOPPED }));
  await made.lenses();
  let drawn = 0;
  for (const { provider } of made.editor.lensProviders) provider.onDidChangeCodeLenses(() => drawn++);
  for (let ms = 0; ms < 1_000; ms += 10) {
    made.event('toolsChanged', { server: 'files' }, 10);
    if (ms === 500) made.stands(server(), server({ name: 'other', configLine: 4 }));
  }
  assert.equal(drawn, 1);
  assert.ok(made.listed > 1 && made.listed <= 10, `${made.listed} lists`);
});

test('in the files of the editor, which has such lenses itself, one of ours leads to everything', async (t) => {
  const { change, lenses } = scene(t);
  change(server({ configDialect: 'vscode' }));
  assert.deepEqual(await lenses(), ['2: McpHub: Ready, 2 tools']);
});

test('an entry that cannot be used says which key is wrong', async (t) => {
  const { change, lenses } = scene(t);
  change(server({ state: ServerState.BROKEN, configLine: 4, problems: [problem()] }));
  assert.deepEqual(
    await lenses(),
    ['2: McpHub: Configuration error: command: is missing'],
    'over the entry, not the key',
  );
  change(server({ name: 'of a minified file', state: ServerState.BROKEN, configLine: 4, problems: [problem()] }));
  assert.deepEqual(await lenses(), ['3: McpHub: Configuration error: command: is missing']);
});

test('an entry that another one replaces, or that waits for a yes, says so', async (t) => {
  const { change, lenses } = scene(t);
  const [shadows, waitingForConsent] = [[{ file, line: 2 }], [{ file, line: 4 }]];
  change(server({ configFile: '/etc/.claude.json', shadows, waitingForConsent } as never));
  assert.deepEqual(await lenses(), ['1: McpHub: Overridden by .claude.json', '3: McpHub: Waiting for your consent']);
});

test('with the setting off there are none, and no file is asked for', (t) => {
  const { change, editor } = scene(t);
  change(server());
  assert.equal(editor.lensProviders.size, 1);
  editor.settings['codeLens'] = false;
  change(server());
  assert.equal(editor.lensProviders.size, 0);
});

test('the editor is asked for lenses of the very files alone', (t) => {
  const { change, editor } = scene(t);
  change(server({ configFile: '/repos/a*/[x].json' }), server({ name: 'demo', configFile: 'McpHub demo server' }));
  const [registered] = editor.lensProviders;
  assert.deepEqual(
    registered?.selector.map(({ pattern }) => `${pattern.base.fsPath} ${pattern.pattern}`),
    ['/repos/a* [[]x[]].json'],
  );
});

test('while somebody types, an entry is found again near its line, and of what is gone nothing is said', async (t) => {
  const { change, lenses } = scene(t);
  change(server({ state: ServerState.STOPPED }));
  assert.deepEqual(await lenses(['// a', '// b', ...config], true), ['4: McpHub: Stopped', '4: Start']);
  assert.deepEqual(await lenses(['{', '}'], true), []);
  assert.deepEqual(await lenses(['{}']), [], 'the file is shorter than the hub has read it');
  const toml = ['', '[mcp_servers.files]', 'command = "x"'];
  assert.deepEqual(await lenses(toml, true), ['1: McpHub: Stopped', '1: Start']);
});

test('a hostile file costs as much as any: no text of it is read but lines, and few of these', () => {
  let read = 0;
  const endless: Lines = {
    isDirty: true,
    lineCount: 10_000_000,
    lineAt: () => (read++, { text: '['.repeat(5_000) }),
  };
  assert.equal(lineOf(endless, { server: server(), line: 5_000_000, role: 'counts' }), undefined);
  assert.ok(read < 1_000, String(read));
  const many = Array.from({ length: 10_000 }, (_, i) => server({ name: `s${i}`, configLine: i + 1 }));
  assert.equal(entriesByFile(many).get(file)?.length, mostEntries);
  const oneLine = many.map((s) => ({ ...s, configLine: 1 }));
  assert.equal(entriesByFile(oneLine as Server[]).get(file)?.length, mostOnLine);
});

test('what a server says of itself can be no icon, and every state has a title', () => {
  const states = Object.values(ServerState).filter((s) => typeof s === 'number');
  for (const state of states) {
    const one = server({ state, lastError: '$(shield) trusted\u202e' });
    assert.doesNotMatch(lensTitle(one, undefined), /(?<!\\)\$\(|\u202e/u);
    actionsOf(one).forEach(({ args }) => assert.equal(args[0], 'files'));
  }
});

const problem = (more: Partial<ConfigProblem> = {}): ConfigProblem =>
  ({
    file,
    line: 4,
    column: 7,
    server: 'files',
    key: 'command',
    message: 'is missing',
    fatal: true,
    ...more,
  }) as ConfigProblem;

test('what is wrong stands where it is, with server and key, and goes when it is mended', (t) => {
  const { change, event, editor } = scene(t);
  change(server({ state: ServerState.BROKEN, problems: [problem(), problem({ fatal: false, key: 'colour' })] }));
  event('configReloaded', { problems: [problem({ file: '/etc/x.json', line: 0, column: 0, server: '', key: '' })] });
  assert.deepEqual(
    editor.diagnosed(),
    [
      `${file} 3:6 Error files: command: is missing`,
      `${file} 3:6 Warning files: colour: is missing`,
      '/etc/x.json 0:0 Error is missing',
    ].sort(),
  );
  change(server());
  event('configReloaded', { problems: [] });
  assert.deepEqual(editor.diagnosed(), []);
});

test('of a file with a flood of faults the first are listed, cut to what can be read', (t) => {
  const { change, editor } = scene(t);
  change(server({ problems: Array.from({ length: 5_000 }, () => problem({ message: 'x'.repeat(10_000) })) }));
  assert.equal(editor.diagnosed().length, 100);
  assert.ok((editor.diagnosed()[0] ?? '').length < 1_200);
});
