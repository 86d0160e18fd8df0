import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';

scenario(
  'while no page is to be seen a question comes as a notification, which vanishes when it is withdrawn',
  async (act) => {
    const workspace = act.workspace();
    workspace.plan([
      { server: 'demo', tool: 'ask_then_withdraw', arguments: { after_ms: 10_000, reason: 'nobody was there' } },
    ]);
    const window = await act.open(workspace);
    await window.runCommand('Other: Call All of the Plan');
    const notification = window.notification('What is your name?');
    await notification.waitFor();
    await notification.waitFor({ state: 'detached' });
    await workspace.journal.has({ event: 'withdrawn', tool: 'ask_then_withdraw' });
    assert.deepEqual(
      workspace.answers().filter((message) => message.result?.action !== undefined || message.error !== undefined),
      [],
    );
  },
);

scenario(
  'while no page is to be seen an approval can be given from the notification, and the tool is called',
  async (act) => {
    const workspace = act.workspace();
    workspace.plan([{ server: 'demo', tool: 'echo', arguments: { text: 'words in a corner' } }]);
    const window = await act.open(workspace);
    await window.runCommand('Other: Call All of the Plan');
    const notification = window.notification('demo: Run Echo?');
    await notification.waitFor();
    // A screen reader reads the text as the editor got it, so it must not have links.
    const labels = await notification
      .locator('[aria-label]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    assert.match(labels.join('|'), /demo: Run Echo\?, /);
    assert.doesNotMatch(labels.join('|'), /command:/);
    await notification.getByRole('button', { name: 'Open', exact: true }).click();
    const page = await window.sideBar(); // Open has opened it
    await page.accept(page.card('echo'));
    await workspace.journal.has({ event: 'finished', tool: 'echo', detail: 'ok' });
    await notification.waitFor({ state: 'detached' });
  },
);
