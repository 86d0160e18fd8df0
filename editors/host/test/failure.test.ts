import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { failureOfReply, failureOfStatus, replyOfFailure } from '../dist/failure.js';
import { ErrorInfoSchema, StatusSchema } from '../dist/gen/google/rpc/status_pb.js';
import { HubErrorSchema } from '../dist/gen/mcphub/v1/request_pb.js';

function details(domain: string): Uint8Array {
  const info = create(ErrorInfoSchema, { reason: 'NO_APPROVER', domain, metadata: { server: 'files' } });
  return toBinary(
    StatusSchema,
    create(StatusSchema, {
      code: 9,
      details: [anyPack(HubErrorSchema, create(HubErrorSchema)), anyPack(ErrorInfoSchema, info)],
    }),
  );
}

test('a status with ErrorInfo becomes code, reason and metadata', () => {
  const error = failureOfStatus(9, 'no café', details('mcphub'));
  assert.deepEqual(
    [error.code, error.reason, error.metadata, error.message],
    ['failed_precondition', 'NO_APPROVER', { server: 'files' }, 'no café'],
  );
});

test("what is not the hub's own, or cannot be read, leaves code and message", () => {
  for (const bad of [details('elsewhere'), Buffer.from('AAAA'), Buffer.alloc(0), undefined]) {
    const error = failureOfStatus(5, '100% gone', bad);
    assert.deepEqual([error.code, error.reason, error.message], ['not_found', '', '100% gone']);
  }
  assert.equal(failureOfStatus(77, '', undefined).code, 'unknown');
  assert.equal(failureOfStatus(Number.NaN, '', undefined).code, 'unknown');
});

test('the error of a reply and back', () => {
  const error = failureOfReply(
    create(HubErrorSchema, { code: 'NOT_FOUND', reason: 'PROMPT_CLOSED', message: 'too late' }),
  );
  assert.deepEqual([error.code, error.reason, error.message], ['not_found', 'PROMPT_CLOSED', 'too late']);
  assert.deepEqual(replyOfFailure(error), { code: 'NOT_FOUND', reason: 'PROMPT_CLOSED', message: 'too late' });
  assert.equal(failureOfReply(create(HubErrorSchema, { code: 'OK' })).code, 'unknown');
});

test('trouble with certificates is told from a broken connection', () => {
  const table: [string, string][] = [
    ['No connection established. Last error: Error: self-signed certificate. Resolution note: ', 'TLS'],
    ["No connection established. Last error: Error: Hostname/IP does not match certificate's altnames", 'TLS'],
    [
      'Received RST_STREAM with code 2 triggered by internal client error: C0:error:0A000412:SSL routines::ssl/tls alert bad certificate',
      'TLS',
    ],
    ['No connection established. Last error: Error: connect ECONNREFUSED', 'CONNECTION_LOST'],
    ['Connection dropped', 'CONNECTION_LOST'],
  ];
  for (const [text, reason] of table) {
    const error = failureOfStatus(14, text, undefined);
    assert.deepEqual([error.code, error.reason], ['unavailable', reason], text);
  }
});
