import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';
import { untilGone } from '../processes.mjs';
import { demoServersOf, hubOf } from '../workspace.mjs';

scenario(
  'a hub that does not answer: page and notification say so, it goes on as it was, and a link of the page restarts it',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
    await page.request('long_task').waitFor();
    await workspace.journal.has({ event: 'started', tool: 'long_task' });
    const hub = hubOf(workspace);
    const silent = page.connection.filter({ hasText: 'McpHub does not answer.' });

    process.kill(hub.pid, 'SIGSTOP');
    await silent.waitFor();
    const notification = window.notification('McpHub is not responding');
    await notification.getByRole('button', { name: 'Restart McpHub' }).waitFor();
    process.kill(hub.pid, 'SIGCONT');
    await page.connection.waitFor({ state: 'hidden' });
    // If the button of the notification is pressed too late, nothing is restarted.
    await notification.getByRole('button', { name: 'Restart McpHub' }).click();
    await window.notification('It was not restarted').waitFor();
    await page.cancel(page.request('long_task'), 'it goes on');
    const [heard] = await workspace.journal.has({ event: 'cancel_received' });
    assert.equal(heard?.reason, 'it goes on');

    const servers = demoServersOf(workspace).map(({ pid }) => pid);
    process.kill(hub.pid, 'SIGSTOP');
    await silent.waitFor();
    await page.connection.getByRole('link', { name: /Restart McpHub/u }).click();
    await untilGone('the hub that did not answer, and its servers', [hub.pid, ...servers]);
    await page.connection.waitFor({ state: 'hidden' });
    await page.call('demo', 'sleep', { seconds: 0, steps: 1 });
    await page.endedAs('sleep', /done/i);
  },
);
