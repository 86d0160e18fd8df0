// Servers from a registry or a bundle: what the hub is asked, how texts of strangers are shown, and what the form for
// the entry contains.

import assert from 'node:assert/strict';
import { violations } from '../harness/axe.js';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { server } from '../harness/world.js';

/** @typedef {import('../harness/pagetest.js').Opened} Opened */

const file = '/userim/.config/Code/User/mcp.json';
/** @type {import('../../../host/src/gen/mcphub/v1/config_pb.js').ConfigFileJson[]} */
const files = [
  {
    path: file,
    scope: 'user',
    dialect: 'vscode',
    exists: true,
    isDefault: true,
    environmentReference: '${env:NAME}',
    takesInputs: true,
    takesUrls: true,
  },
];
export const setup = {
  surface: { configWrites: true, commands: ['mcphub.openConfig'] },
  snapshot: { servers: [server('files')] },
};

/** @type {import('../../../host/src/gen/mcphub/v1/registry_pb.js').RegistryServerJson[]} */
export const found = [
  {
    name: 'io.example/weather',
    publisher: 'io.example',
    title: 'Weather',
    description: 'Forecasts for every place, and warnings',
    version: '1.2.0',
    status: 'REGISTRY_STATUS_ACTIVE',
    repositoryUrl: 'https://example.com/weather',
    kinds: ['npm', 'remote'],
  },
  {
    name: 'io.example/old-weather',
    publisher: 'io.example',
    description: '<img src=x onerror=alert(1)> \u202egnihtyna',
    version: '0.1.0',
    status: 'REGISTRY_STATUS_DEPRECATED',
    statusMessage: 'use weather',
    kinds: ['mcpb'],
  },
];

/** @type {import('../../../host/src/gen/mcphub/v1/registry_pb.js').ServerProposalJson[]} */
export const proposals = [
  {
    proposalId: 'p-npm',
    server: 'weather',
    kind: 'npm',
    subject: 'weather-mcp@1.2.0',
    form: { command: 'npx', args: ['-y', 'weather-mcp@1.2.0'], environment: { KEY: '${input:w-1.KEY}' } },
    inputs: [
      { id: 'w-1.KEY', title: 'KEY', description: 'Your key', required: true, secret: true },
      { id: 'w-1.UNIT', title: 'UNIT', description: 'Of degrees', required: true, choices: ['c', 'f'] },
      { id: 'w-1.dir', title: '--dir', multiple: true, description: 'Folders' },
      { id: 'w-1.TOKEN', title: 'TOKEN', secret: true },
    ],
    warnings: ['It sets the variable PATH, which can make it run another program.'],
  },
  {
    proposalId: 'p-cargo',
    server: 'weather',
    kind: 'cargo',
    subject: 'weather',
    unusable: 'McpHub starts no packages of the kind "cargo".',
  },
];

/** @param {Opened} opened @param {string} way */
export async function openWay({ by, hub, settle }, way) {
  await by('add-server').click();
  await hub.reply(await hub.next('listConfigFiles'), { listConfigFiles: { files } });
  await settle();
  await by(`adding-way-${way}`).check();
  await settle();
}

/** Searches, and answers with the servers above. @param {Opened} opened */
export async function search(opened) {
  const { by, hub, page, settle } = opened;
  await openWay(opened, 'registry');
  await by('registry-query').fill('weather');
  await page.keyboard.press('Enter');
  const asked = await hub.next('searchRegistry');
  assert.deepEqual(asked.searchRegistry, { query: 'weather', cursor: '' });
  await hub.reply(asked, { searchRegistry: { servers: found, nextCursor: 'more' } });
  await settle();
}

