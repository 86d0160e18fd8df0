// Adding servers from the page, with a scripted hub: what is sent, what is shown, where the focus goes.

import assert from 'node:assert/strict';
import { files, setup, surface, vscodeFile, written } from '../harness/addform.js';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { request, server, tool } from '../harness/world.js';

/** @typedef {import('../harness/pagetest.js').Opened} Opened */

/**
 * Opens the form, and answers its request for the files.
 * @param {Opened} opened
 */
async function openForm({ by, hub, settle }) {
  await by('add-server').click();
  await hub.reply(await hub.next('listConfigFiles'), { listConfigFiles: { files } });
  await settle();
}

/** Returns the next addServer that is not a preview. @param {Opened} opened */
async function order({ hub }) {
  for (;;) {
    const message = await hub.next('addServer');
    if (!message.addServer.preview) return message;
    await hub.wrote(message, { ...written, linesAfter: '"notes": {}\n' });
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

mainTest(
  'a command is added: what is sent, what is told, the card with the whole command, the tools, and undo',
  setup,
  async (opened) => {
    const { by, hub, page, pass, settle, focused } = opened;
    await openForm(opened);
    assert.match(await focused(), /Add a server/);
    await by('adding-name').fill('notes');
    await by('adding-command').fill('npx');
    await by('adding-args').fill('-y\nnotes-mcp\nmy notes');
    await pass(1_000);
    const preview = await hub.next('addServer');
    assert.equal(preview.addServer.preview, true);
    await hub.wrote(preview, { ...written, linesAfter: '    "notes": { "command": "npx" }\n' });
    await settle();
    assert.match(await by('adding').innerText(), /npx -y notes-mcp "my notes"/);
    assert.match(await by('adding').innerText(), /"notes": { "command": "npx" }/);
    assert.match(await by('adding').innerText(), /McpHub shows the whole command and asks you/);

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
    await hub.wrote(sent, { ...written, undoId: 'u-1' });
    const start = await hub.next('startServer');
    assert.equal(start.startServer.server, 'notes');
    assert.match(await by('written').innerText(), /“notes” was added\..*mcp\.json:9/s);
    await hub.say({ promptOpened: { prompt: launch } });
    await settle();
    const card = by('prompt-p-1');
    assert.match(await card.innerText(), /npx -y notes-mcp "my notes"/, 'the whole command');
    assert.match(await focused(), /Start notes\?/, 'its card has the focus, and not what accepts');

    await hub.say({ promptClosed: { promptId: 'p-1', cause: 'PROMPT_CAUSE_ANSWERED' } });
    await hub.say({ serverChanged: { server: server('notes', { place: 2 }) } });
    hub.tools['notes'] = [tool('notes', 'write_note')];
    await hub.say({ toolsChanged: { server: 'notes' } });
    await hub.reply(start);
    await by('tool-write_note').waitFor();
    await settle();
    assert.match(await focused(), /^button write_note/, 'the first call is one key away');

    await by('undo').click();
    const undo = await hub.next('undoConfigWrite');
    assert.deepEqual(undo.undoConfigWrite, { writtenBy: 'McpHub’s page', undoId: 'u-1' });
    await hub.say({ serverChanged: { server: server('notes', { place: 2 }), removed: true } });
    await hub.wrote(undo, { ...written, configLine: 0, undoId: 'u-2' });
    await settle();
    assert.match(await by('written').innerText(), /is as it was before/);
    assert.equal(await page.locator('[data-testid="server-notes"]').count(), 0);
  },
);

pageTest(
  'an address goes with its headers; a token is asked for at the start and stands in no file',
  setup,
  async (opened) => {
    const { by, page, settle } = opened;
    await openForm(opened);
    await by('adding-way-url').check();
    await by('adding-name').fill('tickets');
    await by('adding-url').fill('https://tickets.example/mcp');
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByRole('textbox', { name: 'Name of the header' }).fill('Authorization');
    await settle();
    const way = page.getByRole('combobox', { name: 'How Authorization is given' });
    assert.equal(await way.inputValue(), 'ask', 'by itself, for a name that says so');
    await way.selectOption('text');
    const value = page.getByRole('textbox', { name: 'Value of Authorization' });
    assert.equal(await value.getAttribute('type'), 'password');
    await value.fill('Bearer s3cret');
    assert.match(await by('adding').innerText(), /who can read the file can read it there/);
    await way.selectOption('ask');
    await by('adding-save').click();
    const { addServer } = await order(opened);
    const id = addServer.inputs?.[0]?.id ?? '';
    assert.match(id, /^tickets-authorization-[0-9a-f]{8}$/);
    assert.deepEqual(addServer.form, {
      url: 'https://tickets.example/mcp',
      headers: { Authorization: `\${input:${id}}` },
    });
    assert.deepEqual(addServer.inputs, [{ id, description: 'Authorization', secret: true }]);
    assert.doesNotMatch(JSON.stringify(addServer), /s3cret/);

    // In a file that cannot have inputs, an environment variable is proposed instead.
    await by('adding-file').selectOption('/config/.cursor/mcp.json');
    await settle();
    assert.equal(await way.inputValue(), 'env');
  },
);

pageTest('the files that cannot be written say why, and their place can be opened', setup, async (opened) => {
  const { by, page } = opened;
  await openForm(opened);
  assert.equal(await by('adding-file').inputValue(), vscodeFile, 'the one that the hub would take');
  assert.equal(await by('adding-file').locator('option').count(), 3);
  await page.getByText('1 other file is not available').click();
  const link = page.getByRole('link', { name: '/config/broken.json:7' });
  assert.equal(
    await link.getAttribute('href'),
    `command:mcphub.openConfig?${encodeURIComponent('["/config/broken.json",7]')}`,
  );
});

pageTest(
  'a name that is taken is told before anything is sent, and one that another file has too',
  setup,
  async (opened) => {
    const { by, hub, settle, focused } = opened;
    await openForm(opened);
    await by('adding-command').fill('x');
    await by('adding-name').fill('files');
    await settle();
    assert.match(await by('adding').innerText(), /“files” already exists in this file/);
    assert.equal(await by('adding-name').getAttribute('aria-invalid'), 'true');
    const described = (await by('adding-name').getAttribute('aria-describedby')) ?? '';
    assert.match(
      await opened.page.locator(`#${described.split(' ').at(-1)}`).innerText(),
      /already exists in this file/,
    );
    await by('adding-save').click();
    await settle();
    assert.match(await focused(), /adding-name/, 'the focus goes to the field that is wrong');
    await by('adding-name').fill('tickets');
    await settle();
    assert.match(await by('adding').innerText(), /\.cursor\/mcp\.json also has an entry with this name/);
    await by('adding-name').fill('n'.repeat(500));
    await settle();
    assert.match(await by('adding').innerText(), /at most 128 characters; this one has 500/);
    assert.deepEqual(
      hub.all('addServer').filter((m) => !m.addServer?.preview),
      [],
    );
  },
);

pageTest('what the hub refuses is told at the field that it is about', setup, async (opened) => {
  const { by, hub, settle, page, focused } = opened;
  await openForm(opened);
  await by('adding-name').fill('notes');
  await by('adding-command').fill('npx');
  await page.getByRole('button', { name: 'Add a variable' }).click();
  await page.getByRole('textbox', { name: 'Name of the variable' }).fill('LEVEL');
  await page.getByRole('textbox', { name: 'Value of LEVEL' }).fill('${nothing}');
  await by('adding-save').click();
  const refused = {
    error: { code: 'INVALID_ARGUMENT', reason: 'CONFIG_INVALID', message: 'key "env.LEVEL": is no variable' },
    errorPlace: { file: vscodeFile, key: 'env.LEVEL' },
  };
  await hub.reply(await order(opened), refused);
  await settle();
  assert.match(await focused(), /Name of the variable/);
  assert.match(await by('adding').innerText(), /is no variable/);
  // An error that belongs to no field is shown above the form, and the input stays.
  await by('adding-save').click();
  await hub.reply(await order(opened), {
    error: { code: 'FAILED_PRECONDITION', reason: 'CONFIG_CHANGED', message: 'the file changed meanwhile: try again' },
    errorPlace: { file: vscodeFile, line: 3 },
  });
  await settle();
  assert.match(await focused(), /the file changed meanwhile/);
  assert.equal(await by('adding-command').inputValue(), 'npx');
  await by('adding-save').click();
  await order(opened);
  await hub.say({ hubConnection: { state: 'HUB_CONNECTION_STATE_STARTING', message: 'The hub has ended.' } });
  await settle();
  assert.match(await by('adding').innerText(), /connection to the hub was lost/, 'a hub that was killed');
  assert.equal(await by('adding-name').inputValue(), 'notes');
});

pageTest('Escape closes the form with what was typed, and the focus goes back', setup, async (opened) => {
  const { by, page, settle, focused } = opened;
  await openForm(opened);
  await by('adding-name').fill('notes');
  await by('adding-command').fill('npx -y "a b" c');
  await page.getByRole('button', { name: 'Split into command and arguments' }).click();
  assert.equal(await by('adding-args').inputValue(), '-y\na b\nc');
  await page.keyboard.press('Escape');
  await settle();
  assert.equal(await by('adding').count(), 0);
  assert.match(await focused(), /add-server/);
  await page.keyboard.press('Enter');
  await settle();
  assert.equal(await by('adding-name').inputValue(), 'notes');
  assert.equal(await by('adding-command').inputValue(), 'npx');
});

const entryJson = '{\n  "command": "uvx",\n  "args": ["fetch"],\n  "autoApprove": ["get"]\n}';
const pasted = {
  server: 'fetch',
  line: 3,
  dialect: 'mcpServers',
  form: { command: 'uvx', args: ['fetch', '${input:key}'] },
  inputs: [{ id: 'key', description: 'Your key', secret: true }],
  entryJson,
};

pageTest('a pasted config is read by the hub, and what the form does not show is kept', setup, async (opened) => {
  const { by, hub, settle } = opened;
  await openForm(opened);
  await by('adding-way-paste').check();
  await by('adding-text').fill('{"mcpServers": {"fetch": ');
  await by('adding-read').click();
  await hub.reply(await hub.next('readConfigText'), {
    readConfigText: { problems: [{ line: 1, column: 26, message: 'the text ends too early', fatal: true }] },
  });
  await settle();
  assert.match(await by('adding').innerText(), /Line 1: the text ends too early/);
  await by('adding-text').fill('{"mcpServers": {"fetch": …}}');
  await by('adding-read').click();
  await hub.reply(await hub.next('readConfigText'), {
    readConfigText: {
      entries: [
        pasted,
        { server: 'bad', line: 9, problems: [{ line: 9, key: 'command', message: 'must be a string', fatal: true }] },
      ],
    },
  });
  await settle();
  assert.match(await by('adding').innerText(), /2 servers found/);
  assert.match(await by('adding').innerText(), /Line 9: command: must be a string/);
  await by('adding').getByRole('button', { name: 'fetch', exact: true }).click();
  await settle();
  assert.equal(await by('adding-name').inputValue(), 'fetch');
  assert.match(await by('adding').innerText(), /Values for this server\s+key\s+Your key/);
  await by('adding-save').click();
  const { addServer } = await order(opened);
  assert.equal(addServer.entryJson, entryJson);
  // It gets an id of its own: the file may already have an input "key" with the value of another server.
  const [input] = addServer.inputs ?? [];
  assert.match(input?.id ?? '', /^fetch-input-key-[0-9a-f]{8}$/);
  assert.deepEqual(addServer.inputs, [{ id: input?.id, description: 'Your key', secret: true }]);
  assert.deepEqual(addServer.changedForm, {
    command: 'uvx',
    args: ['fetch', `\${input:${input?.id}}`],
    environment: {},
  });
});

pageTest(
  'what was pasted and changed goes with its change, and a value instead of the question for it',
  setup,
  async (opened) => {
    const { by, hub, page, settle } = opened;
    await hub.say({ openAddServer: { server: 'mine', entryText: '{"command": "uvx"}' } });
    await hub.reply(await hub.next('listConfigFiles'), { listConfigFiles: { files } });
    const read = await hub.next('readConfigText');
    assert.equal(read.readConfigText.text, '{"command": "uvx"}');
    await hub.reply(read, { readConfigText: { entries: [{ ...pasted, server: '' }] } });
    await settle();
    assert.equal(await by('adding-name').inputValue(), 'mine', 'a host’s command opens it, with what it proposes');
    await page.getByRole('combobox', { name: 'How key is given' }).selectOption('env');
    await by('adding-save').click();
    const { addServer } = await order(opened);
    assert.deepEqual(addServer.changedForm, { command: 'uvx', args: ['fetch', '${env:key}'], environment: {} });
    assert.deepEqual(addServer.inputs, []);
  },
);

pageTest('a value that a file cannot ask for is needed before anything is written', setup, async (opened) => {
  const { by, hub, page, settle } = opened;
  await openForm(opened);
  await by('adding-file').selectOption('/config/claude_desktop_config.json');
  await by('adding-way-paste').check();
  await by('adding-text').fill('{}');
  await by('adding-read').click();
  await hub.reply(await hub.next('readConfigText'), { readConfigText: { entries: [pasted] } });
  await settle();
  await by('adding-save').click();
  await settle();
  assert.match(await by('adding').innerText(), /This is required\./);
  assert.deepEqual(
    hub.all('addServer').filter((m) => !m.addServer?.preview),
    [],
  );
  await page.getByRole('textbox', { name: 'Value of key' }).fill('s3cret');
  assert.match(await by('adding').innerText(), /who can read the file can read it there/);
  await by('adding-save').click();
  assert.deepEqual((await order(opened)).addServer.changedForm, {
    command: 'uvx',
    args: ['fetch', 's3cret'],
    environment: {},
  });
});

pageTest('a server is added by keyboard alone', setup, async (opened) => {
  const { by, hub, page, settle } = opened;
  await by('add-server').focus();
  await page.keyboard.press('Enter');
  await hub.reply(await hub.next('listConfigFiles'), { listConfigFiles: { files } });
  await settle();
  const tabTo = async (/** @type {string} */ id) => {
    for (let i = 0; i < 40; i++) {
      if (await by(id).evaluate((element) => element === document.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`Tab does not reach ${id}`);
  };
  await tabTo('adding-way-command');
  await page.keyboard.press('ArrowRight');
  await settle();
  assert.equal(await by('adding-way-url').isChecked(), true);
  await tabTo('adding-name');
  await page.keyboard.type('tickets2');
  await tabTo('adding-url');
  await page.keyboard.type('https://tickets.example/mcp');
  await tabTo('adding-save');
  await page.keyboard.press('Enter');
  const sent = await order(opened);
  assert.equal(sent.addServer.form?.url, 'https://tickets.example/mcp');
  assert.equal(sent.addServer.server, 'tickets2');
});

pageTest(
  'tools that a started server lists late leave the focus where a person has moved it',
  setup,
  async (opened) => {
    const { by, hub, page, settle, focused } = opened;
    await openForm(opened);
    await by('adding-name').fill('notes');
    await by('adding-command').fill('npx');
    await by('adding-save').click();
    const sent = await order(opened);
    await hub.say({ serverChanged: { server: server('notes', { state: 'SERVER_STATE_STOPPED' }) } });
    await hub.wrote(sent, { ...written, undoId: 'u-1' });
    const start = await hub.next('startServer');
    await hub.say({ serverChanged: { server: server('notes') } });
    await hub.reply(start);
    await settle();
    await page.locator('#opened').getByTestId('stop-server').focus();
    hub.tools['notes'] = [tool('notes', 'list_notes', {})];
    await hub.say({ toolsChanged: { server: 'notes' } });
    await by('tool-list_notes').waitFor();
    await settle();
    assert.match(await focused(), /^button\[stop-server\]/, 'Enter would open what the server has put there');
  },
);

pageTest('a text of 10 MB is refused where it is pasted, and the page goes on', setup, async (opened) => {
  const { by, hub, page, settle } = opened;
  await openForm(opened);
  await by('adding-way-paste').check();
  await by('adding-text').evaluate((box) => {
    const data = new DataTransfer();
    data.setData('text', 'x'.repeat(10 << 20));
    box.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await settle();
  assert.match(await by('adding').innerText(), /too long: 10 MB/);
  assert.equal(await by('adding-text').inputValue(), '');
  await by('adding-text').evaluate((box) => {
    if (box instanceof HTMLTextAreaElement) box.value = 'x'.repeat(300_000);
  });
  await by('adding-read').click();
  await settle();
  assert.match(await by('adding').innerText(), /too long: 300 kB/);
  assert.deepEqual(hub.all('readConfigText'), []);
  assert.equal(await page.title(), 'McpHub');
});

pageTest(
  'names of 100,000 characters and texts of strangers stay in their place',
  { surface, viewport: { width: 320, height: 800 }, snapshot: { servers: [server('files')] } },
  async (opened) => {
    const { by, hub, page, settle } = opened;
    await openForm(opened);
    await by('adding-way-paste').check();
    await by('adding-text').fill('{}');
    await by('adding-read').click();
    const long = '<img src=x onerror=alert(1)>\u202e'.repeat(3500);
    await hub.reply(await hub.next('readConfigText'), {
      readConfigText: {
        entries: [
          {
            server: long,
            dialect: 'mcpServers',
            entryJson: '{}',
            form: { command: long, args: [long], environment: { [long]: long } },
          },
        ],
      },
    });
    await settle();
    assert.match(await by('adding').innerText(), /A name has at most 128 characters/);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    assert.equal(await page.locator('img').count(), 0);
  },
);

/** The commands of instructions, and what they become. @type {[text: string, name: string, fields: string[]][]} */
const given = [
  [
    'npx -y @modelcontextprotocol/server-everything',
    'everything',
    ['npx', '-y\n@modelcontextprotocol/server-everything'],
  ],
  ['uvx mcp-server-git --repository "my repo"', 'git', ['uvx', 'mcp-server-git\n--repository\nmy repo']],
  [
    'docker run -i --rm ghcr.io/github/github-mcp-server:v1',
    'github',
    ['docker', 'run\n-i\n--rm\nghcr.io/github/github-mcp-server:v1'],
  ],
  ['https://mcp.linear.app/sse', 'linear', ['https://mcp.linear.app/sse']],
];
pageTest('a command or an address that is pasted fills in the form, with a name', setup, async (opened) => {
  const { by, hub, settle } = opened;
  await openForm(opened);
  for (const [text, name, fields] of given) {
    await by('adding-way-paste').check();
    await by('adding-text').fill(text);
    await by('adding-read').click();
    await settle();
    assert.equal(await by('adding-name').inputValue(), name, text);
    const shown = fields.length === 1 ? ['adding-url'] : ['adding-command', 'adding-args'];
    assert.deepEqual(await Promise.all(shown.map((id) => by(id).inputValue())), fields);
  }
  assert.deepEqual(hub.all('readConfigText'), []);
});

mainTest(
  'from the command in the clipboard to the first call it is four clicks: Add and start, consent, tool, Call; a fifth cancels',
  { surface, snapshot: { servers: [] } },
  async (opened) => {
    const { by, hub, page, pass, settle, focused } = opened;
    assert.match(await focused(), /first-command/, 'nothing has to be clicked before');
    await paste(page, 'npx -y @example/notes-mcp');
    await hub.reply(await hub.next('listConfigFiles'), { listConfigFiles: { files } });
    await settle();
    await page.keyboard.press('Enter');
    await pass(500);
    assert.ok(
      hub.all('addServer').every((message) => message.addServer?.preview),
      'an Enter by habit was for the box that was there before',
    );
    assert.equal(await by('adding-name').inputValue(), 'notes');
    await page.keyboard.press('Enter'); // 1: the focus is in a field of the form
    const sent = await order(opened);
    assert.deepEqual(sent.addServer.form, { command: 'npx', args: ['-y', '@example/notes-mcp'], environment: {} });
    await hub.say({ serverChanged: { server: server('notes', { state: 'SERVER_STATE_STOPPED' }) } });
    await hub.wrote(sent, { ...written, undoId: 'u-1' });
    const start = await hub.next('startServer');
    await hub.say({ promptOpened: { prompt: launch } });
    await pass(700);
    await by('prompt-p-1').getByTestId('accept').click(); // 2
    const answer = await hub.next('answerPrompt');
    await hub.reply(answer);
    await hub.say({
      promptClosed: { promptId: 'p-1', cause: 'PROMPT_CAUSE_ANSWERED', windowId: hub.windowId, origin: 'ORIGIN_USER' },
    });
    await hub.reply(start); // first, as the page takes all this where it comes within one frame: it paints afterwards
    hub.tools['notes'] = [tool('notes', 'list_notes', { type: 'object', properties: {}, additionalProperties: false })];
    await hub.say({ serverChanged: { server: server('notes') } });
    await hub.say({ toolsChanged: { server: 'notes' } });
    await by('tool-list_notes').waitFor();
    await settle();
    await page.keyboard.press('Enter'); // 3
    await settle();
    await by('call').click(); // 4
    const { callTool } = await hub.next('callTool');
    assert.equal(callTool.tool, 'list_notes');
    await hub.say({ mcpRequestStarted: { request: { ...request(callTool.requestId ?? ''), server: 'notes' } } });
    await settle();
    await page.getByTestId('cancel').first().click(); // 5
    assert.equal((await hub.next('cancelMcpRequest')).cancelMcpRequest.requestId, callTool.requestId);
  },
);

pageTest(
  'what is pasted into a box that has text already is a part of it',
  { surface, snapshot: { servers: [] } },
  async ({ by, page, settle }) => {
    await by('first-command').fill('npx ');
    await paste(page, '-y @example/notes-mcp');
    await settle();
    assert.equal(await by('first-command').inputValue(), 'npx -y @example/notes-mcp');
    assert.equal(await by('adding').count(), 0);
  },
);

/** @param {import('../harness/pagetest.js').Page} page @param {string} text */
async function paste(page, text) {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.evaluate((what) => navigator.clipboard.writeText(what), text);
  await page.keyboard.press('Control+v');
}
