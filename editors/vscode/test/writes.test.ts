// What extensions write into config files: what the user is asked, and what the hub is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApprovalPolicy, ServerTransport } from '@mcphub/host';
import type { Hub } from '@mcphub/host';
import type { McpServerSettings, McpSource } from '../api.js';
import { Grants, manageGrants, type Extension } from '../src/api/grants.js';
import { writes } from '../src/api/writes.js';
import { newEditor, type Editor } from './fakevscode.js';

type Sent = Record<string, unknown>;

const somebody: Extension = { id: 'some.body', name: 'Some Body' };
const write = {
  configFile: '/f',
  configLine: 3,
  needsConsent: true,
  problems: [],
  leftOut: ['icon'],
  undoId: 'u1',
};

class Scene {
  readonly editor: Editor = newEditor();
  readonly sent: (readonly [string, Sent])[] = [];
  readonly values = new Map<string, unknown>();
  readonly grants = new Grants({
    get: (key: string, otherwise: unknown) => this.values.get(key) ?? otherwise,
    update: (key: string, value: unknown) => Promise.resolve(void this.values.set(key, value)),
  } as never);
  files: { path: string; scope: McpSource }[] = [];

  of(extension: Extension | undefined = somebody) {
    const taken =
      (name: string) =>
      (request: Sent): Promise<unknown> => {
        this.sent.push([name, request]);
        return Promise.resolve({ write, server: undefined });
      };
    const names = ['addServer', 'updateServer', 'removeServer', 'undoConfigWrite'];
    const hub = { configs: Object.fromEntries(names.map((name) => [name, taken(name)])) } as unknown as Hub;
    return writes({ grants: this.grants, configFiles: () => this.files }, () => Promise.resolve(hub), extension);
  }
}

test('the user is asked once for each extension before it writes, and nothing is written without a yes', async () => {
  const scene = new Scene();
  const { editor, sent } = scene;
  const entry = { name: 's', entry: { command: 'x' } };
  const no = { code: 'permission_denied', reason: 'NOT_GRANTED' };
  const nameless = writes({ grants: scene.grants, configFiles: () => [] }, () => assert.fail('asked'), undefined);
  await assert.rejects(nameless.addServer(entry), no);
  assert.equal(editor.messages.length, 0, 'nobody knows who asks');
  await assert.rejects(scene.of().addServer(entry), no);
  assert.match(editor.messages[0] ?? '', /Some Body \(some\.body\) to add, change and remove/);
  editor.answer = 'Allow';
  await Promise.all([scene.of().addServer(entry), scene.of().removeServer('t')]);
  assert.equal(editor.messages.length, 2, 'asked once for both');
  assert.deepEqual(
    sent.map(([name]) => name),
    ['addServer', 'removeServer'],
  );
  editor.answer = undefined;
  await scene.of().updateServer('s', { enabled: false });
  const other = scene.of({ id: 'any.body', name: 'Any Body' });
  await assert.rejects(other.removeServer('s'), no);
  assert.equal(sent.length, 3);
  await manageGrants(scene.grants);
  await assert.rejects(scene.of().removeServer('s'), no);
  assert.equal(sent.length, 3, 'it was taken back');
});

