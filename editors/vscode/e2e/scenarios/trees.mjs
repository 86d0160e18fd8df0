import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';

scenario(
  'a click on a tool opens its tab, Now holds the call, History says how it was cancelled and opens what came of it',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const now = await window.openSideBar();

    const tool = await window.openTool('demo', 'long_task');
    const tabs = window.page.locator('.part.editor .tabs-container .tab');
    await tabs.filter({ hasText: 'long_task' }).waitFor();
    await tool.frame.getByTestId('call').click();
    await workspace.journal.has({ event: 'started', tool: 'long_task' });
    const running = now.request('long_task');
    await running.waitFor();
    assert.equal(await now.frame.getByTestId('servers-list').isVisible(), false, 'Now shows what is live alone');

    await now.cancel(running, 'the wrong folder');
    const ended = now.ended('long_task', /Cancelled by you: the wrong folder/);
    await ended.waitFor();
    await ended.click();
    await until('the tab says how it ended', async () => {
      const { frame } = await window.tab();
      return /the wrong folder/.test(await frame.locator('#opened').innerText());
    });
    assert.equal(await tabs.count(), 2);

    // One tab a thing: a second click shows the one that is there. It is there after a reload, too.
    await (await window.row('Servers', 'long_task')).click();
    await window.page.locator('.part.editor .tab.active').filter({ hasText: 'long_task' }).waitFor();
    assert.equal(await tabs.count(), 2);
    await window.reload();
    await tabs.filter({ hasText: 'long_task' }).click(); // which of the two is shown then is the editor's
    const again = await window.tab();
    await again.frame.getByTestId('call').waitFor();
  },
  { core: true },
);

scenario('Focus on Now View leads to what is live, and not to the body of the page', async (act) => {
  const workspace = act.workspace();
  workspace.plan([{ server: 'demo', tool: 'ask_name', arguments: {} }]);
  const window = await act.open(workspace);
  const now = await window.openSideBar();
  await window.runCommand('Other: Call All of the Plan');
  await now.card('What is your name?').waitFor();
  await window.runCommand('McpHub: Focus on Now View');
  await until('the focus is on what is live', () =>
    now.card('What is your name?').evaluate((card) => card.contains(document.activeElement)),
  );
});
