import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Prompt } from '@mcphub/host';
import {
  nextToShow,
  patienceMs,
  visiblePatienceMs,
  waiting,
  type Noticed,
  type Surroundings,
} from '../src/questions/attention.js';

const noticed = (promptId: string, since: number, later = false): Noticed => ({
  prompt: { promptId } as Prompt,
  since,
  later,
});
const nobody = (): boolean => false;
const at = (now: number, seen: readonly string[] = [], pageVisible = seen.length > 0): Surroundings => ({
  seen: ({ promptId }) => seen.includes(promptId),
  pageVisible,
  now,
});

test('nothing is shown while its card is in view, and the others are', () => {
  assert.deepEqual(nextToShow([noticed('a', 0)], at(10_000, ['a']), nobody), {});
  assert.equal(nextToShow([noticed('a', 0), noticed('b', 1)], at(10_000, ['a']), nobody).show?.promptId, 'b');
});

test('a page that can be seen gets longer to say what is in view on it', () => {
  const list = [noticed('a', 0)];
  assert.deepEqual(nextToShow(list, at(patienceMs, [], true), nobody), {
    lookAgainInMs: visiblePatienceMs - patienceMs,
  });
  assert.equal(nextToShow(list, at(visiblePatienceMs, [], true), nobody).show?.promptId, 'a');
});

test('a page gets time to come up first', () => {
  assert.deepEqual(nextToShow([noticed('a', 1000)], at(1000), nobody), { lookAgainInMs: patienceMs });
  assert.equal(nextToShow([noticed('a', 1000)], at(1000 + patienceMs), nobody).show?.promptId, 'a');
});

test('the oldest comes first, one at a time', () => {
  assert.equal(nextToShow([noticed('a', 0), noticed('b', 1)], at(10_000), nobody).show?.promptId, 'a');
});

test('what is put off, or is being answered, is passed over', () => {
  const list = [noticed('later', 0, true), noticed('kept value', 1), noticed('c', 2)];
  assert.equal(nextToShow(list, at(10_000), (p) => p.promptId === 'kept value').show?.promptId, 'c');
  assert.deepEqual(nextToShow([noticed('later', 0, true)], at(10_000), nobody), {});
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
