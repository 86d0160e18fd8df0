// The tree of the servers, on the messages of a hub.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LaunchConsent, ServerState, SignInState } from '@mcphub/host/contract';
import { ServerTree, type ServerRow } from '../src/views/servertree.js';
import { newEditor, type TreeItem } from './fakevscode.js';
import { KnownScene } from './knownscene.js';

interface Offers {
  tools?: object[];
  resources?: object[];
  prompts?: object[];
}

class Scene extends KnownScene {
  readonly asked: string[] = [];
  readonly fired: string[] = [];
  readonly tree: ServerTree;
  offers: Offers = {};
  fails: Error | undefined;
  lacks: keyof Offers | 'resourceTemplates' | undefined;

  constructor() {
    super();
    newEditor();
    const list = (name: keyof Offers | 'resourceTemplates') => () => {
      this.asked.push(name);
      const all = name === 'resourceTemplates' ? [] : (this.offers[name] ?? []);
      const fails = this.lacks === name ? new Error('method not found') : this.fails;
      return fails === undefined ? Promise.resolve({ [name]: all, matched: all.length }) : Promise.reject(fails);
    };
    const servers = {
      listTools: list('tools'),
      listResources: list('resources'),
      listResourceTemplates: list('resourceTemplates'),
      listMcpPrompts: list('prompts'),
    };
    this.tree = new ServerTree(this.known, () => servers as never);
    this.tree.onDidChangeTreeData((row) => this.fired.push(row?.server ?? '*'));
  }

  async rows(of?: ServerRow): Promise<ServerRow[]> {
    return (await this.tree.getChildren(of)) ?? [];
  }

  item(row: ServerRow | undefined): TreeItem {
    assert.ok(row);
    return this.tree.getTreeItem(row) as unknown as TreeItem;
  }

  /** What a person reads in these rows. */
  async read(of?: ServerRow): Promise<string[]> {
    return (await this.rows(of)).map((row) => {
      const { label, description } = this.item(row);
      return [label, description].filter(Boolean).join(' | ');
    });
  }
}

const ready = { state: ServerState.READY, capabilitiesJson: '{"tools":{},"resources":{},"prompts":{}}' };

test('servers stand in the order of the config, with a state only where it is not the normal one', async () => {
  const scene = new Scene();
  assert.deepEqual(await scene.rows(), []);
  scene.snapshot({
    servers: [
      { name: 'files', ...ready },
      { name: 'idle', state: ServerState.STOPPED },
      { name: 'tickets', state: ServerState.STOPPED, signIn: SignInState.NEEDED },
      { name: 'metrics', state: ServerState.FAILED, lastError: 'exit code 1\nsee the log' },
      { name: 'off', state: ServerState.DISABLED },
      { name: 'new', state: ServerState.STOPPED, launchConsent: LaunchConsent.DECLINED },
    ],
    problems: [{ file: '/w/mcp.json', line: 3, message: 'a comma is missing', fatal: true }],
  });
  assert.deepEqual(await scene.read(), [
    'files',
    'idle | Stopped',
    'tickets | Sign-in needed',
    'metrics | Failed',
    'off | Off',
    'new | Start declined',
    'a comma is missing | mcp.json',
  ]);
  const [files, idle, tickets, metrics, , , problem] = (await scene.rows()).map((row) => scene.item(row));
  assert.equal(files?.accessibilityInformation?.label, 'files, Ready');
  assert.equal(idle?.accessibilityInformation?.label, 'idle, Stopped');
  assert.deepEqual(
    [files, tickets, metrics].map((item) => item?.iconPath?.id),
    ['server', 'key', 'error'],
  );
  assert.match(metrics?.tooltip?.value ?? '', /^metrics · Failed · exit code 1 see the log$/u);
  assert.deepEqual(problem?.command?.arguments, ['/w/mcp.json', 3]);
});

test('what can be done with a server depends on its state', async () => {
  const scene = new Scene();
  scene.snapshot({
    servers: [
      { name: 'files', ...ready, signIn: SignInState.SIGNED_IN, configLine: 3 },
      { name: 'idle', state: ServerState.STOPPED, signIn: SignInState.NEEDED, questionsMuted: true },
      { name: 'off', state: ServerState.DISABLED },
    ],
  });
  const contexts = (await scene.rows()).map((row) => scene.item(row).contextValue);
  assert.deepEqual(contexts, [
    ' server stop restart signOut disable config ',
    ' server start signIn disable unmute ',
    ' server enable ',
  ]);
});

