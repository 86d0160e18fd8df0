import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { settingsStage } from '../settingsstage.mjs';

scenario(
  'mcphub.configFiles: a file that is added to the setting is read at once, and one that is removed is forgotten',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.server('demo').waitFor();
    const file = join(workspace.folder, 'further.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { further: { command: 'true' } } }));
    await window.setSetting(workspace, 'mcphub.configFiles', [file]);
    await page.server('further').waitFor();
    await window.setSetting(workspace, 'mcphub.configFiles', []);
    await page.server('further').waitFor({ state: 'detached' });
  },
  { stage: settingsStage, turns: true },
);

scenario(
  'a program that is not there, or may not be run: the setting is named, once; with the right one everything works',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.server('demo').waitFor();
    const nowhere = join(workspace.folder, 'no-such-program');
    await window.setSetting(workspace, 'mcphub.binaryPath', nowhere);
    await window.runCommand('McpHub: Restart McpHub');
    const missing = window.notification(/mcphub\.binaryPath names .*no-such-program.*does not exist/);
    await missing.waitFor();
    assert.equal(await missing.count(), 1);
    await window.status
      .filter({ hasText: 'MCP' })
      .and(window.page.locator('.error-kind, [class*="error"]'))
      .first()
      .waitFor();

    writeFileSync(nowhere, '#!/bin/sh\n', { mode: 0o600 });
    await missing.getByRole('button', { name: 'Restart McpHub' }).click();
    await window.notification(/mcphub\.binaryPath names .*cannot run\. It must be executable/).waitFor();

    await window.setSetting(workspace, 'mcphub.binaryPath', '');
    await window.runCommand('McpHub: Restart McpHub');
    await page.connection.waitFor({ state: 'hidden' });
    await page.call('demo', 'sleep', { seconds: 0, steps: 1 });
    await page.endedAs('sleep', /done/i);
  },
  { stage: settingsStage, turns: true },
);
