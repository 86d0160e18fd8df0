// Servers that are added, changed and removed from the page, by a hub on a script: what is sent, what is told, where
// the focus goes.

import assert from 'node:assert/strict';
import { pageTest } from '../harness/pagetest.js';
import { server, tool } from '../harness/world.js';

/** @typedef {import('../harness/pagetest.js').Opened} Opened */
/** @typedef {import('../../../host/src/gen/mcphub/v1/config_pb.js').ConfigFileJson} ConfigFileJson */

/** @type {ConfigFileJson[]} */
const files = [
  {
    path: '/userim/.cursor/mcp.json',
    scope: 'user',
    dialect: 'cursor',
    exists: true,
    servers: ['tickets'],
    environmentReference: '${env:NAME}',
    takesUrls: true,
  },
  {
    path: '/userim/.config/Code/User/mcp.json',
    scope: 'user',
    dialect: 'vscode',
    exists: true,
    servers: ['files'],
    isDefault: true,
    environmentReference: '${env:NAME}',
    takesInputs: true,
    takesUrls: true,
  },
  { path: '/userim/claude_desktop_config.json', scope: 'user', dialect: 'claude-desktop', exists: true },
  { path: '/userim/broken.json', scope: 'user', exists: true, notWritable: 'the file cannot be read', line: 7 },
];
const vscodeFile = '/userim/.config/Code/User/mcp.json';
const written = { server: 'notes', configFile: vscodeFile, configLine: 9, configDialect: 'vscode', needsConsent: true };
export const surface = { configWrites: true, commands: ['mcphub.openConfig'] };
const setup = { surface, snapshot: { servers: [server('files')] } };

/**
 * Opens the form, and answers with the files.
 * @param {Opened} opened
 */
async function openForm({ by, hub, settle }) {
  await by('add-server').click();
  await hub.reply(await hub.next('listConfigFiles'), { listConfigFiles: { files } });
  await settle();
}

/** The next order that is no preview. @param {Opened} opened */
async function order({ hub }) {
  for (;;) {
    const message = await hub.next('addServer');
    if (!message.addServer.preview) return message;
    await hub.reply(message, { configWrite: { ...written, linesAfter: '"notes": {}\n' } });
  }
}

const launch = {
  promptId: 'p-1',
  server: 'notes',
  serverLaunch: {
    command: 'npx',
    args: ['-y', 'notes-mcp', 'my notes'],
    launchHash: 'h-1',
    writtenBy: { name: 'McpHub’s page', windowId: 'window-1' },
    configFile: vscodeFile,
    configLine: 9,
  },
};

pageTest(
  'a command is added: what is sent, what is told, the card with the whole command, the tools, and undo',
  setup,
  async (opened) => {
    const { by, hub, page, settle, focused } = opened;
    await openForm(opened);
    assert.match(await focused(), /Add a server/);
    await by('adding-name').fill('notes');
    await by('adding-command').fill('npx');
    await by('adding-args').fill('-y\nnotes-mcp\nmy notes');
    const preview = await hub.next('addServer');
    assert.equal(preview.addServer.preview, true);
    await hub.reply(preview, { configWrite: { ...written, linesAfter: '    "notes": { "command": "npx" }\n' } });
    await settle();
    assert.match(await by('adding').innerText(), /npx -y notes-mcp "my notes"/);
    assert.match(await by('adding').innerText(), /"notes": { "command": "npx" }/);
    assert.match(await by('adding').innerText(), /You will be asked, with the whole command/);

    await by('adding-save').click();
    const sent = await order(opened);
    assert.deepEqual(sent.addServer, {
      server: 'notes',
      configFile: vscodeFile,
      form: { command: 'npx', args: ['-y', 'notes-mcp', 'my notes'], environment: {} },
      writtenBy: 'McpHub’s page',
      inputs: [],
      preview: false,
    });
    await hub.say({ serverChanged: { server: server('notes', { state: 'SERVER_STATE_STOPPED', place: 2 }) } });
    await hub.reply(sent, { configWrite: { ...written, canUndo: true } });
    const start = await hub.next('startServer');
    assert.equal(start.startServer.server, 'notes');
    assert.match(await by('written').innerText(), /“notes” was added\..*mcp\.json:9/s);
    await hub.say({ promptOpened: { prompt: launch } });
    await settle();
    const card = page.locator('article.card').first();
    assert.match(await card.innerText(), /npx -y notes-mcp "my notes"/, 'the whole command');
    assert.match(await focused(), /Start notes\?/, 'its card has the focus, and not what accepts');

    await hub.say({ promptClosed: { promptId: 'p-1', cause: 'PROMPT_CAUSE_ANSWERED' } });
    await hub.say({ serverChanged: { server: server('notes', { place: 2 }) } });
    hub.tools['notes'] = [tool('notes', 'write_note')];
    await hub.say({ toolsChanged: { server: 'notes' } });
    await hub.reply(start);
    await by('tool-write_note').waitFor();

    await by('undo').click();
    const undo = await hub.next('undoConfigWrite');
    await hub.say({ serverChanged: { server: server('notes', { place: 2 }), removed: true } });
    await hub.reply(undo, { configWrite: { ...written, configLine: 0, canUndo: true } });
    await settle();
    assert.match(await by('written').innerText(), /is as it was before/);
    assert.equal(await page.locator('[data-testid="server-notes"]').count(), 0);
  },
);
