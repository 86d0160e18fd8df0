import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HubError } from '../dist/failure.js';
import { Deframer, frame } from '../dist/framing.js';
import { LineReader, LogTail, parseLogLine } from '../dist/logs.js';
import { fromLongBinary } from '../dist/longtext.js';
import { fromBinary, toBinary, create } from '@bufbuild/protobuf';
import { CallToolResponseSchema } from '../dist/gen/mcphub/v1/hub_pb.js';

test('messages come out whole, however the bytes are cut', () => {
  const messages = [0, 1, 5, 300, 70_000].map((size, i) => Buffer.alloc(size, i + 65));
  const bytes = Buffer.concat(messages.map((m) => frame(m)));
  for (const size of [1, 2, 3, 7, 64, 4096, bytes.byteLength]) {
    const got: Buffer[] = [];
    const deframer = new Deframer((m) => got.push(Buffer.from(m)));
    for (let at = 0; at < bytes.byteLength; at += size) {
      deframer.push(bytes.subarray(at, at + size));
    }
    assert.equal(deframer.midway, false);
    assert.ok(got.length === messages.length && got.every((m, i) => m.equals(messages[i] ?? Buffer.alloc(0))), `cut at ${size}`);
  }
});

test('a compressed message and one beyond all bounds are refused before they are read', () => {
  for (const [prefix, reason] of [[[1, 0, 0, 0, 1], 'PROTOCOL_ERROR'], [[0, 0xff, 0xff, 0xff, 0xff], 'RESULT_TOO_LARGE']] as const) {
    assert.throws(() => new Deframer(() => {}).push(Buffer.from(prefix)), (error) => error instanceof HubError && error.reason === reason);
  }
});

test('a long text is decoded as protobuf-es does it, also where a slice ends within a character', async () => {
  for (const text of ['a'.repeat(3 << 20), `x${'é'.repeat(2 << 20)}`, '\ufeff€😀'.repeat(1 << 18)]) {
    const bytes = toBinary(CallToolResponseSchema, create(CallToolResponseSchema, { requestId: 'r', outcome: { case: 'resultJson', value: text }, rounds: 3, outputViolations: ['v', text] }));
    assert.deepEqual(await fromLongBinary(CallToolResponseSchema, bytes), fromBinary(CallToolResponseSchema, bytes));
  }
});

test('log lines in the shape of hclog are read, everything else is passed on as it is', () => {
  const log = parseLogLine('{"@level":"warn","@message":"slow","@timestamp":"2026-01-02T03:04:05.000006Z","server":"files","@module":"go-plugin"}');
  assert.deepEqual([log.level, log.message, log.time.toISOString(), log.fields], ['warn', 'slow', '2026-01-02T03:04:05.000Z', { server: 'files', '@module': 'go-plugin' }]);
  for (const junk of ['panic: no', '{"a":1}', '{"@level":7,"@message":"x"}', '[1]', '{']) {
    assert.deepEqual([parseLogLine(junk).level, parseLogLine(junk).message], ['info', junk]);
  }
});

test('lines are cut at their ends, characters are not, and what is too long is bounded', () => {
  const got: string[] = [];
  const reader = new LineReader((line) => got.push(line));
  for (const byte of Buffer.from('né\r\n\ntwo\nlast')) {
    reader.push(Buffer.from([byte]));
  }
  reader.end();
  reader.push(Buffer.concat([Buffer.alloc(1 << 20, 'x'), Buffer.from('\nnext\n')]));
  assert.deepEqual(got.map((l) => (l.length > 10 ? l.length : l)), ['né', 'two', 'last', 256 * 1024, 'next']);
});

test('the tail holds warnings and stray lines, bounded and without control characters', () => {
  const tail = new LogTail();
  for (const line of ['{"@level":"info","@message":"serving"}', ...Array.from({ length: 30 }, (_, i) => `line ${i} \u001b[31m`)]) {
    tail.note(line, parseLogLine(line));
  }
  const text = tail.toString();
  assert.ok(!text.includes('serving') && !text.includes('\u001b') && !text.includes('line 9 ') && text.includes('line 29'));
});
