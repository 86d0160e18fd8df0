import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { settingsStage } from '../settingsstage.mjs';
import { until } from '../until.mjs';
import { readJson } from '../readjson.mjs';

/**
 * The result of a call that was made as the editor's chat makes it.
 *
 * @typedef {{trouble?: string, tools: string[], said?: string, error?: string}} Found
 */

scenario(
  "the editor's chat calls through the gateway: seen on the page, cancelled from there with the reason, and from chat, approved, and kept",
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const page = await window.openSideBar();
    await page.server('demo').waitFor();

    /** @param {string} tool @param {object} input @param {{gone?: boolean}} [more] gone: just waits until it is */
    const call = async (tool, input, more = {}) => {
      writeFileSync(
        join(workspace.folder, 'chat.json'),
        JSON.stringify({ server: 'mcphub.mcphub/McpHub', tool, input, ...more }),
      );
      await window.runCommand('Other: Call a Tool as Chat Does');
    };
    const done = async () => {
      const file = join(workspace.folder, 'chat.done');
      const found = await until('the call is over', () => /** @type {Found} */ (readJson(readFileSync(file, 'utf8'))));
      renameSync(file, `${file}.seen`);
      assert.equal(found.trouble, undefined, found.tools.join());
      return found;
    };
    /**
     * Waits until the call runs. The editor itself asks before it runs a tool that is not marked as read-only.
     *
     * @param {import('playwright-core').Locator} [seen] what the page shows of the call
     */
    const running = (seen = page.request('sleep')) =>
      until('the call runs', async () => {
        const allow = window.page.getByRole('button', { name: /^(Allow|Continue|Yes)\b/ }).first();
        if (await allow.isVisible()) await allow.click();
        return seen.isVisible();
      });

    await window.setSetting(workspace, 'mcphub.chat.offerServers', true);
    await window.notification(/they run twice: demo/).waitFor();

    await call('demo__sleep', { seconds: 120, steps: 240 });
    await running();
    assert.match(await page.request('sleep').innerText(), /for /, 'whose call it is');
    await page.cancel(page.request('sleep'), 'the page has changed its mind');
    const [first] = await workspace.journal.has({ event: 'cancel_received' });
    assert.equal(first?.reason, 'the page has changed its mind');
    const told = await done();
    assert.ok(
      told.tools.some((name) => name.endsWith('demo__echo')),
      told.tools.join(),
    );
    assert.match(told.said ?? told.error ?? '', /the page has changed its mind/);

    await call('demo__sleep', { seconds: 120, steps: 240 });
    await running();
    await window.runCommand('Other: Stop as Chat Does');
    const [, second] = await workspace.journal.has({ event: 'cancel_received' }, { count: 2 });
    assert.match(second?.reason ?? '', /^cancelled in \S/);
    assert.match((await done()).error ?? '', /cancel/i);

    await call('demo__echo', { text: 'asked about first' });
    const card = page.card('asked about first');
    await running(card);
    await page.accept(card);
    assert.match((await done()).said ?? '', /asked about first/);
    assert.match(await page.ended('echo', /done/i).innerText(), /for /, 'whose call it was');

    await window.setSetting(workspace, 'mcphub.chat.offerServers', false);
    await call('demo__echo', {}, { gone: true });
    assert.deepEqual((await done()).tools, [], 'what is no longer offered is gone');
  },
  {
    stage: settingsStage,
    turns: true,
    notOn: { editor: 'oldest', because: 'VS Code takes MCP servers from extensions from 1.101 on' },
  },
);
