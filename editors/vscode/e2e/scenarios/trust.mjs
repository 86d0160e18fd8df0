import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { briefStage } from '../briefstage.mjs';

scenario(
  'in a workspace that is not trusted its config is not read; once it is trusted, it is',
  async (act) => {
    const workspace = act.workspace();
    workspace.brings({ stranger: { type: 'stdio', command: 'touch', args: ['${workspaceFolder}/was-here'] } });
    // Settings that a workspace must not make, trusted or not, because they name programs to run and files to read.
    const binary = join(workspace.folder, 'evil');
    writeFileSync(binary, '#!/bin/sh\ntouch "$(dirname "$0")/evil-ran"\n', { mode: 0o755 });
    const further = join(workspace.folder, 'further.json');
    writeFileSync(further, JSON.stringify({ mcpServers: { smuggled: { command: 'true' } } }));
    workspace.sets({
      'mcphub.binaryPath': binary,
      'mcphub.configFiles': [further],
      'mcphub.discover': 'none',
      'mcphub.reloadGraceSeconds': 0,
    });
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.server('demo').waitFor(); // the user's own
    assert.equal(await page.server('stranger').count(), 0);
    assert.doesNotMatch(await page.frame.locator('body').innerText(), /stranger/);

    await window.trustWorkspace();

    const trusted = await window.sideBar();
    await trusted.server('stranger').waitFor();
    assert.equal(
      await trusted
        .server('stranger')
        .getAttribute('data-state')
        .then((state) => /ready|connecting|failed/i.test(String(state))),
      false,
      'read is not run',
    );
    assert.equal(await trusted.server('smuggled').count(), 0, 'the setting of the workspace does not count');
    await window.runCommand('McpHub: Restart McpHub');
    await trusted.connection.waitFor({ state: 'hidden' });
    await trusted.server('stranger').waitFor();
    assert.deepEqual(
      ['evil-ran', 'was-here'].filter((name) => existsSync(join(workspace.folder, name))),
      [],
      'nothing of the workspace was run',
    );
  },
  { stage: briefStage },
);
