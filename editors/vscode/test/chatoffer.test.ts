// The offer to the editor's chat, with fake gateways.
import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { GatewayApproval, GatewayQuestions, ServerState } from '@mcphub/host/contract';
import type { Hub, HubState, Server } from '@mcphub/host/contract';
import { ChatOffer, type ChatWorld } from '../src/chat/chatoffer.js';
import type { DefinitionProvider, HttpDefinition } from '../src/chat/mcpdefinitions.js';
import { startedTwice, twiceText } from '../src/chat/startedtwice.js';
import { EventEmitter, newEditor, type Editor } from './fakevscode.js';

interface Opened {
  readonly gatewayId: string;
  readonly title: string;
  readonly url: string;
}

class Scene {
  readonly editor: Editor;
  readonly states = new EventEmitter<{ state: HubState; message: string; reason: string }>();
  readonly warnings: string[] = [];
  open: Opened[] = [];
  readonly asked: Record<string, unknown>[] = [];
  servers: Partial<Server>[] = [];
  changes = 0;
  #last = 0;
  readonly offer: ChatOffer;

  constructor(settings: Record<string, unknown> = {}, editor = newEditor()) {
    this.editor = editor;
    this.editor.settings = settings;
    const hub = {
      gateways: {
        listGateways: () => Promise.resolve({ gateways: this.open }),
        closeGateway: ({ gatewayId }: { gatewayId: string }) => {
          this.open = this.open.filter((one) => one.gatewayId !== gatewayId);
          return Promise.resolve({});
        },
        openGateway: (request: { title: string }) => {
          this.asked.push(request);
          const id = String(++this.#last);
          const gateway = { gatewayId: id, title: request.title, url: `http://127.0.0.1:${id}/mcp` };
          this.open.push(gateway);
          return Promise.resolve({ gateway, token: `token-${id}` });
        },
      },
      servers: { listServers: () => Promise.resolve({ servers: this.servers }) },
    } as unknown as Hub;
    this.offer = new ChatOffer({
      process: { hub, onDidChangeState: this.states.event },
      output: { hub: { warn: (text: string) => this.warnings.push(text) } },
      ready: () => Promise.resolve(),
    } as unknown as ChatWorld);
  }

  /** From now on counts how often the editor is told that the offer has changed. */
  counted(): this {
    this.provider.onDidChangeMcpServerDefinitions(() => this.changes++);
    return this;
  }

  get provider(): DefinitionProvider {
    const provider = this.editor.definitionProviders.get('mcphub.chat');
    assert.ok(provider, 'nothing is offered');
    return provider as DefinitionProvider;
  }

  get definition(): HttpDefinition {
    const [definition, ...more] = this.provider.provideMcpServerDefinitions();
    assert.ok(definition !== undefined && more.length === 0);
    return definition;
  }

  set(name: string, value: unknown): void {
    this.editor.settings[name] = value;
    this.editor.settingsChanged.fire({ affectsConfiguration: (asked) => asked === `mcphub.${name}` });
  }
}

test('nothing is offered before the user wants it, and no gateway is opened before the editor starts the server', async () => {
  const scene = new Scene().counted();
  assert.deepEqual(scene.provider.provideMcpServerDefinitions(), []);
  scene.set('chat.offerServers', true);
  assert.equal(scene.changes, 1);
  const { definition } = scene;
  assert.equal(scene.open.length, 0);
  const resolved = await scene.provider.resolveMcpServerDefinition(definition);
  assert.equal(resolved.uri.toString(), 'http://127.0.0.1:1/mcp');
  assert.deepEqual(resolved.headers, { Authorization: 'Bearer token-1' });
  assert.deepEqual(scene.asked, [
    {
      title: 'chat of Test Editor',
      profile: '',
      cancelReason: 'cancelled in Test Editor',
      approval: GatewayApproval.CLIENT, // the editor asks before each call
      questions: GatewayQuestions.WINDOW, // its dialog would stay when a server withdraws its question
    },
  ]);
});

test('a server that is started again gets another gateway, and the one before is closed, even of a reloaded window', async () => {
  const scene = new Scene({ 'chat.offerServers': true, 'chat.profile': 'work' });
  scene.open = [
    { gatewayId: 'left', title: 'chat of Test Editor', url: '' },
    { gatewayId: 'other', title: 'somebody else', url: '' },
  ];
  await Promise.all([1, 2].map(() => scene.provider.resolveMcpServerDefinition(scene.definition)));
  assert.deepEqual(
    scene.open.map(({ gatewayId }) => gatewayId),
    ['other', '2'],
  );
  assert.equal(scene.asked[0]?.['profile'], 'work');
});

test('another setting and the end of the hub make another version, so that the editor ends its connection', async () => {
  const scene = new Scene({ 'chat.offerServers': true }).counted();
  await scene.provider.resolveMcpServerDefinition(scene.definition);
  const first = scene.definition.version;
  scene.states.fire({ state: 'restarting', message: '', reason: '' });
  assert.equal(scene.changes, 1);
  assert.notEqual(scene.definition.version, first);
  scene.states.fire({ state: 'failed', message: '', reason: '' });
  assert.equal(scene.changes, 1, 'there was nothing left to take back');
  await scene.provider.resolveMcpServerDefinition(scene.definition);
  scene.set('chat.profile', 'play');
  assert.equal(scene.changes, 2);
  scene.set('chat.offerServers', false);
  assert.deepEqual(scene.provider.provideMcpServerDefinitions(), []);
  await new Promise(setImmediate);
  assert.equal(scene.open.length, 0, 'nobody may call through the gateway any more');
  assert.deepEqual(scene.warnings, []);
});

test('who turns the offer on is told which servers the editor starts itself', async () => {
  const scene = new Scene();
  scene.servers = [
    { name: 'mine', configName: 'mine', configFile: '/m', configDialect: 'vscode', state: ServerState.READY },
    { name: 'off', configName: 'off', configFile: '/m', configDialect: 'vscode', state: ServerState.DISABLED },
    { name: 'elsewhere', configName: 'elsewhere', configFile: '/e', configDialect: 'cursor', state: ServerState.READY },
    { name: 'mine@user', configName: 'mine', configFile: '/m', configDialect: 'vscode', state: ServerState.READY },
  ];
  scene.set('chat.offerServers', true);
  await new Promise(setImmediate);
  assert.equal(scene.editor.messages.length, 1);
  assert.match(scene.editor.messages[0] ?? '', /they run twice: mine\. /);
  assert.equal(startedTwice([]).length, 0);
  assert.doesNotMatch(twiceText('E', []), /twice/);
  assert.match(twiceText('E', ['a', 'b', 'c', 'd', 'e', 'f', 'g']), /a, b, c, d, e and 2 more\./);
});

test('the servers that the editor starts itself are those of its files, and of others as far as its setting goes', () => {
  const editor = newEditor();
  editor.folders = ['/repos/a', '/repos/b'];
  const desktop = '/me/.config/Claude/claude_desktop_config.json';
  const windsurf = '/me/.codeium/windsurf/mcp_config.json';
  const everywhere = join(homedir(), '.cursor', 'mcp.json');
  const rows: [string, string, unknown, boolean][] = [
    ['/repos/a/.vscode/mcp.json', 'vscode', false, true],
    ['/me/.config/Code/User/mcp.json', 'vscode', undefined, true],
    ['/repos/b/.mcp.json', 'portable', false, true],
    ['/repos/b/sub/.mcp.json', 'portable', true, false],
    ['/elsewhere/.mcp.json', 'portable', true, false],
    ['/repos/a/mcp.json', 'mcpServers', true, false],
    ['/repos/a/.cursor/mcp.json', 'cursor', undefined, false],
    ['/repos/a/.cursor/mcp.json', 'cursor', false, false],
    ['/repos/a/.cursor/mcp.json', 'cursor', true, true],
    ['/repos/a/.cursor/mcp.json', 'cursor', { 'cursor-workspace': true }, true],
    ['/repos/a/.cursor/mcp.json', 'cursor', { 'cursor-workspace': false, 'cursor-global': true }, false],
    ['/repos/a/.cursor/mcp.json', 'cursor', { 'cursor-workspace': 'yes' }, false],
    ['/elsewhere/.cursor/mcp.json', 'cursor', true, false],
    [everywhere, 'cursor', { 'cursor-global': true }, true],
    [everywhere, 'cursor', { 'cursor-workspace': true }, false],
    [desktop, 'claude-desktop', { 'claude-desktop': true }, true],
    [desktop, 'claude-desktop', { windsurf: true }, false],
    [desktop.replaceAll('/', '\\'), 'claude-desktop', true, true],
    [windsurf, 'cursor', { windsurf: true }, true],
    [windsurf, 'cursor', null, false],
    ['/me/.codex/config.toml', 'codex', true, false],
  ];
  for (const [configFile, configDialect, enabled, twice] of rows) {
    editor.settings['mcp.discovery.enabled'] = enabled;
    const one = { name: 's', configName: 's', configFile, configDialect, state: ServerState.READY } as Server;
    assert.equal(startedTwice([one]).length, Number(twice), `${configFile} with ${JSON.stringify(enabled)}`);
  }
});

test('an editor that takes no servers from extensions goes on without, and says so to who turns the offer on', async () => {
  const editor = newEditor();
  editor.refusesDefinitions = true;
  const scene = new Scene({}, editor);
  scene.set('chat.offerServers', true);
  await new Promise(setImmediate);
  assert.match(editor.messages.join(), /needs version 1\.101 or later/);
});

test('a gateway that is opened while the offer is switched off is closed again', async () => {
  const scene = new Scene({ 'chat.offerServers': true });
  const opening = scene.provider.resolveMcpServerDefinition(scene.definition);
  await Promise.resolve();
  await Promise.resolve();
  scene.set('chat.offerServers', false);
  await assert.rejects(opening, /What McpHub offers has changed/);
  assert.equal(scene.open.length, 0);
});
