import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';

scenario('another extension calls tools and cancels them by the exported API', async (act) => {
  const workspace = act.workspace();
  const window = await act.open(workspace);
  await window.runCommand('Other: Use McpHub');
  const file = join(workspace.folder, 'other.json');
  const found = await until('the other extension is done', () => JSON.parse(readFileSync(file, 'utf8')), {
    timeout: 30_000,
  });
  assert.equal(found.trouble, undefined);
  assert.equal(found.version, 1);
  assert.ok(found.servers.includes('demo'), String(found.servers));
  assert.ok(found.tools.includes('long_task'), String(found.tools));
  assert.match(JSON.stringify(found.slept), /slept 2s/);
  assert.ok(found.progress > 0, 'progress was told');
  assert.ok(found.changes > 0, 'changes of servers were told');
  assert.match(String(found.cancelledById.error), /cancel/i);
  assert.match(
    String(found.cancelledBySignal.error),
    /not wanted any longer/,
    'a signal ends the call with its own reason',
  );
  assert.ok(found.unknown.error, 'a tool that is not there is an error');
  const heard = await workspace.journal.has({ event: 'cancel_received' }, { count: 2 });
  assert.equal(heard[0]?.reason, 'the other extension has changed its mind');
  assert.equal(heard.length, 2);
});
