import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';

scenario(
  'a click on Cancel inside the webview: the server hears of it with the reason, the work stops, no result is shown',
  async (act) => {
    const workspace = act.workspace();
    const page = await (await act.open(workspace)).openSideBar();
    await page.call('demo', 'long_task', { steps: 10_000, step_ms: 50 });
    const running = page.request('long_task');
    await running.waitFor();
    await workspace.journal.has({ event: 'started', tool: 'long_task' });

    await page.cancel(running, 'took too long');

    const [heard] = await workspace.journal.has({ event: 'cancel_received' });
    assert.equal(heard?.reason, 'took too long');
    await workspace.journal.has({ event: 'cancelled', tool: 'long_task' });
    await running.waitFor({ state: 'detached' });
    await page.endedAs('long_task', /cancelled.*by you: took too long/is);
    // Now the server has finished, so an answer would have been shown.
    await workspace.journal.has({ event: 'finished', tool: 'long_task' });
    assert.doesNotMatch(await page.frame.locator('body').innerText(), /steps done/);
    assert.equal(workspace.wire().filter((message) => message.method === 'notifications/cancelled').length, 1);
  },
  { core: true },
);

scenario('Stop everything ends 200 running calls, and the server hears of each', async (act) => {
  const workspace = act.workspace();
  workspace.plan(
    Array.from({ length: 200 }, () => ({ server: 'demo', tool: 'sleep', arguments: { seconds: 600, steps: 600 } })),
  );
  const window = await act.open(workspace);
  const page = await window.openSideBar();
  await page.server('demo').waitFor();
  await window.runCommand('Other: Call All of the Plan');
  await workspace.journal.has({ event: 'started', tool: 'sleep' }, { count: 200 });
  await page.shows('200 requests', async () => (await page.requests.count()) === 200);

  await page.stopEverything();

  await workspace.journal.has({ event: 'cancel_received' }, { count: 200 });
  await workspace.journal.has({ event: 'cancelled', tool: 'sleep' }, { count: 200 });
  await page.shows('no request', async () => (await page.requests.count()) === 0);
  assert.equal(
    workspace.wire().filter((message) => message.method === 'notifications/cancelled').length,
    200,
    'once each',
  );
});
