import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectOf, parse } from '../src/words/jsontext.js';
import { testable, validate } from '../src/forms/validate.js';
import { busyMs } from './harness/cputime.js';

/** @param {unknown} schema @param {string} value JSON text */
const problems = (schema, value) => {
  const root = parse(JSON.stringify(schema));
  return validate(
    root,
    parse(typeof value === 'string' && /^[\s{[\d"tfn-]/.test(value) ? value : JSON.stringify(value)),
    objectOf(root),
  ).map(({ path, message }) => `${path}: ${message}`);
};

test('required fields that are missing are named by their path', () => {
  assert.deepEqual(
    problems(
      { type: 'object', properties: { 'a/b': { type: 'object', required: ['x'] } }, required: ['a/b', 'c'] },
      '{"a/b":{}}',
    ),
    ['/c: This is required.', '/a~1b/x: This is required.'],
  );
});

test('texts: length in characters, format, pattern', () => {
  assert.deepEqual(problems({ type: 'string', minLength: 3 }, '"👍👍"'), [': Enter at least 3 characters.']);
  assert.deepEqual(problems({ type: 'string', maxLength: 2 }, '"👍👍"'), []);
  assert.deepEqual(problems({ type: 'string', maxLength: 1 }, '"ab"'), [': Enter at most 1 character; these are 2.']);
  for (const [format, good, bad] of [
    ['email', 'a@b.c', 'a b@c'],
    ['uri', 'https://x', 'x y'],
    ['date', '2026-02-28', '2026-13-01'],
    ['date-time', '2026-02-28T10:00:00.5+01:00', '2026-02-28 10:00'],
    ['unknown', 'anything', undefined],
  ]) {
    assert.deepEqual(problems({ type: 'string', format }, JSON.stringify(good)), []);
    if (bad) assert.equal(problems({ type: 'string', format }, JSON.stringify(bad)).length, 1, format);
  }
  assert.equal(problems({ type: 'string', pattern: '^[a-z]+$' }, '"A"').length, 1);
  assert.deepEqual(
    problems({ type: 'string', pattern: '(?<bad' }, '"A"'),
    [],
    'what cannot be read here is for the hub',
  );
});

test('a pattern that could hold up the page is left to the hub', () => {
  const hostile = `${'a'.repeat(60)}!`;
  for (const pattern of ['^(a+)+$', '^(a|a)*$', '(?:a*){9}', '^(.*a){20}$', 'a*a*a*a*a*b', '(a)\\1*', '^[(]*(a+)+$'])
    assert.equal(testable(pattern, hostile), false, pattern);
  for (const pattern of ['^[a-z0-9]+$', '^\\d{4}-\\d{2}$', '^v?(\\d+)$', '^[\\w.+-]+@[\\w-]+\\.[a-z]+$', '^[)*+]+$'])
    assert.equal(testable(pattern, 'abc'), true, pattern);
  assert.deepEqual(problems({ type: 'string', pattern: '^(a+)+$' }, JSON.stringify(hostile)), []);
});

test('optional parts and alternatives multiply the ways of a pattern, too', () => {
  const text = 'a'.repeat(60);
  for (const pattern of [
    `^${'a?'.repeat(40)}${'a'.repeat(40)}$`,
    `^${'(a|a)'.repeat(40)}c`,
    `^${'(?:a|aa)'.repeat(40)}$`,
    `^${'(a?)'.repeat(40)}c`,
    '^(?<x>a+)\\k<x>c',
  ]) {
    assert.equal(testable(pattern, text), false, pattern);
  }
  for (const pattern of [
    '^(?:red|green|blue)$',
    '^-?\\d+(?:\\.\\d+)?$',
    'https?://',
    '^(a|b|c)(d|e)?$',
    '^.+?x',
    '^v\\d{1,3}?$',
  ]) {
    assert.equal(testable(pattern, text), true, pattern);
  }
  const started = busyMs();
  problems({ type: 'string', pattern: `${'(a|a)'.repeat(30)}c` }, JSON.stringify(text));
  assert.ok(busyMs() - started < 1000);
});

test('a schema whose references double at every step holds up nothing, and what it leaves open is let pass', () => {
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    /** @type {Record<string, object>} */
    const $defs = { d30: { type: 'number', required: ['x'] } };
    const schema = { $ref: '#/$defs/d0', $defs };
    for (let i = 0; i < 30; i++)
      $defs[`d${i}`] = { [key]: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] };
    const started = busyMs();
    assert.deepEqual(problems(schema, '{}'), [], key);
    assert.ok(busyMs() - started < 1000, key);
  }
  assert.deepEqual(problems({ anyOf: [{ $ref: '#' }, { $ref: '#' }] }, '{}'), []);
});

test('a long list whose entries must differ holds up nothing', () => {
  const started = busyMs();
  problems({ type: 'array', uniqueItems: true }, JSON.stringify(Array.from({ length: 40_000 }, (_, i) => i)));
  assert.ok(busyMs() - started < 1000);
});

test('types and formats with the names of what every object has are unknown ones', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    assert.deepEqual(problems({ type: name }, '"x"'), [], name);
    assert.deepEqual(problems({ type: 'string', format: name }, '"x"'), [], name);
    assert.deepEqual(problems({ type: [name, 'number'] }, '"x"'), [], name);
  }
});

