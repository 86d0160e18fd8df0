import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { CallToolResponseSchema } from '../dist/gen/mcphub/v1/hub_pb.js';
import { fromLongBinary } from '../dist/longtext.js';

test('a long text is decoded as protobuf-es does it, also where a slice ends within a character', async () => {
  for (const text of ['a'.repeat(3 << 20), `x${'é'.repeat(2 << 20)}`, '\ufeff€😀'.repeat(1 << 18)]) {
    const bytes = toBinary(
      CallToolResponseSchema,
      create(CallToolResponseSchema, {
        requestId: 'r',
        outcome: { case: 'resultJson', value: text },
        rounds: 3,
        outputViolations: ['v', text],
      }),
    );
    assert.deepEqual(await fromLongBinary(CallToolResponseSchema, bytes), fromBinary(CallToolResponseSchema, bytes));
  }
});