mainTest(
  'a server of a registry is found by the keyboard alone, its values are filled in, and it is in the form',
  setup,
  async (opened) => {
    const { by, hub, page, pass, settle, focused } = opened;
    await openWay(opened, 'registry');
    assert.equal(hub.sent.filter((m) => m.searchRegistry).length, 0, 'nothing is sent before somebody asks');
    await by('registry-query').focus();
    await page.keyboard.type('weather');
    await page.keyboard.press('Enter');
    const asked = await hub.next('searchRegistry');
    await hub.reply(asked, { searchRegistry: { servers: found, nextCursor: 'more' } });
    await settle();
    assert.match(await by('adding').innerText(), /2 servers found/);
    await page.keyboard.press('ArrowDown');
    assert.match(await focused(), /Weather/);
    await page.keyboard.press('ArrowDown');
    assert.match(await focused(), /old-weather/);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const details = await hub.next('getRegistryServer');
    assert.deepEqual(details.getRegistryServer, { name: 'io.example/weather', version: '1.2.0' });
    await hub.reply(details, { getRegistryServer: { server: found[0] ?? {}, proposals } });
    await settle();
    const text = await by('adding').innerText();
    assert.match(text, /published by io\.example/);
    assert.match(text, /Cannot be added here\. McpHub starts no packages/);
    assert.match(text, /can make it run another program/);
    assert.ok(!(await by('offer-cargo').locator('input').isEnabled()));

    await by('offer-go').click();
    const first = await hub.next('fillProposal');
    await hub.reply(first, { fillProposal: { form: {}, entryJson: '{}', missing: ['w-1.UNIT'] } });
    await settle();
    assert.match(await by('adding').innerText(), /This is required\./);
    assert.match(await focused(), /UNIT/);
    await by('offer-input-UNIT').selectOption('c');
    await by('offer-input---dir').fill('/a\n/b c');
    await by('offer-go').click();
    const filled = await hub.next('fillProposal');
    assert.deepEqual(filled.fillProposal, {
      proposalId: 'p-npm',
      values: { 'w-1.UNIT': { values: ['c'] }, 'w-1.dir': { values: ['/a', '/b c'] }, 'w-1.TOKEN': { values: [] } },
    });
    const form = {
      command: 'npx',
      args: ['-y', 'weather-mcp@1.2.0', '--dir', '/a', '--dir', '/b c'],
      environment: { KEY: '${input:w-1.KEY}', UNIT: 'c' },
    };
    const entryJson = '{"inputs": [], "servers": {"weather": {"env": {"KEY": "${input:w-1.KEY}"}}}}';
    await hub.reply(filled, { fillProposal: { form, entryJson } });
    await settle();
    assert.equal(await by('adding-name').inputValue(), 'weather');
    assert.equal(await by('adding-command').inputValue(), 'npx');
    const all = await by('adding').innerText();
    assert.match(all, /Forecasts for every place/);
    assert.match(all, /From the registry: io\.example\/weather 1\.2\.0/);
    assert.match(all, /Values for this server\s+KEY/);
    await pass(1_000);
    const sent = await hub.next('addServer');
    assert.equal(sent.addServer.proposalId, 'p-npm');
    assert.equal(sent.addServer.entryJson, entryJson);
    assert.equal(sent.addServer.entryDialect, 'vscode');
    assert.deepEqual(sent.addServer.inputs, [{ id: 'w-1.KEY', description: 'Your key', secret: true }]);
  },
);

pageTest('a registry that fails or answers late is told, stopped, and asked for more', setup, async (opened) => {
  const { by, hub, page, settle } = opened;
  await search(opened);
  assert.equal(await page.locator('img[src="x"]').count(), 0, 'texts of strangers are texts');
  assert.match(await by('registry-results').innerText(), /deprecated/);
  await by('registry-more').click();
  const more = await hub.next('searchRegistry');
  assert.deepEqual(more.searchRegistry, { query: 'weather', cursor: 'more' });
  await hub.reply(more, { searchRegistry: { servers: [{ name: 'io.example/third', version: '1', title: 'Third' }] } });
  await settle();
  assert.equal(await by('registry-results').locator('button').count(), 3);
  assert.ok(!(await by('registry-more').isVisible()));

  await by('registry-query').fill('slow');
  await by('registry-search').click();
  const slow = await hub.next('searchRegistry');
  await settle();
  await by('finding-stop').click();
  assert.deepEqual((await hub.next('giveUp')).giveUp, { messageId: slow.messageId });
  await hub.reply(slow, { searchRegistry: { servers: found } });
  await settle();
  assert.equal(await by('registry-results').locator('button').count(), 0, 'what was given up is not shown');
  assert.match(await by('adding').innerText(), /Stopped\./);

  await by('registry-search').click();
  await hub.reply(await hub.next('searchRegistry'), {
    error: { code: 'UNAVAILABLE', reason: 'REGISTRY_FAILED', message: 'registry.example cannot be reached' },
  });
  await settle();
  assert.match(await by('finding-problem').innerText(), /registry\.example cannot be reached/);
});

