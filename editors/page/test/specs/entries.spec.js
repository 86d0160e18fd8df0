// What a form for an entry must not lose, reveal or mix up: untouched values, secrets, drafts, late replies.

import assert from 'node:assert/strict';
import { files, setup, surface, vscodeFile, written } from '../harness/addform.js';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { server, tool } from '../harness/world.js';
import { choose } from '../harness/servers.js';

/** @typedef {import('../harness/pagetest.js').Opened} Opened */

/** @param {Record<string, string>} environment */
const entryWith = (environment) => ({
  server: 'files',
  line: 12,
  dialect: 'vscode',
  form: { command: 'npx', args: ['files-mcp'], environment },
  entryJson: '{}',
});

/** @param {Opened} opened @param {ReturnType<typeof entryWith>} entry @param {string} [name] */
async function openEdit(opened, entry, name = 'files') {
  const { hub, settle } = opened;
  await choose(opened, name, 'edit-entry');
  await hub.reply(await hub.next('getServerEntry'), { getServerEntry: { entry, file: files[1] ?? {} } });
  await settle();
}

/** @param {Opened} opened */
async function openAdd({ by, hub, settle }) {
  await by('add-server').click();
  await hub.reply(await hub.next('listConfigFiles'), { listConfigFiles: { files } });
  await settle();
}

/** The next message that is no preview. @param {Opened} opened @param {'addServer' | 'updateServer'} kind */
async function order({ hub }, kind) {
  for (;;) {
    const message = await hub.next(kind);
    if (!message[kind].preview) return message;
    await hub.wrote(message, written);
  }
}

/** Adds a variable with this name. @param {Opened} opened @param {string} name */
async function addVariable({ page, settle }, name) {
  await page.getByRole('button', { name: 'Add a variable' }).click();
  await page.getByRole('textbox', { name: 'Name of the variable' }).last().fill(name);
  await settle();
}

pageTest('a policy that is chosen while another one is written is written, too', setup, async (opened) => {
  const { by, hub, settle } = opened;
  hub.tools['files'] = [tool('files', 'read_file')];
  await by('server-files').getByRole('button').first().click();
  await settle();
  await by('tool-read_file').getByRole('button').first().click();
  await by('tool-read_file').getByText('About this tool').click();
  await by('policy-read_file').selectOption('APPROVAL_POLICY_ALLOW');
  const first = await hub.next('updateServer');
  await by('policy-read_file').selectOption('APPROVAL_POLICY_DENY');
  await hub.wrote(first, { ...written, server: 'files', undoId: 'u-1' });
  const second = await hub.next('updateServer');
  assert.deepEqual(second.updateServer.settings, { approvals: { read_file: 'APPROVAL_POLICY_DENY' } });
  await hub.reply(second, { error: { code: 'FAILED_PRECONDITION', message: 'the file is read-only' } });
  await settle();
  assert.equal(await by('policy-read_file').inputValue(), 'APPROVAL_POLICY_ALLOW', 'what the file says');
  assert.match(await by('tool-read_file').innerText(), /the file is read-only/);
});

const pem = '-----BEGIN KEY-----\r\nc2VjcmV0\r\n-----END KEY-----\n';

pageTest('values of an entry stay what they are until somebody edits them', setup, async (opened) => {
  const { by, page } = opened;
  await openEdit(opened, entryWith({ NOTE: 'one\r\ntwo', PRIVATE_KEY: pem, API_KEY: '' }));
  assert.equal(await page.getByRole('combobox', { name: 'How API_KEY is given' }).inputValue(), 'text');
  const key = page.getByRole('textbox', { name: 'Value of PRIVATE_KEY' });
  assert.equal(await key.evaluate((box) => getComputedStyle(box).getPropertyValue('-webkit-text-security')), 'disc');
  await by('adding-total').fill('2m');
  await by('adding-save').click();
  const sent = await order(opened, 'updateServer');
  assert.equal(sent.updateServer.form, undefined, 'only the clock has changed');
  assert.deepEqual(sent.updateServer.settings, { timeouts: { total: '120s' } });
});

