// The rows of a list of proposals, while somebody types and the server answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textRows } from '../src/resources/textpick.js';

const shown = (...args: Parameters<typeof textRows>): string[] =>
  textRows(...args)
    .filter(({ alwaysShow }) => alwaysShow)
    .map(({ label }) => label);

// The editor names the row that was clicked by its place in the list that it had: once "Sa" was inserted for "Sales",
// and nothing for "7", which a server had just proposed too.
test('every text keeps its place, whatever is typed and proposed', () => {
  const known = ['Engineering', 'Sales', 'Marketing', 'Support'];
  for (const required of [false, true]) {
    for (const typed of ['', 'Sa', 'Sales', 'else']) {
      for (const proposed of [[], ['Sales'], known]) {
        const values = textRows(typed, required, known, proposed).map(({ value }) => value);
        assert.deepEqual(values, [typed, ...known]);
      }
    }
  }
});

test('what was typed can be taken, and is there once', () => {
  const known = ['Sales', 'Support'];
  assert.deepEqual(shown('Sa', true, known, ['Sales']), ['Sa', 'Sales']);
  assert.deepEqual(shown('Sales', true, known, ['Sales']), ['Sales']);
  assert.deepEqual(shown('Support', true, known, ['Sales']), ['Sales', 'Support']);
  assert.deepEqual(shown('', true, known, known), known);
  assert.deepEqual(shown('', false, [], []), ['Leave empty']);
});
