import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { settingsStage } from '../settingsstage.mjs';
import { shortly, until } from '../until.mjs';
import { readJson } from '../readjson.mjs';

/**
 * The result of a call that was made as the editor's chat makes it.
 *
 * @typedef {{trouble?: string, tools: string[], said?: string, error?: string}} Found
 */

scenario(
  "the editor's chat calls through the gateway: seen on the page, cancelled from there with the reason, and from chat, approved once, asked on the page, and kept",
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
    const file = join(workspace.folder, 'chat.done');
    const isOver = () => existsSync(file);
    const done = async () => {
      const found = await until('the call is over', () => /** @type {Found} */ (readJson(readFileSync(file, 'utf8'))));
      renameSync(file, `${file}.seen`);
      assert.equal(found.trouble, undefined, found.tools.join());
      return found;
    };
    /**
     * Waits until something has come of the call, and says yes when the editor asks. Returns whether it has asked: it
     * does before it runs a tool that is not marked as read-only.
     *
     * @param {() => Promise<boolean> | boolean} [came]
     */
    const allowed = async (came = () => page.request('sleep').isVisible()) => {
      let asked = false;
      await until('the call is allowed', async () => {
        const allow = window.page.getByRole('button', { name: /^(Allow|Continue|Yes)\b/ }).first();
        if (await allow.isVisible()) {
          await allow.click({ timeout: shortly });
          asked = true;
        }
        return came();
      });
      return asked;
    };

    await window.setSetting(workspace, 'mcphub.chat.offerServers', true);
    await window.notification(/they run twice: demo/).waitFor();

    await call('demo__sleep', { seconds: 120, steps: 240 });
    await allowed();
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
    await allowed();
    await window.runCommand('Other: Stop as Chat Does');
    const [, second] = await workspace.journal.has({ event: 'cancel_received' }, { count: 2 });
    assert.match(second?.reason ?? '', /^cancelled in \S/);
    assert.match((await done()).error ?? '', /cancel/i);

    // The config says ask for it, and the tool says that it is read-only. The editor asks, and the page does not:
    // nobody answers there, and the call goes on.
    await call('demo__echo', { text: 'asked about once' });
    assert.equal(await allowed(isOver), true, 'the editor has asked');
    assert.match((await done()).said ?? '', /asked about once/);
    assert.match(await page.ended('echo', /done/i).innerText(), /for /, 'whose call it was');

    // What servers ask is asked on the page alone, and leaves it when it is withdrawn.
    const card = page.card('What is your name?');
    await call('demo__ask_name', {});
    await allowed(() => card.isVisible());
    await card.getByRole('textbox', { name: 'Name' }).first().fill('Barbara');
    await page.accept(card);
    assert.match((await done()).said ?? '', /Barbara/);
    await call('demo__ask_then_withdraw', { after_ms: 10_000, reason: 'it was found elsewhere' });
    await allowed(() => card.isVisible());
    await page.note('Withdrawn by demo: it was found elsewhere').waitFor();
    assert.equal((await done()).error, undefined);

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
