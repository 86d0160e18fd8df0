import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';

const peers = resolve(import.meta.dirname, '../../../../internal/peers/apps/node_modules/@modelcontextprotocol');
const debug = `${peers}/server-debug/dist/index.js`;

scenario(
  'a view shows the arguments and the result of its call, calls its server, and hears why a call was cancelled',
  async (act) => {
    assert.ok(existsSync(debug), `${debug} is not there: run make peers`);
    const workspace = act.workspace();
    const allowed = ['debug-tool', 'debug-log', 'debug-refresh']; // with each event the view calls debug-log
    workspace.brings({
      debug: { type: 'stdio', command: process.execPath, args: [debug, '--stdio'], alwaysAllow: allowed },
    });
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.server('debug').waitFor();
    const listing = page.openTools('debug');
    const launch = page.card(debug);
    await launch.waitFor();
    await page.accept(launch);
    await listing;

    await page.call('debug', 'debug-tool', { includeStructuredContent: true });
    const tool = page.server('debug').getByTestId('tool-debug-tool');
    await tool.getByTestId('show-view').click();
    const outer = page.frame.locator('.view-frame iframe');
    const log = outer.contentFrame().locator('iframe').contentFrame().locator('#event-log');
    await log.getByText('ontoolinput').first().waitFor();
    await log.getByText('ontoolresult').first().waitFor();
    const { origin } = new URL((await outer.getAttribute('src')) ?? '');
    const own = await page.frame.locator('body').evaluate(() => location.origin);
    assert.notEqual(origin, own, 'an origin of its own');
    await page.frame.getByTestId('view-use').click(); // before, the view gets no keys and no clicks
    await outer.contentFrame().locator('iframe').contentFrame().locator('#call-debug-refresh-btn').click();
    await page.history.getByText('view of debug-tool').first().waitFor();
    await page.frame.getByTestId('view-close').click();
    await page.frame.locator('.view-of-call').waitFor({ state: 'detached' });

    await page.call('debug', 'debug-tool', { delayMs: 600_000 });
    const running = page.request('debug-tool');
    await running.getByTestId('show-view').click();
    await log.getByText('ontoolinput').first().waitFor();
    await page.cancel(running, 'took too long');
    await log.getByText('ontoolcancelled').first().waitFor();
    await until('the view has the reason', async () => (await log.innerText()).includes('took too long'));
  },
);