test('numbers: limits are exact for big integers, and steps know decimals', () => {
  assert.deepEqual(problems({ type: 'integer', maximum: 10 }, '11'), [': Enter a number of at most 10.']);
  const root = objectOf(parse('{"type":"integer","maximum":9007199254740992}'));
  assert.equal(validate(root, parse('9007199254740993'), root).length, 1);
  assert.equal(problems({ type: 'integer' }, '1.5').length, 1);
  assert.deepEqual(problems({ type: 'integer' }, '1.0'), []);
  assert.equal(problems({ type: 'number', exclusiveMinimum: 0 }, '0').length, 1);
  assert.equal(problems({ type: 'number', exclusiveMaximum: 1 }, '1').length, 1);
  assert.equal(problems({ type: 'number', minimum: 2 }, '1').length, 1);
  assert.deepEqual(problems({ type: 'number', multipleOf: 0.1 }, '0.3'), []);
  assert.equal(problems({ type: 'number', multipleOf: 0.1 }, '0.35').length, 1);
});

test('lists, values to choose from, and choices between schemas', () => {
  const list = { type: 'array', minItems: 2, maxItems: 3, uniqueItems: true, items: { type: 'string' } };
  assert.deepEqual(problems(list, '["a"]'), [': Enter at least 2 entries.']);
  assert.deepEqual(problems(list, '["a","a"]'), [': No two entries may be the same.']);
  assert.deepEqual(problems(list, '["a",1]'), ['/1: This must be text.']);
  assert.equal(problems(list, '["a","b","c","d"]').length, 1);
  assert.equal(problems({ enum: ['a', 1] }, '"b"').length, 1);
  assert.deepEqual(problems({ enum: ['a', 1] }, '1.0'), []);
  assert.equal(problems({ const: 1 }, '2').length, 1);
  assert.deepEqual(problems({ type: ['string', 'null'] }, 'null'), []);
  const either = {
    oneOf: [
      { properties: { kind: { const: 'file' }, path: { type: 'string' } }, required: ['kind', 'path'] },
      { properties: { kind: { const: 'url' } }, required: ['kind'] },
    ],
  };
  assert.deepEqual(problems(either, '{"kind":"url"}'), []);
  assert.deepEqual(problems(either, '{"kind":"file","path":1}'), ['/path: This must be text.']);
  assert.deepEqual(problems({ type: 'object', additionalProperties: false }, '{"x":1}'), ['/x: Nothing may be here.']);
});

test('local references are followed, and circles end', () => {
  const tree = {
    $defs: {
      node: {
        type: 'object',
        properties: { next: { $ref: '#/$defs/node' }, name: { type: 'string' } },
        required: ['name'],
      },
    },
    $ref: '#/$defs/node',
  };
  assert.deepEqual(problems(tree, '{"name":"a","next":{}}'), ['/next/name: This is required.']);
  assert.deepEqual(problems({ $ref: '#' }, '1'), []);
  assert.deepEqual(
    problems({ $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, '1'),
    [],
  );
  assert.deepEqual(problems({ $ref: 'https://example.com/schema' }, '1'), []);
  assert.deepEqual(
    problems({ allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { required: ['b'] }] }, '{"a":1}'),
    ['/b: This is required.', '/a: This must be text.'],
  );
});

test('a schema of a hostile server is no trouble', () => {
  for (const schema of [
    { type: 5, enum: 'x', required: 'y', properties: [] },
    { type: ['strange'] },
    { items: 3, oneOf: [null, 1] },
    { allOf: [true, false] },
  ]) {
    assert.doesNotThrow(() => problems(schema, '{"a":[1]}'));
  }
});
