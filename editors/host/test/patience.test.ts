import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Inbox } from '../dist/inbox.js';
import { Patience } from '../dist/patience.js';
import { comebackDelay } from '../dist/window.js';

test('delays double up to the most, and end', () => {
  const patience = new Patience({ firstDelayMs: 100, maxDelayMs: 500, maxAttempts: 4 });
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => patience.next()),
    [100, 200, 400, 500, undefined],
  );
});

test('a minute of life forgives, less does not', () => {
  const patience = new Patience({ maxAttempts: 2 });
  assert.equal(patience.next(), 500);
  patience.lived(59_999);
  assert.equal(patience.next(), 1000);
  patience.lived(60_000);
  assert.equal(patience.next(), 500);
});

test('a window comes back at once, then ever later', () => {
  assert.deepEqual([1, 2, 3, 4, 20].map(comebackDelay), [0, 100, 200, 400, 5000]);
});

test('an inbox gives what came before its end, tells the error once, and survives the end of a loop', async () => {
  let taken = 0;
  const inbox = new Inbox<number>(() => taken++);
  for (let i = 0; i < 200; i++) {
    inbox.push(i);
  }
  inbox.end(new Error('over'));
  inbox.push(999);
  const got: number[] = [];
  for await (const n of inbox) {
    got.push(n);
    if (n === 99) {
      break;
    }
  }
  await assert.rejects(async () => {
    for await (const n of inbox) {
      got.push(n);
    }
  }, /over/);
  assert.deepEqual(
    got,
    Array.from({ length: 200 }, (_, i) => i),
  );
  assert.equal(taken, 200);
  assert.deepEqual(await inbox[Symbol.asyncIterator]().next(), { done: true, value: undefined });
});
