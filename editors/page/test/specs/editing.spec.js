// Changing and removing entries from the page, and showing the problems of an entry.

import assert from 'node:assert/strict';
import { files, setup, surface, vscodeFile, written } from '../harness/addform.js';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { request, server, tool } from '../harness/world.js';
import { choose } from '../harness/servers.js';

/** @typedef {import('../harness/pagetest.js').Opened} Opened */

const entry = {
  server: 'files',
  line: 12,
  dialect: 'vscode',
  form: { command: 'npx', args: ['-y', 'files-mcp'], environment: { LEVEL: 'debug', API_KEY: 's3cret' } },
  settings: {
    enabled: true,
    approvals: { 'read_*': /** @type {const} */ ('APPROVAL_POLICY_ALLOW') },
    timeouts: { total: '90s' },
  },
  entryJson: '{}',
};

/** @param {Opened} opened */
async function openEdit(opened) {
  const { hub, settle } = opened;
  await choose(opened, 'files', 'edit-entry');
  const asked = await hub.next('getServerEntry');
  assert.deepEqual(asked.getServerEntry, { server: 'files', configFile: '/repos/shop/.vscode/mcp.json' });
  await hub.reply(asked, { getServerEntry: { entry, file: files[1] ?? {} } });
  await settle();
}

mainTest('of an entry only what was changed is sent', setup, async (opened) => {
  const { by, hub, page, settle, focused } = opened;
  await openEdit(opened);
  assert.equal(await by('adding-args').inputValue(), '-y\nfiles-mcp');
  assert.equal(await page.locator('.pair input[type=password]').inputValue(), 's3cret', 'covered, and there');
  await by('adding-save').click();
  await settle();
  assert.match(await by('adding').innerText(), /There are no changes to save/);
  assert.deepEqual(hub.all('updateServer'), []);

  await by('adding-total').fill('2m');
  await by('adding-connect').fill('soon');
  await by('adding-save').click();
  await settle();
  assert.match(await focused(), /adding-connect/);
  await by('adding-connect').fill('');
  await by('adding-enabled').uncheck();
  await by('adding-save').click();
  let sent = await hub.next('updateServer');
  while (sent.updateServer.preview) {
    await hub.wrote(sent, { ...written, server: 'files' });
    sent = await hub.next('updateServer');
  }
  assert.deepEqual(sent.updateServer, {
    server: 'files',
    configFile: '/repos/shop/.vscode/mcp.json',
    settings: { enabled: false, timeouts: { total: '120s' } },
    writtenBy: 'McpHub’s page',
    preview: false,
  });
  await hub.wrote(sent, { server: 'files', configFile: vscodeFile, configLine: 12, undoId: 'u-1' });
  await settle();
  assert.match(await by('written').innerText(), /“files” was changed/);
  assert.match(await focused(), /^button files/, 'the focus is back');
  assert.deepEqual(hub.all('startServer'), [], 'what needs no new consent is not asked about');
});

// A preview moves the button: it removes what was said, and shows what would be written.
pageTest('a preview that falls due while Save is pressed takes nothing from the press', setup, async (opened) => {
  const { by, hub, page, settle, focused, pass } = opened;
  await openEdit(opened);
  await pass(1_000);
  await by('adding-save').click();
  await settle();
  assert.match(await by('adding').innerText(), /There are no changes to save/);
  await by('adding-connect').fill('soon');
  await by('adding-save').hover();
  await page.mouse.down();
  await pass(1_000);
  await page.mouse.up();
  await settle();
  assert.match(await focused(), /adding-connect/);
  assert.deepEqual(hub.all('updateServer'), [], 'and nothing was asked');

  await by('adding-connect').fill('90s');
  await by('adding-save').hover();
  await page.mouse.down();
  await pass(1_000);
  await page.mouse.move(0, 0);
  await page.mouse.up();
  await pass(1_000);
  const sent = await hub.next('updateServer');
  assert.equal(sent.updateServer.preview, true, 'a press that is let go beside the button saves nothing');
});

