import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';
import { trustStage } from '../truststage.mjs';

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
  { stage: trustStage },
);

/** Programs that look for what they run in their working directory: as entries of a config file. */
const lookingAround = {
  npx: { command: 'npx', args: ['-y', 'pkg'], env: { npm_config_update_notifier: 'false' } },
  python: { command: 'python3', args: ['-m', 'json.tool'] },
  node: { command: 'node', args: ['server.js'] },
  dot: { command: './server' },
};

/**
 * Puts into a folder what those programs run if they find it there: servers that first write their names to the file
 * ran.
 *
 * @param {string} folder
 * @param {string} binary
 */
function baits(folder, binary) {
  const ran = join(folder, 'ran');
  /** @param {string} name */
  const shell = (name) => `#!/bin/sh\necho ${name} >> '${ran}'\nexec '${binary}' demo-server\n`;
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  mkdirSync(join(folder, 'json'));
  writeFileSync(ran, '');
  writeFileSync(join(folder, 'node_modules/.bin/pkg'), shell('npx'), { mode: 0o755 });
  writeFileSync(join(folder, 'server'), shell('dot'), { mode: 0o755 });
  writeFileSync(
    join(folder, 'server.js'),
    `require('node:fs').appendFileSync(${JSON.stringify(ran)}, 'node\\n');
require('node:child_process').spawn(${JSON.stringify(binary)}, ['demo-server'], { stdio: 'inherit' });
`,
  );
  writeFileSync(join(folder, 'json/__init__.py'), '');
  writeFileSync(
    join(folder, 'json/tool.py'),
    `import os
with open(${JSON.stringify(ran)}, 'a') as file:
    file.write('python\\n')
os.execv(${JSON.stringify(binary)}, ['mcphub', 'demo-server'])
`,
  );
  return () => readFileSync(ran, 'utf8').split('\n').slice(0, -1).sort();
}

scenario(
  'servers of the user find nothing in an open folder, trusted or not, unless their entry names it and it is trusted',
  async (act) => {
    const { binary, server } = act.stage;
    const workspace = act.workspace();
    // The editor's file for this machine is the user's as well; the other one belongs to the stage.
    const machine = join(server.userData, 'Machine');
    const [ranInFolder, ranBeside] = [baits(workspace.folder, binary), baits(machine, binary)];
    const named = { command: './server', cwd: '${workspaceFolder}' };
    writeFileSync(join(machine, 'mcp.json'), JSON.stringify({ servers: { ...lookingAround, named } }));
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    const names = Object.keys(lookingAround).sort();
    for (const name of names) await page.openTools(name);
    assert.deepEqual(ranBeside(), names, 'they run beside their file');
    await window.press('named', 'Start');
    await window.page.getByText('there is no such workspace folder').first().waitFor();
    assert.deepEqual(ranInFolder(), []);

    await window.trustWorkspace();

    await window.runCommand('View: Close Editor'); // a newer editor shows it over the whole window
    const trusted = await window.sideBar();
    await trusted.openTools('named');
    await until(
      'all have started anew, as their launches name the folder',
      () => ranBeside().length === 2 * names.length,
    );
    assert.deepEqual(ranInFolder(), ['dot'], 'the entry that names the folder, and no other');
  },
  { stage: trustStage },
);
