// Which request of the contract each method of the API for other extensions makes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create } from '@bufbuild/protobuf';
import { CancelOutcome, ServerSchema } from '@mcphub/host';
import type { Hub } from '@mcphub/host';
import type { McpHub } from '../api.js';
import { createApi } from '../src/api/api.js';
import type { ConnectionWorld } from '../src/api/connection.js';
import { newEditor } from './fakevscode.js';

/** A fake hub that answers each request and records it. */
function recorded(): { hub: Hub; orders: [string, unknown][] } {
  const orders: [string, unknown][] = [];
  const answer = {
    server: create(ServerSchema, { name: 'answered' }),
    servers: [],
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [],
    requestIds: ['r'],
    outcome: CancelOutcome.CANCELLING,
  };
  const result = { outcome: { case: 'resultJson', value: '{}' }, isError: false };
  const results = new Set(['callTool', 'readResource', 'getMcpPrompt', 'complete']);
  const service = (name: string): unknown =>
    new Proxy(
      {},
      {
        get: (_, order: string) => (request: unknown) => {
          orders.push([`${name}.${order}`, request]);
          return Promise.resolve(results.has(order) ? result : answer);
        },
      },
    );
  return { hub: { requests: service('requests'), servers: service('servers') } as unknown as Hub, orders };
}

const common = { requestId: 'r', label: 'l' };
const asked = { requestId: 'r', taskLabel: 'l' };
const ofUser = { name: 's', source: 'user' } as const;

const rows: Readonly<
  Record<string, [call: (mcphub: McpHub) => Promise<unknown>, order: string, request: unknown, shows?: unknown]>
> = {
  callTool: [
    (m) => m.callTool({ ...common, server: ofUser, tool: 't', arguments: { a: 1 } }),
    'requests.callTool',
    { ...asked, server: 's@user', tool: 't', argumentsJson: '{"a":1}', preapproved: false, caller: 'Some Body' },
  ],
  cancel: [(m) => m.cancel('r', 'why'), 'requests.cancelRequest', { requestId: 'r', reason: 'why' }, 'cancelling'],
  cancelAll: [
    (m) => m.cancelAll({ server: ofUser }, 'why'),
    'requests.cancelRequests',
    { scope: { case: 'server', value: 's@user' }, reason: 'why' },
    ['r'],
  ],
  listServers: [(m) => m.listServers(), 'servers.listServers', {}, []],
  listTools: [(m) => m.listTools(ofUser), 'servers.listTools', { server: 's@user' }, []],
  listResources: [(m) => m.listResources(ofUser), 'servers.listResources', { server: 's@user' }, []],
  listResourceTemplates: [
    (m) => m.listResourceTemplates(ofUser),
    'servers.listResourceTemplates',
    { server: 's@user' },
    [],
  ],
  listPrompts: [(m) => m.listPrompts(ofUser), 'servers.listMcpPrompts', { server: 's@user' }, []],
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
};

/** Methods that first ask for a permission have tests of their own. */
const writes = ['addServer', 'updateServer', 'removeServer', 'undo'];

function connected(): { mcphub: McpHub; orders: [string, unknown][] } {
  newEditor().extensions.set('some.body', { displayName: 'Some Body' });
  const { hub, orders } = recorded();
  const world = { hub: () => hub, ready: () => Promise.resolve(), watcher: { listen: () => () => undefined } };
  return {
    mcphub: createApi(world as unknown as ConnectionWorld).connect({ id: 'some.body', packageJSON: {} }),
    orders,
  };
}

for (const [method, [call, order, request, ...shows]] of Object.entries(rows)) {
  test(`${method} gives one order, ${order}, with what it was given`, async () => {
    const { mcphub, orders } = connected();
    const answer = await call(mcphub);
    assert.deepEqual(orders, [[order, request]]);
    for (const expected of shows) {
      assert.deepEqual(expected === 'answered' ? (answer as { name: string }).name : answer, expected);
    }
  });
}

test('no method of the API is without such a test', () => {
  const methods = Object.keys(connected().mcphub).filter((name) => !name.startsWith('onDid'));
  assert.deepEqual(methods.sort(), [...Object.keys(rows), ...writes].sort());
});
