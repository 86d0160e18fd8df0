import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { Pulse } from '../dist/pulse.js';

const limitMs = 3000;

/** A pulse with fake timers, which only `pass` advances. `sleep` is time during which this process was suspended. */
function stand(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const told: boolean[] = [];
  const questions: { answer: () => void; fail: () => void }[] = [];
  const pulse = new Pulse({
    ask: () =>
      new Promise<void>((resolve, reject) =>
        questions.push({ answer: resolve, fail: () => reject(new Error('the connection is lost')) }),
      ),
    changed: (responsive) => told.push(responsive),
    limitMs,
    now: () => now,
  });
  t.after(() => pulse.end());
  return {
    pulse,
    told,
    questions,
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    pass: (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        now += 100;
        t.mock.timers.tick(100);
      }
    },
    sleep: (ms: number) => {
      now += ms;
    },
  };
}

test('a hub that was asked and is silent for the limit is unresponsive, until it answers', async (t) => {
  const { pulse, told, questions, pass, settle } = stand(t);
  pass(5000);
  assert.equal(questions.length, 1, 'it is asked every five seconds');
  pass(limitMs - 100);
  assert.deepEqual(told, []);
  pass(100);
  assert.deepEqual([told, pulse.responsive], [[false], false]);
  pass(60_000);
  assert.deepEqual([told, questions.length], [[false], 1], 'it is told once, and asked nothing more meanwhile');
  questions[0]?.answer();
  await settle();
  assert.deepEqual([told, pulse.responsive], [[false, true], true]);
  pass(5000);
  assert.equal(questions.length, 2, 'and is asked again');
});

test('what is sent is a reason to ask at once, and at most once a second', async (t) => {
  const { pulse, questions, pass, settle } = stand(t);
  pulse.sent();
  assert.equal(questions.length, 0, 'it has just been greeted');
  pass(1000);
  pulse.sent();
  assert.equal(questions.length, 1);
  questions[0]?.answer();
  await settle();
  pulse.sent();
  pulse.sent();
  assert.equal(questions.length, 1);
  pass(1000);
  assert.equal(questions.length, 2, 'what was sent meanwhile is asked about when the second is over');
});

test('whatever comes is an answer', (t) => {
  const { pulse, told, pass } = stand(t);
  pass(5000);
  for (let i = 0; i < 10; i++) {
    pass(limitMs - 100);
    pulse.heard(); // for example a long result before the answer
  }
  assert.deepEqual(told, []);
  pass(2 * limitMs);
  assert.deepEqual(told, [false]);
  pulse.heard();
  assert.deepEqual(told, [false, true]);
  pass(2 * limitMs);
  assert.deepEqual(told, [false, true, false], 'the question is still open');
});

test('a host that has slept gives the hub the whole limit again', (t) => {
  const { told, pass, sleep } = stand(t);
  pass(5000);
  sleep(3_600_000);
  pass(limitMs);
  assert.deepEqual(told, []);
  pass(limitMs);
  assert.deepEqual(told, [false]);
});

test('a question that fails tells nothing, and an ended pulse neither asks nor tells', async (t) => {
  const { pulse, told, questions, pass, settle } = stand(t);
  pass(5000);
  questions[0]?.fail();
  await settle();
  pass(5000);
  assert.deepEqual([told, questions.length], [[], 2]);
  pulse.end();
  pass(60_000);
  pulse.sent();
  pulse.heard();
  assert.deepEqual([told, questions.length], [[], 2]);
});
