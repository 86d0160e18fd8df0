import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Prompt } from '@mcphub/host/contract';
import { patienceMs, visiblePatienceMs, waiting, type Noticed, type Surroundings } from '../src/questions/attention.js';

const noticed = (promptId: string, since: number, later = false): Noticed => ({
  prompt: { promptId } as Prompt,
  since,
  later,
});
const nobody = (): boolean => false;
/** The oldest prompt that could be shown. */
const next = (
  list: readonly Noticed[],
  surroundings: Surroundings,
  busy: (prompt: Prompt) => boolean = nobody,
): string | undefined => waiting(list, surroundings, busy).due[0]?.promptId;
const at = (now: number, seen: readonly string[] = [], pageVisible = seen.length > 0): Surroundings => ({
  seen: ({ promptId }) => seen.includes(promptId),
  pageVisible,
  now,
});

test('nothing is shown while its card is in view, and the others are', () => {
  assert.deepEqual(waiting([noticed('a', 0)], at(10_000, ['a']), nobody), { due: [] });
  assert.equal(next([noticed('a', 0), noticed('b', 1)], at(10_000, ['a'])), 'b');
});

test('a page that can be seen gets longer to say what is in view on it', () => {
  const list = [noticed('a', 0)];
  assert.deepEqual(waiting(list, at(patienceMs, [], true), nobody), {
    due: [],
    lookAgainInMs: visiblePatienceMs - patienceMs,
  });
  assert.equal(next(list, at(visiblePatienceMs, [], true)), 'a');
});

test('a page gets time to come up first', () => {
  assert.deepEqual(waiting([noticed('a', 1000)], at(1000), nobody), { due: [], lookAgainInMs: patienceMs });
  assert.equal(next([noticed('a', 1000)], at(1000 + patienceMs)), 'a');
});

test('the oldest comes first', () => {
  assert.equal(next([noticed('a', 0), noticed('b', 1)], at(10_000)), 'a');
});

test('what is put off, or is being answered, is passed over', () => {
  const list = [noticed('later', 0, true), noticed('kept value', 1), noticed('c', 2)];
  assert.equal(
    next(list, at(10_000), (p) => p.promptId === 'kept value'),
    'c',
  );
  assert.deepEqual(waiting([noticed('later', 0, true)], at(10_000), nobody), { due: [] });
});

test('all that could be shown is known, and when there will be more', () => {
  const list = [noticed('a', 0), noticed('seen', 0), noticed('later', 0, true), noticed('b', 1), noticed('c', 9_900)];
  const { due, lookAgainInMs } = waiting(list, at(10_000, ['seen'], false), nobody);
  assert.deepEqual(
    due.map(({ promptId }) => promptId),
    ['a', 'b'],
  );
  assert.equal(lookAgainInMs, patienceMs - 100);
});
