// The form that adds a server, as a person leaves it halfway.

/** Fills the form that adds a server, as far as a faulty name. @param {import('./pagetest.js').Opened} opened */
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
  await hub.reply(hub.all('addServer').at(-1) ?? {}, {
    configWrite: {
      server: 'notes',
      configFile: '/config/mcp.json',
      needsConsent: true,
      linesBefore: '  "servers": {}\n',
      linesAfter: '  "servers": {\n    "notes": {\n      "type": "stdio",\n      "command": "npx"\n    }\n  }\n',
      problems: [{ key: 'cwd', message: 'is relative: it begins at the file', server: 'notes' }],
    },
  });
  await by('adding-name').fill('');
  await by('adding-save').click();
  await pass(50);
}