pageTest('of a value with line breaks an edit changes what was edited alone', setup, async (opened) => {
  const { by, page } = opened;
  await openEdit(opened, entryWith({ NOTE: 'one\ntwo', PRIVATE_KEY: pem, API_KEY: '' }));
  await page.getByRole('textbox', { name: 'Value of NOTE' }).fill('one\nthree');
  await by('adding-save').click();
  const sent = await order(opened, 'updateServer');
  assert.deepEqual(sent.updateServer.form?.environment, { NOTE: 'one\nthree', PRIVATE_KEY: pem, API_KEY: '' });
});

mainTest('Undo takes back the write that it stands beside, once', setup, async (opened) => {
  const { by, hub, settle, focused } = opened;
  await openEdit(opened, entryWith({ LEVEL: 'debug' }));
  await by('adding-total').fill('2m');
  await by('adding-save').click();
  await hub.wrote(await order(opened, 'updateServer'), {
    ...written,
    server: 'files',
    canUndo: true,
    undoId: 'u-7',
  });
  await settle();
  await by('undo').evaluate((button) => {
    if (!(button instanceof HTMLElement)) return;
    button.focus();
    button.click();
    button.click();
  });
  const undo = await hub.next('undoConfigWrite');
  assert.equal(undo.undoConfigWrite.undoId, 'u-7');
  await hub.wrote(undo, { ...written, server: 'files', canUndo: true, undoId: 'u-8' });
  await settle();
  assert.equal(hub.all('undoConfigWrite').length, 1);
  assert.match(await by('written').innerText(), /“files” is as it was before\./);
  assert.equal(await by('undo').count(), 0, 'a second click does not undo the undo');
  assert.match(await focused(), /adding-close|Dismiss/);
});

pageTest('inputs of servers with alike names have ids of their own', setup, async (opened) => {
  const { by, hub, settle } = opened;
  const ids = [];
  for (const name of ['笔记', '日历', 'GitHub', 'github']) {
    await openAdd(opened);
    await by('adding-name').fill(name);
    await by('adding-command').fill('npx');
    await addVariable(opened, 'API_KEY');
    await by('adding-save').click();
    const sent = await order(opened, 'addServer');
    const [input] = sent.addServer.inputs ?? [];
    assert.deepEqual(sent.addServer.form?.environment, { API_KEY: `\${input:${input?.id ?? ''}}` });
    ids.push(input?.id);
    await hub.wrote(sent, { ...written, server: '' });
    await settle();
  }
  assert.equal(new Set(ids).size, 4, ids.join(' '));
});

pageTest('the id of an input is the same in the preview and in what is written', setup, async (opened) => {
  const { by, hub } = opened;
  await openAdd(opened);
  await by('adding-name').fill('notes');
  await by('adding-command').fill('npx');
  await addVariable(opened, 'http_token');
  await addVariable(opened, 'HTTP_TOKEN');
  await by('adding-save').click();
  const sent = await order(opened, 'addServer');
  assert.equal(new Set(sent.addServer.inputs?.map(({ id }) => id)).size, 2, 'two variables, two inputs');
  const last = hub.all('addServer').findLast((m) => m.addServer?.preview && m.addServer.inputs?.length === 2);
  if (last) assert.deepEqual(last.addServer?.inputs, sent.addServer.inputs);
});

pageTest('what is covered in its field is covered in what is shown of the file', setup, async (opened) => {
  const { by, hub, page, pass, settle } = opened;
  await openEdit(opened, entryWith({ API_KEY: 'old-"secret"', PIN_TOKEN: 'npx' }));
  await page.getByRole('textbox', { name: 'Value of API_KEY' }).fill('new\\secret');
  await pass(400);
  const preview = await hub.next('updateServer');
  assert.equal(preview.updateServer.form?.environment?.['API_KEY'], 'new\\secret', 'what is sent stays as it is');
  const lines = (/** @type {string} */ key) =>
    `"command": "npx-tool",\n"env": { "API_KEY": ${JSON.stringify(key)}, "PIN_TOKEN": "npx" }\n`;
  await hub.wrote(preview, { ...written, linesBefore: lines('old-"secret"'), linesAfter: lines('new\\secret') });
  await settle();
  const text = await by('adding').innerText();
  assert.match(text, /Removed\s*"command": "npx-tool",\s*"env": { "API_KEY": "••••••", "PIN_TOKEN": "••••••" }/);
  assert.match(text, /Added\s*"command": "npx-tool",\s*"env": { "API_KEY": "••••••", "PIN_TOKEN": "••••••" }/);
  assert.match(text, /It runs\s*npx files-mcp/);
});

