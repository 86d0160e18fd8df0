import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareNumbers, equal, JsonNumber, parse, stringify } from '../src/words/jsontext.js';

test('numbers keep their spelling and objects their order', () => {
  for (const text of [
    '{"z":1.0,"10":12345678901234567890,"1":1e400,"__proto__":-0.0}',
    '[0.10,1E+2,[],{}]',
    '"\\u202e\\n"',
    'null',
    'true',
  ]) {
    const again = stringify(parse(text));
    assert.equal(again.replace('\u202e', '\\u202e'), text);
  }
});

test('what is no JSON is refused with its place', () => {
  /** @type {[text: string, message: RegExp][]} */
  const refused = [
    ['', /column 1: the text ends too early/],
    ['{"a":1,}', /column 8: a name/],
    ['{"a" 1}', /":" is missing/],
    ['[1 2]', /column 4: "," or "]" is missing/],
    ['01', /not a number/],
    ['.5', /a value is missing/],
    ['1.', /not a number/],
    ['{"a":\n tru}', /Line 2, column 2/],
    ['1 2', /more follows/],
    ["'a'", /a value is missing/],
    ['"a\nb"', /not JSON/],
    ['"\\x"', /not JSON/],
    ['\u00a01', /a value is missing/],
    ['['.repeat(300), /too deeply/],
    ['}', /a value is missing/],
    ['NaN', /a value is missing/],
  ];
  for (const [text, message] of refused)
    assert.throws(
      () => parse(text),
      (error) => error instanceof SyntaxError && message.test(error.message),
      text,
    );
});

test('it takes exactly what JSON.parse takes', () => {
  const parts = ['{', '}', '[', ']', ',', ':', '"a"', '1', '-', '1.5e3', 'true', 'null', ' ', '"'];
  let seed = 7;
  const random = (/** @type {number} */ n) => (seed = (seed * 48271) % 2147483647) % n;
  let good = 0;
  for (let i = 0; i < 20000; i++) {
    const text = Array.from({ length: 1 + random(7) }, () => parts[random(parts.length)]).join('');
    const takes = (/** @type {(text: string) => unknown} */ read) => {
      try {
        read(text);
        return true;
      } catch {
        return false;
      }
    };
    assert.equal(takes(parse), takes(JSON.parse), text);
    if (takes(parse)) good++;
  }
  assert.ok(good > 500);
});

test('numbers are compared by value, integers exactly', () => {
  assert.equal(compareNumbers('9007199254740993', '9007199254740992'), 1);
  assert.equal(compareNumbers('1.0', '1'), 0);
  assert.equal(compareNumbers('-1e2', '-99'), -1);
  assert.ok(equal(parse('{"a":1,"b":[1.0]}'), parse('{"b":[1],"a":1}')));
  assert.ok(!equal(parse('{"a":1}'), parse('{"b":1}')));
  assert.ok(!equal(new JsonNumber('1'), '1'));
});
