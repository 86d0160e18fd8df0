// What the extension adds to the API of the hub: whose calls they are, and the permissions that the user has given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApprovalPolicy, Mirror, Subscriptions, ToolSchema, WatcherWindow } from '@mcphub/host/contract';
import type { Hub } from '@mcphub/host/contract';
import { create } from '@bufbuild/protobuf';
import { Servers } from '../../examples/agent/servers.js';
import type { McpHub } from '../api.js';
import { createApi } from '../src/api/api.js';
import { Grants, manageGrants } from '../src/api/grants.js';
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

const write = { configFile: '/f', configLine: 3, needsConsent: true, problems: [], leftOut: [], undoId: 'u1' };

class Scene {
  readonly editor: Editor = newEditor();
  readonly sent: [string, Sent][] = [];
  readonly grants = new Grants(new Memory() as never);
  readonly api;

  constructor(answers: Readonly<Record<string, unknown>> = {}) {
    this.editor.extensions.set('some.body', { displayName: 'Some Body' });
    this.editor.extensions.set('any.body', {});
    const service = new Proxy(
      {},
      {
        get: (_, method: string) => (request: Sent) => {
          this.sent.push([method, request]);
          return Promise.resolve(
            answers[method] ?? { outcome: { case: 'resultJson', value: '{}' }, write, server: undefined },
          );
        },
      },
    );
    const hub = { requests: service, servers: service, configs: service } as unknown as Hub;
    const failed = (error: unknown): void => assert.fail(String(error));
    const watcher = new WatcherWindow({}, [], failed);
    this.api = createApi({
      hub: () => hub,
      ready: () => Promise.resolve(),
      mirrored: () => Promise.resolve(),
      watcher,
      mirror: new Mirror(watcher, failed),
      subscriptions: new Subscriptions(() => hub),
      grants: this.grants,
    });
  }

  of(id = 'some.body'): McpHub {
    return this.api.connect({ id, packageJSON: {} });
  }
}

test('a call is made under the name of its extension, which must be one', async () => {
  const { api, sent } = new Scene();
  await api.connect({ id: 'some.body', packageJSON: {} }).callTool({ server: 's', tool: 't' });
  await api.connect({ id: 'any.body', packageJSON: {} }).callTool({ server: 's', tool: 't' });
  assert.deepEqual(
    sent.map(([method, { caller }]) => [method, caller]),
    [
      ['callTool', 'Some Body'],
      ['callTool', 'any.body'],
    ],
  );
  assert.throws(() => api.connect({ id: 'no.body', packageJSON: {} }), /There is no extension "no.body"/);
  assert.deepEqual(Object.keys(api), ['version', 'connect']);
});

test('preapproved counts after the user has agreed to it, once for each extension, until that is taken back', async () => {
  const scene = new Scene();
  const { sent, editor } = scene;
  const call = { server: 's', tool: 't', preapproved: true };
  const approved = (): unknown => sent.at(-1)?.[1]['preapproved'];
  const mine = scene.of();
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

test('the user is asked once for each extension before it writes, and nothing is written without a yes', async () => {
  const scene = new Scene();
  const { editor, sent } = scene;
  const entry = { name: 's', entry: { command: 'x' } };
  const no = { code: 'permission_denied', reason: 'NOT_GRANTED' };
  await assert.rejects(scene.of().addServer(entry), no);
  assert.match(editor.messages[0] ?? '', /Some Body \(some\.body\) to add, change and remove/);
  editor.answer = 'Allow';
  await Promise.all([scene.of().addServer(entry), scene.of().removeServer('t')]);
  assert.equal(editor.messages.length, 2, 'asked once for both');
  assert.deepEqual(
    sent.map(([method, { writtenBy }]) => [method, writtenBy]),
    [
      ['addServer', 'some.body (Some Body)'],
      ['removeServer', undefined],
    ],
  );
  editor.answer = undefined;
  await scene.of().updateServer('s', { enabled: false });
  await assert.rejects(scene.of('any.body').removeServer('s'), no);
  assert.equal(sent.length, 3);
  await manageGrants(scene.grants);
  await assert.rejects(scene.of().removeServer('s'), no);
  assert.equal(sent.length, 3, 'it was taken back');
});

test('to have tools called without a question the user is asked apart from that', async () => {
  const scene = new Scene();
  const { editor, sent } = scene;
  const allowing = /which MCP tools run without asking/;
  editor.choose = (message, items) => (allowing.test(message) ? undefined : items[1]);
  const change = { alwaysAllow: { t: true } };
  await assert.rejects(scene.of().updateServer('s', change), { code: 'permission_denied' });
  assert.equal(sent.length, 0);
  editor.choose = (_, items) => items[1];
  await scene.of().updateServer('s', change);
  assert.equal(sent.length, 1);
  assert.deepEqual(scene.grants.granted('alwaysAllow'), ['some.body']);
  assert.deepEqual(scene.grants.granted('preapproved'), [], 'that is another matter');
});

test('a tool that is for views alone says so, and an agent keeps it from its model', async () => {
  const schema = { definitionJson: '{"inputSchema":{"type":"object"}}', policy: ApprovalPolicy.ASK };
  const tools = [
    create(ToolSchema, { ...schema, server: 's', name: 'all' }),
    create(ToolSchema, { ...schema, server: 's', name: 'view', hiddenFromModels: true, uiResourceUri: 'ui://s/v' }),
    create(ToolSchema, { ...schema, server: 's', name: 'model', hiddenFromApps: true }),
    create(ToolSchema, { ...schema, server: 's', name: 'denied', policy: ApprovalPolicy.DENY }),
  ];
  const mcphub = new Scene({ listTools: { tools } }).of();
  assert.deepEqual(
    (await mcphub.tools()).map((t) => [t.name, t.hiddenFromModels, t.hiddenFromApps, t.uiResourceUri]),
    [
      ['all', false, false, ''],
      ['view', true, false, 'ui://s/v'],
      ['model', false, true, ''],
      ['denied', false, false, ''],
    ],
  );
  const agent = new Servers(mcphub, () => undefined);
  assert.deepEqual(
    (await agent.describe()).map(({ name }) => name),
    ['s/all', 's/model'],
  );
  agent.dispose();
});