pageTest('a value that goes into an argument is covered in what would run', setup, async (opened) => {
  const { by, hub, page, pass, settle } = opened;
  await openAdd(opened);
  await by('adding-way-paste').check();
  await by('adding-text').fill('{}');
  await by('adding-read').click();
  const entry = {
    server: 'fetch',
    dialect: 'mcpServers',
    form: { command: 'uvx', args: ['fetch', '--key=${input:key}'] },
    inputs: [{ id: 'key', description: 'Your key', secret: true }],
    entryJson: '{}',
  };
  await hub.reply(await hub.next('readConfigText'), { readConfigText: { entries: [entry] } });
  await settle();
  await page.getByRole('combobox', { name: 'How key is given' }).selectOption('text');
  await page.getByRole('textbox', { name: 'Value of key' }).fill('s3cret!');
  await pass(400);
  const preview = hub.all('addServer').at(-1) ?? {};
  assert.deepEqual(preview.addServer?.changedForm?.args, ['fetch', '--key=s3cret!']);
  await hub.wrote(preview, { ...written, linesAfter: '"args": ["fetch", "--key=s3cret!"]\n' });
  await settle();
  const text = await by('adding').innerText();
  assert.match(text, /It runs\s*uvx fetch "--key=••••••"/);
  assert.doesNotMatch(text, /s3cret/);
});

pageTest('a late reply closes no other form, and takes no newer text', setup, async (opened) => {
  const { by, hub, page, settle } = opened;
  await openAdd(opened);
  await by('adding-name').fill('notes');
  await by('adding-command').fill('npx');
  await by('adding-save').click();
  const sent = await order(opened, 'addServer');
  await by('adding-name').fill('calendar');
  await page.keyboard.press('Escape');
  await openEdit(opened, entryWith({ LEVEL: 'debug' }));
  await hub.wrote(sent, { ...written, server: '', undoId: 'u-1' });
  await settle();
  assert.equal(await page.getByRole('heading', { name: 'Change files' }).isVisible(), true, 'the other form is open');
  assert.equal(await by('written').isVisible(), true);
  await page.keyboard.press('Escape');
  await openAdd(opened);
  assert.equal(await by('adding-name').inputValue(), 'calendar');
  assert.equal(await by('adding-command').inputValue(), 'npx');
});

pageTest('what was typed for an entry is there when it is opened again', setup, async (opened) => {
  const { by, hub, page, settle } = opened;
  const entry = entryWith({ LEVEL: 'debug' });
  await openEdit(opened, entry);
  await by('adding-command').fill('pnpm');
  await page.keyboard.press('Escape');
  await openEdit(opened, { ...entry, line: 30 });
  assert.equal(await by('adding-command').inputValue(), 'pnpm');
  assert.match(await by('adding').innerText(), /:30/);
  await page.keyboard.press('Escape');
  await openEdit(opened, entryWith({ LEVEL: 'info' }));
  assert.equal(await by('adding-command').inputValue(), 'npx', 'the entry has changed in its file');
  assert.match(await by('adding').innerText(), /The file has changed/);

  // Changes that are made while the entry is being saved are kept, and compared with what was saved.
  await by('adding-enabled').uncheck();
  await by('adding-save').click();
  const sent = await order(opened, 'updateServer');
  await by('adding-command').fill('bunx');
  await hub.wrote(sent, { ...written, server: 'files' });
  const saved = { ...entryWith({ LEVEL: 'info' }), settings: { enabled: false } };
  await hub.reply(await hub.next('getServerEntry'), { getServerEntry: { entry: saved, file: files[1] ?? {} } });
  await settle();
  assert.equal(await by('adding-command').inputValue(), 'bunx');
  await by('adding-save').click();
  const second = await order(opened, 'updateServer');
  assert.equal(second.updateServer.settings, undefined);
  assert.equal(second.updateServer.form?.command, 'bunx');
  await hub.wrote(second, { ...written, server: 'files' });
  await settle();
  assert.equal(await by('adding').count(), 0);
});

