// Which request of the contract each method of the API makes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { CancelOutcome, ServerSchema } from '../dist/contract.js';
import type { McpHub } from '../dist/index.js';
import { ApiScene } from './apiscene.js';

/** The answers of a hub that answers everything. */
const result = { outcome: { case: 'resultJson', value: '{}' }, isError: false };
const server = { server: create(ServerSchema, { name: 'answered' }) };
const written = { write: { problems: [], leftOut: [], undoId: 'u' }, server: undefined };
const answers = {
  callTool: result,
  readResource: result,
  getMcpPrompt: result,
  complete: result,
  cancelRequest: { outcome: CancelOutcome.CANCELLING },
  cancelRequests: { requestIds: ['r'] },
  listTools: { tools: [] },
  listModelTools: { tools: [], aside: [], tokens: 0n },
  searchTools: { tools: [] },
  readResult: { text: 'x', offset: 0n, nextOffset: 7n, size: 9n },
  listResources: { resources: [] },
  listResourceTemplates: { resourceTemplates: [] },
  listMcpPrompts: { prompts: [] },
  listConfigFiles: { files: [] },
  getServerEntry: { entry: { line: 2, dialect: 'roo' }, file: { path: '/f' } },
  startServer: server,
  stopServer: server,
  restartServer: server,
  setServerEnabled: server,
  signIn: server,
  signOut: server,
  addServer: written,
  updateServer: written,
  removeServer: written,
  undoConfigWrite: written,
};

const common = { requestId: 'r', label: 'l' };
const asked = { requestId: 'r', taskLabel: 'l' };
const ofUser = { name: 's', source: 'user' } as const;

const rows: Record<
  string,
  [call: (mcphub: McpHub) => Promise<unknown>, order: string, request: unknown, shows?: unknown]
> = {
  callTool: [
    (m) => m.callTool({ ...common, server: ofUser, tool: 't', arguments: { a: 1 } }),
    'requests.callTool',
    { ...asked, server: 's@user', tool: 't', argumentsJson: '{"a":1}', preapproved: false, caller: 'Some Body' },
  ],
  cancel: [(m) => m.cancel('r', 'why'), 'requests.cancelRequest', { requestId: 'r', reason: 'why' }, 'cancelling'],
  cancelRequests: [
    (m) => m.cancelRequests({ server: ofUser }, 'why'),
    'requests.cancelRequests',
    { scope: { case: 'server', value: 's@user' }, reason: 'why' },
    ['r'],
  ],
  tools: [(m) => m.tools(ofUser, { cached: true }), 'servers.listTools', { server: 's@user', allowCached: true }, []],
  modelTools: [
    (m) => m.modelTools({ profile: 'p' }),
    'models.listModelTools',
    { profile: 'p' },
    { tools: [], aside: [], tokens: 0 },
  ],
  searchTools: [
    (m) => m.searchTools('q', { limit: 2 }),
    'models.searchTools',
    { query: 'q', limit: 2, profile: '' },
    [],
  ],
  readResult: [
    (m) => m.readResult('id', { offset: 3, original: true }),
    'models.readResult',
    { resultId: 'id', offset: 3n, limit: 0, original: true },
    { text: 'x', offset: 0, nextOffset: 7, size: 9 },
  ],
  resources: [(m) => m.resources(ofUser), 'servers.listResources', { server: 's@user' }, []],
  resourceTemplates: [(m) => m.resourceTemplates(ofUser), 'servers.listResourceTemplates', { server: 's@user' }, []],
  prompts: [(m) => m.prompts(ofUser), 'servers.listMcpPrompts', { server: 's@user' }, []],
  readResource: [
    (m) => m.readResource({ ...common, server: ofUser, uri: 'x://y' }),
    'servers.readResource',
    { ...asked, server: 's@user', uri: 'x://y' },
  ],
  getPrompt: [
    (m) => m.getPrompt({ ...common, server: ofUser, name: 'p', arguments: { a: 'b' } }),
    'servers.getMcpPrompt',
    { ...asked, server: 's@user', name: 'p', arguments: { a: 'b' } },
  ],
  complete: [
    (m) => m.complete({ server: ofUser, of: { uriTemplate: 'x://{a}' }, argument: 'a', value: 'v', known: { b: 'c' } }),
    'servers.complete',
    {
      server: 's@user',
      reference: { case: 'uriTemplate', value: 'x://{a}' },
      argument: 'a',
      value: 'v',
      context: { b: 'c' },
    },
    [],
  ],
  startServer: [(m) => m.startServer(ofUser), 'servers.startServer', { server: 's@user' }, 'answered'],
  stopServer: [
    (m) => m.stopServer(ofUser, 'why'),
    'servers.stopServer',
    { server: 's@user', reason: 'why' },
    'answered',
  ],
  restartServer: [
    (m) => m.restartServer(ofUser, 'why'),
    'servers.restartServer',
    { server: 's@user', reason: 'why' },
    'answered',
  ],
  setServerEnabled: [
    (m) => m.setServerEnabled(ofUser, false),
    'servers.setServerEnabled',
    { server: 's@user', enabled: false },
    'answered',
  ],
  signIn: [(m) => m.signIn(ofUser), 'servers.signIn', { server: 's@user' }, 'answered'],
  signOut: [(m) => m.signOut(ofUser), 'servers.signOut', { server: 's@user' }, 'answered'],
  setLogLevel: [
    (m) => m.setLogLevel(ofUser, 'warning'),
    'servers.setLogLevel',
    { server: 's@user', level: 'warning' },
    undefined,
  ],
  watchResource: [
    (m) => m.watchResource(ofUser, 'x://y'),
    'servers.subscribeResource',
    { server: 's@user', uri: 'x://y' },
  ],
  configFiles: [(m) => m.configFiles(), 'configs.listConfigFiles', {}, []],
  serverSettings: [
    (m) => m.serverSettings(ofUser),
    'configs.getServerEntry',
    { server: 's@user', configFile: '' },
    { configFile: '/f', configLine: 2, dialect: 'roo', enabled: undefined, approvals: {}, timeouts: {} },
  ],
};

/** These have tests of their own (writes.test.ts); ready asks for nothing. */
const others = ['addServer', 'updateServer', 'removeServer', 'undo', 'ready'];

for (const [method, [call, order, request, ...shows]] of Object.entries(rows)) {
  test(`${method} gives one order, ${order}, with what it was given`, async () => {
    const scene = new ApiScene();
    Object.assign(scene.answers, answers);
    const answer = await call(scene.api());
    assert.deepEqual(scene.sent, [[order, request]]);
    for (const expected of shows) {
      assert.deepEqual(expected === 'answered' ? (answer as { name: string }).name : answer, expected);
    }
  });
}

test('no method of the API is without such a test', () => {
  const api = new ApiScene().api();
  const methods = Object.entries(Object.getOwnPropertyDescriptors(api))
    .filter(([name, { value }]) => typeof value === 'function' && !name.startsWith('onDid'))
    .map(([name]) => name);
  assert.deepEqual(methods.sort(), [...Object.keys(rows), ...others].sort());
});
