// The index of a JSON text.

import { test } from 'node:test';
import assert from 'node:assert/strict';
import { indexJson } from '../src/words/jsonindex.js';

/**
 * Returns a value of an index.
 *
 * @param {import('../src/words/jsonindex.js').JsonIndex} index
 * @param {number} [value]
 * @returns {unknown}
 */
function valueOf(index, value = 0) {
  const kind = index.kind(value);
  if (kind === 'array') return [...index.children(value)].map((child) => valueOf(index, child));
  if (kind === 'object')
    return Object.fromEntries([...index.children(value)].map((c) => [index.name(c), valueOf(index, c)]));
  return kind === 'string' ? index.string(value) : JSON.parse(index.source(value));
}

test('an index has every value of a text, as JSON.parse has it', async () => {
  for (const text of [
    '{}',
    ' [ ] ',
    '"\\u00e9\\n\\"x\\\\"',
    '-1.5e3',
    'null',
    '{"a":[1,{"b":[]},"c"],"":{"d":true},"e\\"f":null}',
    '[[[]],[[1,2],3],{"x":{}}]',
    '{"a":"\\\\","b":"]}"}',
  ])
    assert.deepEqual(valueOf(await indexJson(text)), JSON.parse(text), text);
});

test('numbers keep their spelling, and of members with one name the last one counts', async () => {
  const index = await indexJson('{"n":12345678901234567890.0,"m":1,"m":2}');
  assert.equal(index.source(index.member(0, 'n') ?? -1), '12345678901234567890.0');
  assert.equal(index.source(index.member(0, 'm') ?? -1), '2');
  assert.equal(index.member(0, 'mm'), undefined);
});

test('what is no JSON is refused, and it is said where', async () => {
  for (const text of [
    '',
    '{',
    '[1,]',
    '{"a"}',
    '{"a":1,}',
    '[1 2]',
    '"x',
    '01',
    '1x',
    'nul',
    '{a:1}',
    '[1]]',
    '{"a":1]',
    '"\\"',
  ])
    await assert.rejects(indexJson(text), SyntaxError, text);
});

test('depth 100,000 and a million values are read, and more than that is refused', async () => {
  const deep = await indexJson('['.repeat(100_000) + ']'.repeat(100_000));
  assert.equal(deep.length, 100_000);
  assert.equal(deep.depths.at(99_999), 99_999);
  assert.equal((await indexJson(`[${'1,'.repeat(1_000_000)}1]`)).counts.at(0), 1_000_001);
  await assert.rejects(indexJson(`[${'1,'.repeat(1_100_000)}1]`), RangeError);
});

test('a long string is cut at a whole character of its source', async () => {
  const index = await indexJson(`["${'\\u00e9'.repeat(100)}","${'x'.repeat(100)}","ab\\n"]`);
  assert.equal(index.string(1, 5), 'ééééé');
  assert.equal(index.string(2, 5), 'xxxxx');
  assert.equal(index.string(3), 'ab\n');
});

test('other work gets its turn while a long text is read', async (t) => {
  let now = 0;
  t.mock.method(Date, 'now', () => now++); // whenever the clock is read, 1 ms has passed
  let turns = 0;
  let other = setImmediate(function work() {
    turns++;
    other = setImmediate(work);
  });
  await indexJson(`[${'{"a":[1,2,3]},'.repeat(200_000)}1]`);
  clearImmediate(other);
  assert.ok(now > 1000, `the clock is read ${now} times`);
  assert.ok(turns >= now / 10, `${turns} turns in ${now} ms`);
});
