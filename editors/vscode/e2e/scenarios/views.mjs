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

    const { frame } = await page.call('debug', 'debug-tool', { includeStructuredContent: true });
    await frame.getByTestId('show-view').click();
    const outer = frame.locator('.view-frame iframe');
    const log = logIn(frame);
    await log.getByText('ontoolinput').first().waitFor();
    await log.getByText('ontoolresult').first().waitFor();
    const { origin } = new URL((await outer.getAttribute('src')) ?? '');
    const own = await frame.locator('body').evaluate(() => location.origin);
    assert.notEqual(origin, own, 'an origin of its own');
    await frame.getByTestId('view-use').click(); // before, the view gets no keys and no clicks
    await outer.contentFrame().locator('iframe').contentFrame().locator('#call-debug-refresh-btn').click();
    await page.history.getByText('view of debug-tool').first().waitFor();
    await frame.getByTestId('view-close').click();
    await frame.locator('.view-of-call').waitFor({ state: 'detached' });

    await page.call('debug', 'debug-tool', { delayMs: 600_000 });
    const running = page.request('debug-tool');
    await running.getByTestId('show-view').click();
    const live = logIn(page.frame);
    await live.getByText('ontoolinput').first().waitFor();
    await page.cancel(running, 'took too long');
    await live.getByText('ontoolcancelled').first().waitFor();
    await until('the view has the reason', async () => (await live.innerText()).includes('took too long'));
  },
);

/** The log of the view that is open on a page. @param {import('playwright-core').FrameLocator} page */
function logIn(page) {
  const outer = page.locator('.view-frame iframe');
  return outer.contentFrame().locator('iframe').contentFrame().locator('#event-log');
}
