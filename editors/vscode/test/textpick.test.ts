import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsOf } from '../src/resources/textpick.js';

test('a proposal keeps its row when the user begins to type', () => {
  const proposed = ['Engineering', 'Sales', 'Support'];
  const row = (typed: string): number => rowsOf(typed, 'Type a value', proposed).findIndex((r) => r.value === 'Sales');
  assert.deepEqual([row(''), row('Sa')], [2, 2]);
  assert.deepEqual(
    rowsOf('Sales', 'Type a value', proposed).map(({ value }) => value),
    ['Sales', 'Engineering', 'Support'],
  );
});
