// Which fields of the contract the API has.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { create, ScalarType, type DescField, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import {
  McpPromptArgumentSchema,
  McpPromptSchema,
  McpRequestCancelledSchema,
  McpRequestFinishedSchema,
  ModelToolSchema,
  RequestSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ServerSchema,
  ToolSchema,
} from '../dist/contract.js';
import * as shown from '../dist/api/shown.js';
import { endedRequest, request } from '../dist/api/shownrequests.js';

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
    'place', // servers is in this order
  ]);
  assert.deepEqual(hidden(ToolSchema, shown.tool), [
    'definitionHash', // approvals are bound to it, which are the user's
  ]);
  assert.deepEqual(hidden(ResourceSchema, shown.resource), [
    'size', // definitionJson says it
  ]);
  assert.deepEqual(hidden(ResourceTemplateSchema, shown.template), [
    'variables', // uriTemplate says them
    'problem', // the API fills none in
  ]);
  assert.deepEqual(hidden(McpPromptSchema, shown.promptTemplate), []);
  const modelTool = (one: MessageShape<typeof ModelToolSchema>): unknown =>
    shown.modelTool({
      ...one,
      inputSchemaJson: one.inputSchemaJson === '' ? '0' : JSON.stringify(one.inputSchemaJson),
    });
  assert.deepEqual(hidden(ModelToolSchema, modelTool), [
    'hints', // an empty message says nothing: they are all optional
  ]);
  assert.deepEqual(hidden(RequestSchema, request), [
    'startTime', // the time of an empty message is that of a request without one
    'wireIdJson', // it changes from round to round, and cancels nothing here
    'openPromptIds', // questions says them
    'task', // the state says that the server works on its own
  ]);
  assert.deepEqual(
    hidden(McpRequestCancelledSchema, (value) => endedRequest({ end: { case: 'cancelled', value } })),
    [
      'wireIdJson', // as above
      'serverNotified', // delivery says it
      'timings', // empty ones say 0, as none do
      'era', // that of the server's connection
      'task',
    ],
  );
  assert.deepEqual(
    hidden(McpRequestFinishedSchema, (value) => endedRequest({ end: { case: 'finished', value } })),
    [
      'timings',
      'task', // the state says that the server works on its own
      'resultJson', // the caller has it
      'resultSizeBytes',
    ],
  );
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
