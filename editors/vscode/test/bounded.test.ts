import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounded } from '../src/hub/bounded.js';

test('what is done in time is waited for, failed or not', async () => {
  assert.equal(await bounded(Promise.resolve(), 1_000), true);
  assert.equal(await bounded(Promise.reject(new Error('it failed')), 1_000), true);
});

test('what never ends is not waited for beyond its time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const waiting = bounded(new Promise(() => {}), 4_000);
  let over = false;
  void waiting.then(() => {
    over = true;
  });
  t.mock.timers.tick(3_999);
  await Promise.resolve();
  assert.equal(over, false);
  t.mock.timers.tick(1);
  assert.equal(await waiting, false);
});