pageTest('variables whose names differ in case alone are two, headers are one', setup, async (opened) => {
  const { by, hub, page, settle, focused } = opened;
  await openEdit(opened, entryWith({ http_proxy: 'a', HTTP_PROXY: 'b' }));
  await page.getByRole('textbox', { name: 'Value of HTTP_PROXY', exact: true }).fill('${c}');
  await by('adding-save').click();
  await hub.reply(await order(opened, 'updateServer'), {
    error: { code: 'INVALID_ARGUMENT', reason: 'CONFIG_INVALID', message: 'it is no variable' },
    errorPlace: { file: vscodeFile, key: 'env.HTTP_PROXY' },
  });
  await settle();
  assert.match(await focused(), /Name of the variable/);
  const wrong = page.locator('.pair').filter({ hasText: 'it is no variable' });
  assert.equal(await wrong.getByRole('textbox').first().inputValue(), 'HTTP_PROXY');

  await page.keyboard.press('Escape');
  await openAdd(opened);
  await by('adding-way-url').check();
  await by('adding-name').fill('x');
  await by('adding-url').fill('https://x.example');
  for (const name of ['X-Team', 'x-team']) {
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByRole('textbox', { name: 'Name of the header' }).last().fill(name);
  }
  await by('adding-save').click();
  await settle();
  assert.match(await by('adding').innerText(), /This name is already used/);
});

pageTest('what a preview said at a field goes once it is mended', setup, async (opened) => {
  const { by, hub, pass, settle } = opened;
  await openAdd(opened);
  await by('adding-name').fill('notes');
  await by('adding-command').fill('npx');
  await by('adding-cwd').fill('${nothing}');
  await pass(400);
  await hub.reply(await hub.next('addServer'), {
    error: { code: 'INVALID_ARGUMENT', reason: 'CONFIG_INVALID', message: 'it is no variable' },
    errorPlace: { file: vscodeFile, key: 'cwd' },
  });
  await settle();
  assert.match(await by('adding').innerText(), /it is no variable/);
  await by('adding-cwd').fill('/tmp');
  await pass(400);
  await hub.wrote(await hub.next('addServer'), written);
  await settle();
  assert.doesNotMatch(await by('adding').innerText(), /it is no variable/);
  assert.equal(await by('adding-cwd').getAttribute('aria-invalid'), null);
});

pageTest(
  'names and options of strangers are made visible in labels',
  { surface, snapshot: { servers: [server('files')] } },
  async (opened) => {
    const { by, hub, page, settle } = opened;
    await openAdd(opened);
    await by('adding-way-paste').check();
    await by('adding-text').fill('{}');
    await by('adding-read').click();
    const entry = {
      server: 'fetch',
      dialect: 'mcpServers',
      form: { command: 'uvx', args: ['${input:a\u202eb}'], environment: { 'C\u202eD': 'x' } },
      inputs: [{ id: 'a\u202eb', options: ['one\u202etwo'] }],
      entryJson: '{}',
    };
    await hub.reply(await hub.next('readConfigText'), { readConfigText: { entries: [entry] } });
    await settle();
    assert.match((await page.locator('.value option').allTextContents()).join(' '), /one⟨U\+202E⟩two/);
    const labels = await page
      .locator('.adding [aria-label]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label') ?? ''));
    assert.ok(labels.includes('Value of a⟨U+202E⟩b'), labels.join('\n'));
    assert.ok(labels.includes('Remove C⟨U+202E⟩D'), labels.join('\n'));
    assert.ok(!labels.some((label) => label.includes('\u202e')));
  },
);
