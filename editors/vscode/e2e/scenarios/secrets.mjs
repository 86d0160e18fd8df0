import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { scenario } from '../stage.mjs';
import { demoServer, hubOf } from '../workspace.mjs';
import { processOf } from '../processes.mjs';
import { until } from '../until.mjs';

const secret = 'swordfish-7f3a91';

scenario(
  'the value of a config input is asked for once: not by a new hub, not by a new hub after a reload, and it is in no file',
  async (act) => {
    const workspace = act.workspace();
    const server = demoServer(act.stage.binary);
    const input = { id: 'token', type: 'promptString', description: 'Token of the guarded server', password: true };
    workspace.brings({ guarded: { ...server, env: { DEMO_TOKEN: '${input:token}' } } }, [input]);
    const window = await act.open(workspace, { keepsSecrets: true });
    const first = await window.openSideBar();
    const listing = first.openTools('guarded');
    const launch = first.card('demo-server');
    await launch.waitFor();
    await first.acceptFor(launch, 'APPROVAL_SCOPE_WORKSPACE');
    const asked = first.card('Token of the guarded server');
    await asked.locator('input').first().fill(secret);
    await first.accept(asked);
    await listing;
    await first.serverIs('guarded', /ready/i);

    await startsUnasked(first);
    await window.reload();
    const reloaded = await window.sideBar();
    await reloaded.serverIs('guarded', /ready/i); // the hub was kept: nothing is read yet
    await startsUnasked(reloaded); // extension host, page and hub are new: only the editor's storage is left

    /** @param {import('../hubpage.mjs').HubPage} page */
    async function startsUnasked(page) {
      const hub = hubOf(workspace).pid;
      await window.runCommand('McpHub: Restart McpHub');
      await until('the hub has gone', () => processOf(hub) === undefined);
      await page.serverIs('guarded', /stopped/i);
      // The old hub also reports the state stopped while it ends. The row may then be drawn again under the pointer, so
      // this presses again.
      await until('the new hub has it started', async () => {
        if (/^guarded, Ready/.test(String(await page.server('guarded').getAttribute('aria-label')))) return true;
        await window.press('guarded', 'Start');
        return false;
      });
      assert.notEqual(hubOf(workspace).pid, hub);
      assert.equal(await page.cards.count(), 0, 'nobody is asked again');
    }

    // All files that the editor and the hub write are below this home: logs, settings, the hub's own state.
    const found = execFileSync('sh', ['-c', 'grep -rlaF -- "$1" "$2" || true', 'sh', secret, act.stage.server.home], {
      encoding: 'utf8',
    });
    assert.equal(found, '', 'the value is in no file');
  },
); // it starts two extension hosts and three hubs
