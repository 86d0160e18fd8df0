import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { failureOfConnection, failureOfReply, failureOfStatus, replyOfFailure } from '../dist/failure.js';
import { ErrorInfoSchema, StatusSchema } from '../dist/gen/google/rpc/status_pb.js';
import { HubErrorSchema } from '../dist/gen/mcphub/v1/request_pb.js';

function details(domain: string): string {
  const info = create(ErrorInfoSchema, { reason: 'NO_APPROVER', domain, metadata: { server: 'files' } });
  return Buffer.from(toBinary(StatusSchema, create(StatusSchema, { code: 9, details: [anyPack(HubErrorSchema, create(HubErrorSchema)), anyPack(ErrorInfoSchema, info)] })))
    .toString('base64').replace(/=+$/, '');
}

test('a status with ErrorInfo becomes code, reason and metadata', () => {
  const error = failureOfStatus('9', 'caf%C3%A9 100%25', details('mcphub'));
  assert.deepEqual([error?.code, error?.reason, error?.metadata, error?.message], ['failed_precondition', 'NO_APPROVER', { server: 'files' }, 'café 100%']);
});

test('what is not the hub\'s own, or cannot be read, leaves code and message', () => {
  for (const bad of [details('elsewhere'), 'AAAA', '!!', undefined]) {
    const error = failureOfStatus('5', '100% gone', bad);
    assert.deepEqual([error?.code, error?.reason, error?.message], ['not_found', '', '100% gone']);
  }
  assert.equal(failureOfStatus('0', undefined, undefined), undefined);
  assert.equal(failureOfStatus('77', '', undefined)?.code, 'unknown');
  assert.equal(failureOfStatus('nonsense', '', undefined)?.code, 'unknown');
});

test('the error of a reply and back', () => {
  const error = failureOfReply(create(HubErrorSchema, { code: 'NOT_FOUND', reason: 'PROMPT_CLOSED', message: 'too late' }));
  assert.deepEqual([error.code, error.reason, error.message], ['not_found', 'PROMPT_CLOSED', 'too late']);
  assert.deepEqual(replyOfFailure(error), { code: 'NOT_FOUND', reason: 'PROMPT_CLOSED', message: 'too late' });
  assert.equal(failureOfReply(create(HubErrorSchema, { code: 'OK' })).code, 'unknown');
});

test('trouble with certificates is told from a broken connection', () => {
  const trouble = (code: string, message = 'x'): string => failureOfConnection(Object.assign(new Error(message), { code })).reason;
  assert.equal(trouble('DEPTH_ZERO_SELF_SIGNED_CERT'), 'TLS');
  assert.equal(trouble('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA'), 'TLS');
  assert.equal(trouble('ERR_TLS_CERT_ALTNAME_INVALID'), 'TLS');
  assert.equal(trouble('ECONNRESET'), 'CONNECTION_LOST');
  assert.equal(trouble('ENOENT'), 'CONNECTION_LOST');
});