// No click follows a press of the second button, or one that is let go outside the page.
pageTest('a press without a click holds up no preview', setup, async (opened) => {
  const { by, hub, page, pass } = opened;
  await openEdit(opened);
  await by('adding-connect').click({ button: 'right' });
  await by('adding-connect').fill('90s');
  await pass(1_000);
  assert.equal((await hub.next('updateServer')).updateServer.preview, true);
  await page.evaluate(() => {
    document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }));
    document.dispatchEvent(new PointerEvent('pointerup', { bubbles: true }));
  });
  await by('adding-connect').fill('91s');
  await pass(1_000);
  assert.equal((await hub.next('updateServer')).updateServer.preview, true);
});

pageTest('a preview leaves out a time that cannot be read', setup, async (opened) => {
  const { by, hub, pass } = opened;
  await openEdit(opened);
  await by('adding-connect').fill('soon');
  await by('adding-total').fill('2m');
  await pass(1_000);
  const sent = await hub.next('updateServer');
  assert.equal(sent.updateServer.preview, true);
  assert.deepEqual(sent.updateServer.settings, { timeouts: { total: '120s' } });
});

pageTest('a changed command takes the place of the old one, whole', setup, async (opened) => {
  const { by, hub } = opened;
  await openEdit(opened);
  await by('adding-args').fill('-y\nfiles-mcp@2');
  await by('adding-save').click();
  let sent = await hub.next('updateServer');
  while (sent.updateServer.preview) {
    await hub.wrote(sent, { ...written, server: 'files' });
    sent = await hub.next('updateServer');
  }
  assert.deepEqual(sent.updateServer.form, { ...entry.form, args: ['-y', 'files-mcp@2'] });
  assert.equal(sent.updateServer.settings, undefined);
  await hub.say({
    serverChanged: {
      server: server('files', { launchConsent: 'LAUNCH_CONSENT_NEEDED', state: 'SERVER_STATE_STOPPED' }),
    },
  });
  await hub.wrote(sent, { ...written, server: 'files', undoId: 'u-1' });
  assert.equal((await hub.next('startServer')).startServer.server, 'files', 'the consent is asked for at once');
});

pageTest(
  'a removal says what is lost, and can be undone',
  {
    surface,
    snapshot: {
      servers: [server('files', { shadows: [{ file: '/config/.cursor/mcp.json', line: 4 }] })],
      requests: [request('r-1')],
    },
  },
  async (opened) => {
    const { by, hub, settle, focused } = opened;
    await choose(opened, 'files', 'remove-entry');
    const preview = await hub.next('removeServer');
    assert.equal(preview.removeServer.preview, true);
    await hub.wrote(preview, { ...written, linesBefore: '    "files": { "command": "npx" }\n' });
    await settle();
    const text = await by('adding').innerText();
    assert.match(text, /1 running request will be cancelled/);
    assert.match(text, /Another entry with this name then takes effect: \/config\/\.cursor\/mcp\.json:4/);
    assert.match(text, /"files": { "command": "npx" }/);
    await by('remove-now').click();
    const sent = await hub.next('removeServer');
    assert.equal(sent.removeServer.preview, false);
    await hub.say({ serverChanged: { server: server('files'), removed: true } });
    await hub.wrote(sent, { server: 'files', configFile: vscodeFile, undoId: 'u-1' });
    await settle();
    assert.match(await by('written').innerText(), /“files” was removed/);
    assert.notEqual(await focused(), 'nothing');
    await by('undo').click();
    await hub.reply(await hub.next('undoConfigWrite'), {
      error: { code: 'FAILED_PRECONDITION', reason: 'CONFIG_CHANGED', message: 'the file has changed since' },
    });
    await settle();
    assert.match(await by('written').innerText(), /the file has changed since/);
  },
);