test('to have tools called without a question takes a permission of its own', async () => {
  const scene = new Scene();
  const { editor, sent } = scene;
  const allowing = /which MCP tools run without asking/;
  editor.choose = (message, items) => (allowing.test(message) ? undefined : items[1]);
  const mine = scene.of();
  await mine.updateServer('s', { approvals: { u: 'deny', v: 'ask' } });
  await mine.addServer({ name: 's', entry: '{"s": {"command": "x", "args": ["alwaysAllow"]}}' });
  assert.equal(sent.length, 2);
  const refused: (() => Promise<unknown>)[] = [
    () => mine.updateServer('s', { alwaysAllow: { t: true } }),
    () => mine.updateServer('s', { approvals: { t: 'allow' } }),
    () => mine.updateServer('s', { alwaysAllow: { t: false } }), // a pattern may allow it then
    () => mine.updateServer('s', { approvals: { t: 'default' } }),
    () => mine.updateServer('s', { patch: { alwaysAllow: ['t'] } }),
    () => mine.updateServer('s', { patch: { tools: { t: { approval_mode: 'approve' } } } }),
    () => mine.addServer({ name: 's', entry: { command: 'x' }, alwaysAllow: { '*': true } }),
    () => mine.addServer({ name: 's', entry: '{"command": "x", "\\u0061utoApprove": ["t"]}' }),
    () => mine.addServer({ name: 's', entry: '{"command": "x", "trust": true}' }),
    () => mine.addServer({ name: 's', entry: '{"command": "x", "excludeTools": ["t"]}' }),
    () => mine.addServer({ name: 's', entry: '{"command": "x" /* who knows */}' }),
  ];
  for (const one of refused) {
    await assert.rejects(one(), { code: 'permission_denied' });
  }
  const wrong = [{ alwaysAllow: { '*': 1 } }, { approvals: { t: ['allow'] } }, { approvals: { t: 'toString' } }];
  for (const one of wrong) {
    await assert.rejects(mine.updateServer('s', one as unknown as McpServerSettings), { code: 'invalid_argument' });
  }
  assert.equal(sent.length, 2);
  editor.choose = (_, items) => items[1];
  for (const one of refused) {
    await one();
  }
  assert.equal(sent.length, 2 + refused.length);
  assert.deepEqual(scene.grants.granted('alwaysAllow'), ['some.body']);
  assert.deepEqual(scene.grants.granted('preapproved'), [], 'that is another matter');
});

test('the hub is told for whom what is written where, and the extension what became of it', async () => {
  const scene = new Scene();
  scene.editor.answer = 'Allow';
  scene.editor.choose = (_, items) => items[1];
  scene.files = [
    { path: '/user/a.json', scope: 'user' },
    { path: '/user/b.json', scope: 'user' },
    { path: '/repo/mcp.json', scope: 'workspace' },
  ];
  const mine = scene.of();
  const writtenBy = 'some.body (Some Body)';
  const added = await mine.addServer({
    name: 's',
    entry: { url: 'https://example.com/mcp', transport: 'sse', headers: { A: 'b' } },
    source: 'user',
    enabled: true,
  });
  assert.deepEqual(added, { ...write, server: undefined });
  assert.deepEqual(scene.sent.at(-1)?.[1], {
    server: 's',
    configFile: '/user/b.json',
    writtenBy,
    entry: {
      case: 'form',
      value: {
        command: '',
        args: [],
        environment: {},
        unsetEnvironment: [],
        directory: '',
        url: 'https://example.com/mcp',
        transport: ServerTransport.SSE,
        headers: { A: 'b' },
      },
    },
    settings: { enabled: true, approvals: {}, timeouts: { toDefault: [] } },
  });
  await mine.updateServer(
    { name: 's', source: 'workspace' },
    {
      form: { command: 'x', args: ['1'], env: { A: 'b', C: null } },
      patch: { note: null },
      approvals: { 't': 'default', 'd*': 'deny' },
      timeouts: { totalMs: 1500, idleMs: null },
    },
  );
  assert.deepEqual(scene.sent.at(-1)?.[1], {
    server: 's@workspace',
    configFile: '',
    writtenBy,
    patchJson: '{"note":null}',
    form: {
      command: 'x',
      args: ['1'],
      environment: { A: 'b' },
      unsetEnvironment: ['C'],
      directory: '',
      url: '',
      transport: ServerTransport.UNSPECIFIED,
      headers: {},
    },
    settings: {
      approvals: { 't': ApprovalPolicy.UNSPECIFIED, 'd*': ApprovalPolicy.DENY },
      timeouts: { total: { seconds: 1n, nanos: 500_000_000 }, toDefault: ['idle'] },
    },
  });
  await mine.removeServer({ name: 's', source: 'host' }, { configFile: '/x' });
  assert.deepEqual(scene.sent.at(-1), ['removeServer', { server: 's@host', configFile: '/x' }]);
  await mine.undo(added);
  assert.deepEqual(scene.sent.at(-1), ['undoConfigWrite', { writtenBy, undoId: 'u1' }]);
  await assert.rejects(mine.undo({ ...added, undoId: '' }), { reason: 'NOTHING_TO_UNDO' });
  await assert.rejects(mine.addServer({ name: 's', entry: { command: 'x' }, source: 'host' }), {
    reason: 'CONFIG_FILE_NEEDED',
  });
  await assert.rejects(mine.updateServer('s', { timeouts: { totalMs: -1 } }), RangeError);
});
