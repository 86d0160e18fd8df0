import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';
import { readJson } from '../readjson.mjs';

/**
 * The content of the file that the other extension writes.
 *
 * @typedef {object} Found
 * @property {string} [trouble]
 * @property {number} version
 * @property {string[]} servers
 * @property {string[]} tools
 * @property {object} slept
 * @property {number} progress
 * @property {number} changes
 * @property {{ error: string }} cancelledById
 * @property {{ error: string }} cancelledBySignal
 * @property {{ error: string }} unknown
 */

scenario('another extension calls tools and cancels them by the exported API', async (act) => {
  const workspace = act.workspace();
  const window = await act.open(workspace);
  await window.runCommand('Other: Use McpHub');
  const file = join(workspace.folder, 'other.json');
  const found = await until(
    'the other extension is done',
    () => /** @type {Found} */ (readJson(readFileSync(file, 'utf8'))),
  );
  assert.equal(found.trouble, undefined);
  assert.equal(found.version, 3);
  assert.ok(found.servers.includes('demo'), found.servers.join());
  assert.ok(found.tools.includes('long_task'), found.tools.join());
  assert.match(JSON.stringify(found.slept), /slept 2s/);
  assert.ok(found.progress > 0, 'progress was told');
  assert.ok(found.changes > 0, 'changes of servers were told');
  assert.match(found.cancelledById.error, /cancel/i);
  assert.match(found.cancelledBySignal.error, /not wanted any longer/, 'the reason of a signal is in the error');
  assert.ok(found.unknown.error, 'a tool that is not there is an error');
  const heard = await workspace.journal.has({ event: 'cancel_received' }, { count: 2 });
  assert.equal(heard[0]?.reason, 'the other extension has changed its mind');
  assert.equal(heard.length, 2);
});
