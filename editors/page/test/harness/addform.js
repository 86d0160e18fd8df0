// The form that adds a server, half filled in, and the config files that the hub lists for it.

import { server } from './world.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/config_pb.js').ConfigFileJson} ConfigFileJson */

/** @type {ConfigFileJson[]} */
export const files = [
  {
    path: '/config/.cursor/mcp.json',
    scope: 'user',
    dialect: 'cursor',
    exists: true,
    servers: ['tickets'],
    environmentReference: '${env:NAME}',
    takesUrls: true,
  },
  {
    path: '/config/.config/Code/User/mcp.json',
    scope: 'user',
    dialect: 'vscode',
    exists: true,
    servers: ['files'],
    isDefault: true,
    environmentReference: '${env:NAME}',
    takesInputs: true,
    takesUrls: true,
  },
  { path: '/config/claude_desktop_config.json', scope: 'user', dialect: 'claude-desktop', exists: true },
  { path: '/config/broken.json', scope: 'user', exists: true, notWritable: 'the file cannot be read', line: 7 },
];
export const vscodeFile = '/config/.config/Code/User/mcp.json';
export const written = {
  server: 'notes',
  configFile: vscodeFile,
  configLine: 9,
  configDialect: 'vscode',
  needsConsent: true,
};
export const surface = { configWrites: true, commands: ['mcphub.openConfig'] };
export const setup = { surface, snapshot: { servers: [server('files')] } };

/**
 * Fills in the form that adds a server, and tries to save it without a name.
 * @param {import('./pagetest.js').Opened} opened
 */
export async function fillAddForm({ by, hub, page, pass }) {
  await by('add-server').click();
  await hub.reply(await hub.next('listConfigFiles'), {
    listConfigFiles: {
      files: [
        { path: '/config/mcp.json', scope: 'user', exists: true, isDefault: true, takesInputs: true, takesUrls: true },
        { path: '/config/claude.json', scope: 'user', exists: true, notWritable: 'it cannot be read', line: 3 },
      ],
    },
  });
  await pass(50);
  await by('adding-name').fill('notes');
  await by('adding-command').fill('npx');
  await by('adding-args').fill('-y\n@example/notes-mcp\n--folder\nmy notes');
  for (const [name, value] of [
    ['API_KEY', ''],
    ['LEVEL', 'debug'],
  ]) {
    await page.getByRole('button', { name: 'Add a variable' }).click();
    await page
      .getByRole('textbox', { name: 'Name of the variable' })
      .last()
      .fill(name ?? '');
    if (value) await page.getByRole('textbox', { name: `Value of ${name ?? ''}` }).fill(value);
  }
  await pass(400);
  await hub.wrote(hub.all('addServer').at(-1) ?? {}, {
    server: 'notes',
    configFile: '/config/mcp.json',
    needsConsent: true,
    linesBefore: '  "servers": {}\n',
    linesAfter: '  "servers": {\n    "notes": {\n      "type": "stdio",\n      "command": "npx"\n    }\n  }\n',
    problems: [{ key: 'cwd', message: 'is relative: it begins at the file', server: 'notes' }],
  });
  await by('adding-name').fill('');
  await by('adding-save').click();
  await pass(50);
}
