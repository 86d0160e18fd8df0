import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineReader, LogTail, parseLogLine } from '../dist/logs.js';

test('log lines in the shape of hclog are read, everything else is passed on as it is', () => {
  const log = parseLogLine(
    '{"@level":"warn","@message":"slow","@timestamp":"2026-01-02T03:04:05.000006Z","server":"files","@module":"go-plugin"}',
  );
  assert.deepEqual(
    [log.level, log.message, log.time.toISOString(), log.fields],
    ['warn', 'slow', '2026-01-02T03:04:05.000Z', { 'server': 'files', '@module': 'go-plugin' }],
  );
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
  assert.deepEqual(
    got.map((l) => (l.length > 10 ? l.length : l)),
    ['né', 'two', 'last', 256 * 1024, 'next'],
  );
});

test('the tail holds warnings and stray lines, bounded and without control characters', () => {
  const tail = new LogTail();
  for (const line of [
    '{"@level":"info","@message":"serving"}',
    ...Array.from({ length: 30 }, (_, i) => `line ${i} \u001b[31m`),
  ]) {
    tail.note(line, parseLogLine(line));
  }
  const text = tail.toString();
  assert.ok(
    !text.includes('serving') && !text.includes('\u001b') && !text.includes('line 9 ') && text.includes('line 29'),
  );
});
