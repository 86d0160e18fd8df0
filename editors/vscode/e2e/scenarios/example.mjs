import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';

scenario(
  'the example of docs/migrating.md: an agent without a hub of its own calls, is shown, and is stopped',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.server('demo').waitFor();
    await window.runCommand('Example Agent: Run the Task');
    await page.request('sleep').waitFor();
    await page.request('long_task').waitFor();
    assert.match(await page.request('sleep').innerText(), /for Example Agent/);
    await window.runCommand('Example Agent: Stop the Task');
    const heard = await workspace.journal.has({ event: 'cancel_received' }, { count: 2 });
    assert.deepEqual(
      heard.map(({ reason }) => reason),
      ['the user has stopped the task', 'the user has stopped the task'],
    );
    await window.runCommand('Example Agent: Show Output');
    await window.outputShows(/The\stask\sis\sover/);
  },
);
