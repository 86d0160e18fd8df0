import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';
import { demoServersOf } from '../workspace.mjs';

scenario(
  'commands alone, the view never opened: a tool is called, cancelled with a reason, its trace shown, its server restarted',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    // The first command activates the extension and waits for the servers.
    await window.runCommand('McpHub: Call Tool...');
    await window.pick('Select a Server', 'demo');
    await window.pick('Call Tool of demo', 'long_task');
    const input = window.quickPick.locator('.quick-input-box input');
    await until('the arguments are asked for', async () =>
      (await window.quickPick.innerText()).includes('Arguments of'),
    );
    await input.fill('{"steps": 10000, "step_ms": 200');
    await window.quickPick.getByText(/Not valid JSON/).waitFor();
    await input.fill('{"steps": 10000, "step_ms": 200}');
    await input.press('Enter');
    await workspace.journal.has({ event: 'started', tool: 'long_task' });
    await window.notification('long_task').waitFor();
    await until('the status bar counts it', async () => /MCP 1/.test(await window.status.innerText()));

    await window.chord('s');
    const row = window.quickPick.filter({ hasText: 'Cancel Request' }).getByRole('option', { name: /^Long task/ });
    assert.match(String(await row.getAttribute('aria-label')), /steps.*10000/, 'which of them it is');
    await window.pick('Cancel Request', 'Long task');
    await until('the reason is asked for', async () => (await window.quickPick.innerText()).includes('Reason to tell'));
    await input.fill('by command');
    await input.press('Enter');
    const [heard] = await workspace.journal.has({ event: 'cancel_received' });
    assert.equal(heard?.reason, 'by command');
    await window.notification('long_task').filter({ hasText: /step/i }).waitFor({ state: 'detached' });

    await window.runCommand('McpHub: Show Trace...');
    await window.pick('Show Trace', 'Long task');
    await window.page.locator('.tabs-container .tab').filter({ hasText: 'trace-' }).waitFor();
    await window.editorFinds('long_task');

    const [before] = demoServersOf(workspace);
    await window.runCommand('McpHub: Restart Server...');
    await window.pick('Restart Server', 'demo');
    await until(
      'another process serves',
      () => demoServersOf(workspace).length === 1 && demoServersOf(workspace)[0]?.pid !== before?.pid,
    );
  },
);

scenario('commands: stop everything, open config at the line of the server, show logs', async (act) => {
  const workspace = act.workspace();
  workspace.brings({ first: { type: 'stdio', command: 'true' }, second: { type: 'stdio', command: 'false' } });
  workspace.plan(
    Array.from({ length: 3 }, () => ({
      server: 'demo',
      tool: 'long_task',
      arguments: { steps: 10_000, step_ms: 200 },
    })),
  );
  const window = await act.open(workspace);
  await window.runCommand('Other: Call All of the Plan');
  await workspace.journal.has({ event: 'started', tool: 'long_task' }, { count: 3 });
  await window.runCommand('McpHub: Stop Everything');
  const heard = await workspace.journal.has({ event: 'cancel_received' }, { count: 3 });
  assert.deepEqual([...new Set(heard.map((event) => event.reason))], ['everything was stopped in the editor']);

  await window.runCommand('McpHub: Open Config...');
  await window.pick('Open Config', 'second');
  const line =
    readFileSync(join(workspace.folder, '.vscode/mcp.json'), 'utf8')
      .split('\n')
      .findIndex((text) => text.includes('"second"')) + 1;
  await window.page
    .locator('.part.statusbar')
    .getByText(new RegExp(`^Ln ${line}, Col 1`))
    .waitFor();

  await window.runCommand('McpHub: Show Logs');
  await window.page
    .locator('.part.panel')
    .getByText(/\[info\]/)
    .first()
    .waitFor();
});