pageTest('a bundle is chosen in a dialog of the host, and what is in it comes into the form', setup, async (opened) => {
  const { by, hub, settle } = opened;
  await openWay(opened, 'bundle');
  await by('bundle-choose').click();
  await hub.reply(await hub.next('chooseBundle'), {
    error: { code: 'CANCELLED', reason: 'BUNDLE_NOT_CHOSEN', message: 'No bundle was chosen.' },
  });
  await settle();
  assert.equal(await by('finding-problem').innerText(), '');
  await by('bundle-choose').click();
  const chosen = await hub.next('chooseBundle');
  await hub.reply(chosen, {
    readBundle: {
      proposal: { proposalId: 'p-b', server: 'notes', kind: 'mcpb', subject: 'notes 1.0.0', form: { command: 'node' } },
      title: 'Notes',
      author: 'Somebody',
      version: '1.0.0',
      sha256: 'ab'.repeat(32),
      bundleBytes: '2048',
      unpackedBytes: '4096',
      folder: '/userim/state/bundles/notes-ab',
      tools: ['add_note'],
    },
  });
  await settle();
  const text = await by('adding').innerText();
  for (const part of [/by Somebody, according to the bundle/, /Tools: add_note/, /bundles\/notes-ab/])
    assert.match(text, part);
  await by('offer-go').click();
  await hub.reply(await hub.next('fillProposal'), {
    fillProposal: {
      form: { command: 'node', args: ['/userim/state/bundles/notes-ab/index.js'] },
      entryJson: '{"servers": {}}',
    },
  });
  await settle();
  assert.equal(await by('adding-name').inputValue(), 'notes');
  assert.match(await by('adding').innerText(), /SHA-256 abab/);
  await opened.pass(1_000);
  assert.equal((await hub.next('addServer')).addServer.proposalId, 'p-b');
});

pageTest('a bundle that was chosen at the host is read at once', setup, async (opened) => {
  const { by, hub, settle } = opened;
  await hub.say({ openAddServer: { bundle: true } });
  await hub.reply(await hub.next('chooseBundle'), {
    readBundle: { proposal: { proposalId: 'p-b', kind: 'mcpb', subject: 'notes 1.0.0' }, title: 'Notes' },
  });
  await settle();
  assert.match(await by('adding').innerText(), /Notes/);
  assert.ok(await by('adding-way-bundle').isChecked());
});

pageTest('what was found can be used by everybody', setup, async (opened) => {
  const { by, hub, page, settle } = opened;
  await search(opened);
  assert.deepEqual(await violations(page), []);
  await by('registry-io.example/weather').click();
  await hub.reply(await hub.next('getRegistryServer'), { getRegistryServer: { server: found[0] ?? {}, proposals } });
  await settle();
  assert.deepEqual(await violations(page), []);
});

pageTest('who goes back, or closes the form, gives up what is under way', setup, async (opened) => {
  const { by, hub, page, settle, focused } = opened;
  await search(opened);
  await by('registry-io.example/weather').click();
  const bundle = { proposalId: 'p-b', server: 'weather', kind: 'mcpb', subject: 'weather.mcpb', needsDownload: true };
  await hub.reply(await hub.next('getRegistryServer'), {
    getRegistryServer: { server: found[0] ?? {}, proposals: [bundle] },
  });
  await settle();
  await by('offer-go').click();
  const download = await hub.next('readBundle');
  await by('adding').getByRole('button', { name: 'Back to the list' }).click();
  assert.deepEqual((await hub.next('giveUp')).giveUp, { messageId: download.messageId });
  await hub.reply(download, { readBundle: { proposal: bundle, title: 'Late' } });
  await settle();
  assert.doesNotMatch(await by('adding').innerText(), /Late|Reading the bundle/);
  assert.match(await focused(), /Weather/, 'the focus stays in the list');

  await by('registry-search').click();
  const slow = await hub.next('searchRegistry');
  await settle();
  await page.keyboard.press('Escape');
  assert.deepEqual((await hub.next('giveUp')).giveUp, { messageId: slow.messageId });
});

pageTest('a reply about one offer does not fill the form with another one', setup, async (opened) => {
  const { by, hub, settle } = opened;
  await search(opened);
  await by('registry-io.example/weather').click();
  const [npm = {}] = proposals;
  const remote = { proposalId: 'p-url', server: 'weather', kind: 'remote', subject: 'https://weather.example/mcp' };
  await hub.reply(await hub.next('getRegistryServer'), {
    getRegistryServer: { server: found[0] ?? {}, proposals: [{ ...npm, inputs: [] }, remote] },
  });
  await settle();
  await by('offer-go').click();
  const filled = await hub.next('fillProposal');
  await by('offer-remote').locator('input').check();
  await hub.reply(filled, { fillProposal: { form: { command: 'npx' }, entryJson: '{}' } });
  await settle();
  assert.equal(await by('offer-remote').isVisible(), true, 'what was chosen meanwhile is still to be looked at');
  await by('offer-go').click();
  assert.equal((await hub.next('fillProposal')).fillProposal.proposalId, 'p-url');
});
