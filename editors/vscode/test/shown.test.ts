// Which fields of the contract other extensions get.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { create, ScalarType, type DescField, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import {
  ApprovalPolicy,
  McpPromptArgumentSchema,
  McpPromptSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ServerSchema,
  ToolSchema,
} from '@mcphub/host';
import type { Hub } from '@mcphub/host';
import { Servers } from '../../examples/agent/servers.js';
import { createApi } from '../src/api/api.js';
import type { ConnectionWorld } from '../src/api/connection.js';
import * as shown from '../src/api/shown.js';
import { newEditor } from './fakevscode.js';

/**
 * Values that differ from those of an empty message. For an enum there are several, because two of its values may be
 * shown in the same way.
 */
function values(field: DescField): unknown[] {
  const one = (): unknown[] => {
    if (field.enum !== undefined) {
      return field.enum.values.map(({ number }) => number);
    }
    if (field.message !== undefined) {
      return [create(field.message)];
    }
    switch (field.scalar) {
      case ScalarType.STRING:
        return ['user']; // also the name of a scope
      case ScalarType.BOOL:
        return [true];
      case ScalarType.INT64:
      case ScalarType.UINT64:
        return [7n];
      default:
        return [7];
    }
  };
  return field.fieldKind === 'list' ? one().map((value) => [value]) : one();
}

function hidden<S extends DescMessage>(schema: S, show: (message: MessageShape<S>) => unknown): string[] {
  const nothing = show(create(schema));
  const shows = (field: DescField, value: unknown): boolean =>
    !isDeepStrictEqual(show(Object.assign(create(schema), { [field.localName]: value })), nothing);
  return schema.fields
    .filter((field) => !values(field).some((value) => shows(field, value)))
    .map(({ localName }) => localName);
}

test('every field of what a server lists is shown, but for a few with a reason', () => {
  assert.deepEqual(hidden(ServerSchema, shown.server), [
    'era', // protocolRevision says more
    'place', // listServers() is in this order
  ]);
  assert.deepEqual(hidden(ToolSchema, shown.tool), [
    'definitionHash', // approvals are bound to it, which are the user's
  ]);
  assert.deepEqual(hidden(ResourceSchema, shown.resource), [
    'size', // definitionJson says it
  ]);
  assert.deepEqual(hidden(ResourceTemplateSchema, shown.template), [
    'variables', // uriTemplate says them
    'problem', // the hub fills none in for extensions
  ]);
  assert.deepEqual(hidden(McpPromptSchema, shown.promptTemplate), []);
  const argument = (one: MessageShape<typeof McpPromptArgumentSchema>): unknown =>
    shown.promptTemplate(create(McpPromptSchema, { arguments: [one] }));
  assert.deepEqual(hidden(McpPromptArgumentSchema, argument), []);
});

test('counters of a connection are numbers', () => {
  const { counters } = shown.server(
    create(ServerSchema, { counters: { lateResponses: 3n, droppedNotifications: 5n } }),
  );
  assert.deepEqual([counters?.lateResponses, counters?.droppedNotifications, counters?.badLines], [3, 5, 0]);
  const field = ServerSchema.field['counters'].message;
  assert.ok(field !== undefined && counters !== undefined);
  assert.deepEqual(
    Object.keys(counters),
    field.fields.map(({ localName }) => localName),
  );
});

test('a tool that is for views alone says so, and an agent keeps it from its model', async () => {
  newEditor().extensions.set('some.body', {});
  const schema = { definitionJson: '{"inputSchema":{"type":"object"}}', policy: ApprovalPolicy.ASK };
  const tools = [
    create(ToolSchema, { ...schema, server: 's', name: 'all' }),
    create(ToolSchema, { ...schema, server: 's', name: 'view', hiddenFromModels: true, uiResourceUri: 'ui://s/v' }),
    create(ToolSchema, { ...schema, server: 's', name: 'model', hiddenFromApps: true }),
    create(ToolSchema, { ...schema, server: 's', name: 'denied', policy: ApprovalPolicy.DENY }),
  ];
  const mcphub = createApi({
    hub: () => ({ servers: { listTools: () => Promise.resolve({ tools }) } }) as unknown as Hub,
    ready: () => Promise.resolve(),
    watcher: { listen: () => () => undefined },
  } as unknown as ConnectionWorld).connect({ id: 'some.body', packageJSON: {} });
  assert.deepEqual(
    (await mcphub.listTools()).map((t) => [t.name, t.hiddenFromModels, t.hiddenFromApps, t.uiResourceUri]),
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
