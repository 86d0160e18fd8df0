// What is written into config files: which permissions it needs, and what the hub is told.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApprovalPolicy, HubError, ServerTransport } from '../dist/contract.js';
import type { WritePermission } from '../dist/contract.js';
import type { McpServerSettings } from '../dist/index.js';
import { ApiScene, refusal } from './apiscene.js';

const write = {
  configFile: '/f',
  configLine: 3,
  needsConsent: true,
  problems: [],
  leftOut: ['icon'],
  undoId: 'u1',
};

class WritesScene extends ApiScene {
  allowed: readonly WritePermission[] = ['write', 'alwaysAllow'];

  constructor() {
    super();
    for (const method of ['addServer', 'updateServer', 'removeServer', 'undoConfigWrite']) {
      this.answers[method] = { write, server: undefined };
    }
  }

  writer() {
    return this.api({
      writtenBy: (permissions) =>
        permissions.every((one) => this.allowed.includes(one))
          ? Promise.resolve('some.body (Some Body)')
          : Promise.reject(new HubError('permission_denied', 'NOT_GRANTED', 'no')),
    });
  }
}

test('to have tools called without a question takes a permission of its own', async () => {
  const scene = new WritesScene();
  const { sent } = scene;
  const mine = scene.writer();
  scene.allowed = ['write'];
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
    assert.equal((await refusal(one())).code, 'permission_denied');
  }
  const wrong = [{ alwaysAllow: { '*': 1 } }, { approvals: { t: ['allow'] } }, { approvals: { t: 'toString' } }];
  for (const one of wrong) {
    assert.equal((await refusal(mine.updateServer('s', one as unknown as McpServerSettings))).code, 'invalid_argument');
  }
  assert.equal(sent.length, 2);
  scene.allowed = [];
  assert.equal((await refusal(mine.removeServer('s'))).reason, 'NOT_GRANTED');
  scene.allowed = ['write', 'alwaysAllow'];
  for (const one of refused) {
    await one();
  }
  assert.equal(sent.length, 2 + refused.length);
});

test('the hub is told for whom what is written where, and the caller what became of it', async () => {
  const scene = new WritesScene();
  scene.answers['listConfigFiles'] = {
    files: [
      { path: '/user/a.json', scope: 'user', notWritable: '' },
      { path: '/user/b.json', scope: 'user', notWritable: '' },
      { path: '/user/c.json', scope: 'user', notWritable: 'it is read-only' },
      { path: '/repo/mcp.json', scope: 'workspace', notWritable: '' },
    ].map((file) => ({ ...file, servers: [] })),
  };
  const mine = scene.writer();
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
  assert.deepEqual(scene.sent.at(-1), ['configs.removeServer', { server: 's@host', configFile: '/x' }]);
  await mine.undo(added);
  assert.deepEqual(scene.sent.at(-1), ['configs.undoConfigWrite', { writtenBy, undoId: 'u1' }]);
  assert.equal((await refusal(mine.undo({ ...added, undoId: '' }))).reason, 'NOTHING_TO_UNDO');
  const none = await refusal(mine.addServer({ name: 's', entry: { command: 'x' }, source: 'host' }));
  assert.equal(none.reason, 'CONFIG_FILE_NEEDED');
});

test('what an entry says can be read back, in milliseconds and words', async () => {
  const scene = new ApiScene();
  scene.answers['getServerEntry'] = {
    file: { path: '/f' },
    entry: {
      line: 2,
      dialect: 'roo',
      settings: {
        enabled: false,
        approvals: { 'a': ApprovalPolicy.ALLOW, 'd*': ApprovalPolicy.DENY },
        timeouts: { total: { seconds: 60n, nanos: 500_000_000 }, idle: { seconds: 0n, nanos: 0 } },
      },
    },
  };
  const { enabled, approvals, timeouts } = await scene.api().serverSettings('s', { configFile: '/f' });
  assert.deepEqual(
    { enabled, approvals, timeouts },
    { enabled: false, approvals: { 'a': 'allow', 'd*': 'deny' }, timeouts: { totalMs: 60_500, idleMs: 0 } },
  );
});
