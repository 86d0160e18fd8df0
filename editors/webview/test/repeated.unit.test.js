import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Repeated, namesOf } from '../../repeated.mjs';

test('the list has names, at most ten, and none of a cancel or an approval', () => {
  assert.deepEqual(namesOf('# Repeated\n\nSee `x`.\n\n- `a test`: it draws late\n- `b`\n'), ['a test', 'b']);
  assert.throws(() => namesOf('- `a click on Cancel is heard`'), /never repeated/);
  assert.throws(() => namesOf('- `a tool approval`'), /never repeated/);
  assert.throws(() => namesOf(Array.from({ length: 11 }, (_, i) => `- \`${i}\``).join('\n')), /at most 10/);
});

test('one failed test of the list runs once more, alone; every other failure counts at once', async () => {
  /** @type {string[]} */
  const said = [];
  const say = (/** @type {string} */ line) => void said.push(line);
  const repeated = new Repeated(['listed', 'also listed'], say);
  let runs = 0;
  const once = () => (++runs === 1 ? Promise.reject(new Error('late')) : Promise.resolve());
  const never = () => Promise.reject(new Error('never'));
  await assert.rejects(repeated.attempt('another', never), /never/);
  await repeated.repeat();
  await repeated.attempt('listed', once);
  await assert.rejects(repeated.attempt('also listed', never), /never/, 'a second one');
  await repeated.repeat();
  assert.equal(runs, 2);
  assert.deepEqual(said, ['failed, and will be repeated alone: listed: Error: late', 'repeated: listed']);
  const hopeless = new Repeated(['listed'], say);
  await hopeless.attempt('listed', never);
  await assert.rejects(hopeless.repeat(), /never/);
});
