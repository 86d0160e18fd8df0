import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { settingsStage } from '../settingsstage.mjs';

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

scenario(
  'an extension adds a server: the user lets it, the user agrees to the command, it is called, and it goes',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.server('demo').waitFor();
    await window.runCommand('Example Agent: Try a Server');
    const journal = join(workspace.folder, 'tried.jsonl');
    const entry = { command: act.stage.binary, args: ['demo-server', '--record', journal] };
    await window.quickPick.filter({ hasText: 'A server to try' }).waitFor(); // and no longer the palette
    await window.quickPick.locator('.quick-input-box input').fill(JSON.stringify({ mcpServers: { any: entry } }));
    await window.page.keyboard.press('Enter');
    const allow = window.dialog.getByRole('button', { name: 'Allow', exact: true });

    await window.dialog
      .filter({ hasText: 'Allow Example Agent (example.exampleagent) to add, change and remove' })
      .waitFor();
    assert.equal(await page.server('tried').count(), 0, 'nothing is written before the yes');
    await allow.click();
    await window.dialog.filter({ hasText: 'which MCP tools run without asking' }).waitFor();
    await page.server('tried').waitFor();
    await allow.click();

    // The server of an entry that the extension has written starts only when the user has seen the command and
    // accepted.
    const launch = page.card(journal);
    await launch.waitFor();
    assert.match(await launch.innerText(), /Example Agent/);
    assert.match(await launch.innerText(), /sleep/, 'the tool that is to be called without a question');
    assert.throws(() => readFileSync(journal), /ENOENT/, 'nothing runs before that');
    await page.accept(launch);
    await window.runCommand('Example Agent: Show Output');
    await window.outputShows(/It\swas\s(disabled|stopping),\sand\sis\sgone/); // stopping, while its process ends
    await window.outputShows(/The\sserver\ssays/);
    assert.equal(await page.cards.count(), 0, 'the tool asked nobody');
    await page.server('tried').waitFor({ state: 'detached' });
    assert.ok(readFileSync(journal, 'utf8').length > 0);
  },
  { stage: settingsStage },
);