test('what a server offers stands in groups, and only where there is something', async () => {
  const scene = new Scene();
  scene.offers = {
    tools: [{ server: 'files', name: 'read_file', title: 'Read file', description: 'Text of a file' }],
    resources: [{ server: 'files', uri: 'file:///a', name: 'a', title: '', description: '' }],
  };
  scene.snapshot({ servers: [{ name: 'files', ...ready }] });
  const [files] = await scene.rows();
  assert.deepEqual(await scene.read(files), ['Tools | 1', 'Resources | 1']);
  const [tools, resources] = await scene.rows(files);
  assert.deepEqual(await scene.read(tools), ['Read file | Text of a file']);
  assert.deepEqual(await scene.read(resources), ['a | file:///a']);
  const [tool] = await scene.rows(tools);
  assert.deepEqual(scene.item(tool).command?.arguments, [{ server: 'files', tool: 'read_file' }]);
  assert.equal(scene.item(tool).tooltip?.value, 'Read file · read\\_file\n\nText of a file');
  assert.equal(scene.item(tool).accessibilityInformation?.label, 'Read file, read_file, Text of a file');
  await scene.rows(files);
  assert.deepEqual(scene.asked, ['tools', 'resources', 'resourceTemplates', 'prompts'], 'asked once');
});

test('a list that a server does not answer hides none of the others', async () => {
  const scene = new Scene();
  scene.offers = {
    tools: [{ server: 'files', name: 'a', title: '', description: '' }],
    resources: [{ server: 'files', uri: 'file:///a', name: 'a', title: '', description: '' }],
  };
  scene.lacks = 'resourceTemplates';
  scene.snapshot({ servers: [{ name: 'files', ...ready }] });
  const [files] = await scene.rows();
  assert.deepEqual(await scene.read(files), ['Tools | 1', 'Resources | 1', 'method not found']);
  scene.fails = new Error('the hub is gone');
  scene.lacks = undefined;
  assert.deepEqual(await scene.read(files), ['the hub is gone'], 'asked again, and said once');
});

test('a list is asked for again when its server says that it has changed', async () => {
  const scene = new Scene();
  scene.offers = { tools: [{ server: 'files', name: 'a', title: '', description: '' }] };
  scene.snapshot({ servers: [{ name: 'files', state: ServerState.READY }] });
  const [files] = await scene.rows();
  assert.deepEqual(await scene.read(files), ['Tools | 1']);
  scene.offers.tools?.push({ server: 'files', name: 'b', title: '', description: '' });
  scene.fired.length = 0;
  scene.say({ case: 'toolsChanged', value: { server: 'files' } });
  assert.deepEqual(scene.fired, ['files']);
  assert.deepEqual(await scene.read(files), ['Tools | 2']);
});

test('a server that does not run is not started for its list, and says what is to be done', async () => {
  const scene = new Scene();
  scene.snapshot({ servers: [{ name: 'files', state: ServerState.STOPPED, capabilitiesJson: '{"resources":{}}' }] });
  const [files] = await scene.rows();
  assert.deepEqual(await scene.read(files), ['Start to List Tools']);
  assert.deepEqual(scene.asked, ['tools']);
  const [note] = await scene.rows(files);
  assert.deepEqual(scene.item(note).command?.command, 'mcphub.startServer');
  scene.fails = new Error('the hub is gone');
  scene.say({ case: 'serverChanged', value: { server: { name: 'files', state: ServerState.READY } } });
  assert.deepEqual(await scene.read(files), ['the hub is gone']);
  scene.fails = undefined;
  scene.offers = { tools: [{ server: 'files', name: 'a', title: '', description: '' }] };
  assert.deepEqual(await scene.read(files), ['Tools | 1'], 'asked again');
});

test('names that were made to deceive are shown as they are, in one line, and cut', async () => {
  const scene = new Scene();
  const evil = 'safe\u202egnp.exe\nRunning';
  scene.offers = {
    tools: [
      { server: evil, name: evil, title: '[x](command:evil)\n\n# big', description: `\u200b${'y'.repeat(5000)}` },
    ],
  };
  scene.snapshot({
    servers: [
      { name: evil, ...ready },
      { name: 'z'.repeat(100_000), state: ServerState.STOPPED },
    ],
  });
  const [server, long] = await scene.rows();
  assert.equal(scene.item(server).label, 'safe⟨U+202E⟩gnp.exe Running');
  assert.match(scene.item(long).label, /^z{64}… \(100000 characters\)$/u);
  const [tools] = await scene.rows(server);
  const [tool] = await scene.rows(tools);
  const { label, description = '', tooltip } = scene.item(tool);
  assert.equal(label, '[x](command:evil) # big');
  assert.match(description, /^⟨U\+200B⟩y+…$/u);
  assert.ok(description.length <= 200);
  assert.equal(tooltip?.isTrusted, undefined);
  assert.match(tooltip?.value ?? '', /^\\\[x\\\]\\\(command:evil\\\)/u);
});