pageTest(
  'a broken entry says which key is missing, opens its line and can be removed',
  {
    surface,
    snapshot: {
      servers: [
        server('broken', {
          state: 'SERVER_STATE_BROKEN',
          problems: [
            { file: '/config/x.json', line: 4, server: 'broken', key: 'command', message: 'is missing', fatal: true },
          ],
        }),
      ],
    },
  },
  async (opened) => {
    const { by, hub, page, settle } = opened;
    assert.match(await by('server-broken').innerText(), /Configuration error/);
    await by('server-broken').getByRole('button').first().click();
    assert.match(await by('server').innerText(), /command: is missing/);
    assert.equal(await page.getByRole('link', { name: '/config/x.json:4' }).count(), 1);
    await choose(opened, 'broken', 'edit-entry');
    await hub.reply(await hub.next('getServerEntry'), {
      getServerEntry: {
        entry: {
          server: 'broken',
          line: 4,
          problems: [{ key: 'command', message: 'is missing', line: 4, fatal: true }],
        },
        file: { path: '/config/x.json' },
      },
    });
    await settle();
    assert.match(await by('adding').innerText(), /cannot be edited here: command: is missing/);
    await page.keyboard.press('Escape');
    await choose(opened, 'broken', 'remove-entry');
    assert.match(await by('adding').innerText(), /The entry is removed from/);
  },
);

pageTest(
  'in a browser a place is shown to be copied',
  { surface: { kind: 'web', socket: '/stream', configWrites: true }, snapshot: { servers: [server('files')] } },
  async ({ by, page }) => {
    await by('server-files').getByRole('button').first().click();
    await by('server-details').locator('summary').first().click();
    assert.match(await by('server').innerText(), /\/repos\/shop\/\.vscode\/mcp\.json:12/);
    assert.equal(await page.getByRole('button', { name: 'Copy /repos/shop/.vscode/mcp.json:12' }).count(), 1);
  },
);

pageTest(
  '“always allow” in the config file is written there, and says that it is no answer to a question',
  {
    ...setup,
  },
  async (opened) => {
    const { by, hub, settle } = opened;
    hub.tools['files'] = [tool('files', 'read_file')];
    await by('server-files').getByRole('button').first().click();
    await settle();
    await by('tool-read_file').getByRole('button').first().click();
    await by('tool-read_file').getByText('About this tool').click();
    assert.match(await by('tool-read_file').innerText(), /Saved in mcp\.json, for everyone.*kept only by McpHub/s);
    await by('policy-read_file').selectOption('APPROVAL_POLICY_ALLOW');
    const sent = await hub.next('updateServer');
    assert.deepEqual(sent.updateServer.settings, { approvals: { read_file: 'APPROVAL_POLICY_ALLOW' } });
    await hub.wrote(sent, { ...written, server: 'files', undoId: 'u-1' });
    await settle();
    assert.match(await by('tool-read_file').innerText(), /Takes effect once you approve/);
    assert.equal(await by('undo').isVisible(), true);
    await by('policy-read_file').selectOption('APPROVAL_POLICY_DENY');
    await hub.reply(await hub.next('updateServer'), {
      error: { code: 'FAILED_PRECONDITION', reason: 'CONFIG_NOT_WRITABLE', message: 'the file is read-only' },
    });
    await settle();
    assert.equal(await by('policy-read_file').inputValue(), 'APPROVAL_POLICY_ALLOW', 'what the file says');
    assert.match(await by('tool-read_file').innerText(), /the file is read-only/);
  },
);

pageTest(
  'a page whose host has not turned it on offers none of it',
  { snapshot: { servers: [server('files')] } },
  async ({ by, page }) => {
    await by('server-files').hover();
    await by('server-files').getByTestId('more').click();
    assert.deepEqual(await page.getByRole('menuitem').allInnerTexts(), ['Restart', 'Disable']);
    assert.equal(await by('add-server').isVisible(), false);
  },
);
