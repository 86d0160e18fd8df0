import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { shortly, until } from '../until.mjs';
import { demoServer, demoServersOf } from '../workspace.mjs';

scenario(
  'lenses over a config file: a server is started by one, after its launch was allowed, and stopped by another; tools and errors are shown',
  async (act) => {
    const workspace = act.workspace();
    workspace.bringsOfOthers({ first: { command: 'true' }, lensed: demoServer(act.stage.binary), odd: { command: 7 } });
    const window = await act.open(workspace);
    await window.runCommand('McpHub: Open Config...');
    await window.pick('Open Config', 'lensed');
    // All lenses of an entry are on one line above it.
    const lens = (/** @type {string | RegExp} */ text) =>
      window.page.locator('.codelens-decoration').filter({ hasText: text }).first();
    const above = lens(/McpHub: Stopped/);
    await above.waitFor();
    await lens('McpHub: Configuration error: command').waitFor();
    const file = join(workspace.folder, '.cursor/mcp.json');
    await window.page.locator('.squiggly-error').first().waitFor();

    // The first one belongs to the entry "first".
    const stopped = window.page.locator('.codelens-decoration').filter({ hasText: /McpHub: Stopped/ });
    const start = stopped.nth(1).getByText('Start', { exact: true });
    await until('the start', async () => {
      // A lens that the editor draws anew in the middle of a click does nothing: one clicks again.
      if ((await stopped.count()) > 1) await start.click({ timeout: shortly });
      await stopped.nth(1).waitFor({ state: 'detached', timeout: shortly });
      return true;
    });
    const page = await window.sideBar();
    const launch = page.card(/lensed/);
    await launch.waitFor();
    assert.equal(demoServersOf(workspace).length, 0, 'nothing runs before the yes');
    await page.accept(launch);
    await lens(/McpHub: Ready, \d+ tools/).waitFor();
    assert.equal(demoServersOf(workspace).length, 1);
    await lens(/McpHub: Ready/)
      .getByText('Show Tools', { exact: true })
      .click();
    await window.quickPick.filter({ hasText: 'Call Tool of lensed' }).waitFor();
    await window.page.keyboard.press('Escape');
    await lens(/McpHub: Ready/)
      .getByText('Stop', { exact: true })
      .click();
    await until('it is stopped', () => demoServersOf(workspace).length === 0);
    await lens(/McpHub: Ready/).waitFor({ state: 'detached' });

    await above.getByText('Start', { exact: true }).click(); // that of "first", which ends at once
    const other = page.card(/first/);
    await other.waitFor();
    await page.accept(other);
    await lens(/McpHub: Failed/)
      .getByText('Show Error', { exact: true })
      .click();
    await window.dialog.filter({ hasText: /first.*Failed/ }).waitFor();
    await window.dialog
      .getByRole('button', { name: 'Cancel' })
      .or(window.dialog.getByRole('button', { name: 'OK' }))
      .click();

    writeFileSync(file, JSON.stringify({ mcpServers: { first: { command: 'true' } } }, null, 2));
    await lens('McpHub: Configuration error: command').waitFor({ state: 'detached' });
    await window.page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
  },
);
