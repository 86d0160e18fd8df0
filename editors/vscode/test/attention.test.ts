import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Prompt } from '@mcphub/host';
import { nextToShow, patienceMs, type Noticed } from '../src/questions/attention.js';

const noticed = (promptId: string, since: number, later = false): Noticed => ({
  prompt: { promptId } as Prompt,
  since,
  later,
});
const nobody = (): boolean => false;
const at = (now: number, pageVisible = false): { pageVisible: boolean; now: number } => ({ pageVisible, now });

test('nothing is shown while a page shows it', () => {
  assert.deepEqual(nextToShow([noticed('a', 0)], at(10_000, true), nobody), {});
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
