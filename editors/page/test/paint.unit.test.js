// When the page is painted, and that a section that fails does not affect the others.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { painter, sectionsPainter } from '../src/paint.js';
import { createState, takeChanged, transition } from '../src/hub/state.js';

/** Fake frames, which come only when the test calls for them. @param {import('node:test').TestContext} t */
function frames(t) {
  /** @type {Map<number, () => void>} */
  const waiting = new Map();
  let ids = 0;
  Object.assign(globalThis, {
    requestAnimationFrame: (/** @type {() => void} */ f) => {
      waiting.set(++ids, f);
      return ids;
    },
    cancelAnimationFrame: (/** @type {number} */ id) => waiting.delete(id),
  });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return {
    waiting,
    next: () => {
      const due = [...waiting.values()];
      waiting.clear();
      for (const f of due) f();
    },
  };
}

test('however often a paint is asked for, there is one a frame', (t) => {
  const { next } = frames(t);
  const paint = mock.fn();
  const ask = painter(paint);
  for (let i = 0; i < 50; i++) ask();
  next();
  t.mock.timers.tick(1000);
  assert.equal(paint.mock.callCount(), 1);
  ask();
  next();
  assert.equal(paint.mock.callCount(), 2);
});

test('a hidden tab, which gets no frames, is painted all the same; the frame that comes late paints nothing twice', (t) => {
  const { next, waiting } = frames(t);
  const paint = mock.fn();
  const ask = painter(paint);
  ask();
  t.mock.timers.tick(250);
  assert.equal(paint.mock.callCount(), 1);
  assert.equal(waiting.size, 0, 'no frame is left waiting');
  next();
  assert.equal(paint.mock.callCount(), 1);
});

test('a paint that fails stops none that is asked for later', (t) => {
  const { next } = frames(t);
  let fails = true;
  const paint = mock.fn(() => {
    if (fails) throw new Error('cannot be drawn');
  });
  const ask = painter(paint);
  ask();
  assert.throws(next, /cannot be drawn/);
  fails = false;
  ask();
  next();
  assert.equal(paint.mock.callCount(), 2);
});

test('a section that fails is reported, holds up no other, and paints what it owes with the next change', () => {
  /** @type {unknown[]} */
  const reported = [];
  const state = createState();
  let fails = true;
  /** @type {string[][]} */
  const painted = [];
  /** @type {boolean[]} */
  const history = [];
  const other = mock.fn(/** @type {(changed: import('../src/hub/state.js').Changed) => void} */ (() => undefined));
  const paint = sectionsPainter(
    [
      {
        paint: (changed) => {
          if (fails) throw new Error('cannot be drawn');
          painted.push([...changed.servers]);
          history.push(changed.history);
        },
      },
      { paint: other },
    ],
    (error) => reported.push(error),
  );

  transition(state, { serverChanged: { server: { name: 'files' } } });
  transition(state, { mcpRequestFinished: { requestId: 'r-1' } });
  paint(takeChanged(state));
  assert.equal(reported.length, 1);
  assert.equal(other.mock.callCount(), 1);
  fails = false;
  transition(state, { serverChanged: { server: { name: 'booking' } } });
  paint(takeChanged(state));
  assert.deepEqual(painted, [['files', 'booking']]);
  assert.deepEqual(history, [true]);
  assert.deepEqual([...(other.mock.calls[1]?.arguments[0].servers ?? [])], ['booking'], 'it owes nothing');
  paint(takeChanged(state));
  assert.deepEqual(painted[1], [], 'what was painted is not owed any more');
});
