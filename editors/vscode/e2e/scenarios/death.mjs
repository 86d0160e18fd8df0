import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';
import { allProcesses, isExtensionHost, lineage, untilGone } from '../processes.mjs';
import { demoServersOf, hubOf } from '../workspace.mjs';
import { briefStage } from '../briefstage.mjs';

scenario(
  'kill -9 of the hub: the page says so, the hub comes back, the call is shown as lost, and nothing hangs',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
    await page.request('long_task').waitFor();
    await workspace.journal.has({ event: 'started', tool: 'long_task' });
    const hub = hubOf(workspace);
    const servers = demoServersOf(workspace).map(({ pid }) => pid);

    const said = page.connection.waitFor({ state: 'visible' });
    process.kill(hub.pid, 'SIGKILL');

    await said;
    await page.connection.waitFor({ state: 'hidden' });
    await page.endedAs('long_task', /lost/i);
    await untilGone('the servers of the dead hub', servers);
    // Everything works with the new hub.
    await page.call('demo', 'sleep', { seconds: 0, steps: 1 });
    await page.endedAs('sleep', /done/i);
    assert.notEqual(hubOf(workspace).pid, hub.pid);
  },
  { core: true },
);

scenario(
  'kill -9 of the extension host: once the grace is over no process is left',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
    await workspace.journal.has({ event: 'started', tool: 'long_task' });
    const hub = hubOf(workspace);
    const chain = lineage(hub.pid);
    const host = chain.find(isExtensionHost);
    assert.ok(host, chain.map(({ command }) => command).join('\n'));
    const below = allProcesses()
      .filter(({ pid }) => pid !== host.pid && lineage(pid).some((above) => above.pid === host.pid))
      .map(({ pid }) => pid);
    assert.ok(below.includes(hub.pid) && below.length >= 3, 'hub, shell and server');

    process.kill(host.pid, 'SIGKILL');
    await window.close(); // otherwise the editor starts another extension host, which finds its hub again

    await untilGone('all that the extension host had started', below);
  },
  { stage: briefStage },
);

scenario(
  'a window that is closed leaves no process once the grace is over',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
    await workspace.journal.has({ event: 'started', tool: 'long_task' });
    const gone = [hubOf(workspace).pid, ...demoServersOf(workspace).map(({ pid }) => pid)];
    await window.close();
    await untilGone('hub and servers', gone);
  },
  { stage: briefStage },
);

scenario(
  'kill -9 of the extension host in an open window: the editor starts another one, and page, call and hub are there again',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const before = await window.openSideBar();
    await before.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
    await workspace.journal.has({ event: 'started', tool: 'long_task' });
    const request = await before.request('long_task').getAttribute('data-testid');
    const hub = hubOf(workspace);
    const host = lineage(hub.pid).find(isExtensionHost);
    assert.ok(host);

    process.kill(host.pid, 'SIGKILL');

    await untilGone('the extension host', [host.pid]);
    const page = await window.sideBarAgain(before);
    await page.request('long_task').waitFor();
    assert.equal(await page.request('long_task').getAttribute('data-testid'), request, 'the same request');
    assert.equal(hubOf(workspace).pid, hub.pid, 'the same hub');
    await page.cancel(page.request('long_task'), 'after the fall of the host');
    const [heard] = await workspace.journal.has({ event: 'cancel_received' });
    assert.equal(heard?.reason, 'after the fall of the host');
  },
);
