// The first start: what a user without a server sees, and the guide to the demo server.

import assert from 'node:assert/strict';
import { violations } from '../harness/axe.js';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { themeNames } from '../harness/themes.js';
import { at, cancelled, server } from '../harness/world.js';

const commands = ['mcphub.getStarted', 'mcphub.createConfig', 'mcphub.addDemoServer', 'mcphub.removeDemoServer'];
const demo = { server: 'mcphub-demo', file: 'McpHub demo server' };
const inEditor = { commands, demo, configWrites: true };
const demoServer = server('mcphub-demo', { configFile: 'McpHub demo server', configLine: 1, configScope: 'host' });

/** @param {import('../harness/pagetest.js').Page} page */
async function assertAccessible(page) {
  const found = await violations(page, ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']);
  assert.deepEqual(
    found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
    [],
  );
}

mainTest(
  'without a server the page has one box to begin with, and the demo, until there is one',
  { surface: inEditor },
  async ({ by, hub, page, settle }) => {
    await settle();
    const begin = by('first-start');
    await begin.waitFor();
    assert.deepEqual(await begin.getByRole('link').evaluateAll((links) => links.map((a) => a.getAttribute('href'))), [
      'command:mcphub.addDemoServer?%5B%5D',
      'command:mcphub.createConfig?%5B%5D',
      'command:mcphub.getStarted?%5B%5D',
    ]);
    await assertAccessible(page);
    await begin.getByTestId('first-continue').click();
    assert.match(await begin.innerText(), /Paste a command, a URL or a config first/);
    await begin.getByTestId('first-registry').click();
    await page.getByRole('heading', { name: 'Add a server' }).waitFor();
    await page.keyboard.press('Escape');
    await hub.say({ serverChanged: { server: server('files') } });
    await settle();
    assert.equal(await begin.isVisible(), false);
    assert.equal(await by('add-server').isVisible(), true);
    assert.equal(await by('demo-guide').isVisible(), false, 'a server of the user is no demo');
  },
);

pageTest(
  'nothing is said to be missing before the hub has said what there is',
  { surface: inEditor, unwelcomed: true },
  async ({ by, settle }) => {
    await settle();
    assert.equal(await by('first-start').isVisible(), false);
  },
);

pageTest('the ways to begin are reached by keys alone', { surface: inEditor }, async ({ by, page, settle }) => {
  await settle();
  /** @type {string[]} */
  const passed = [];
  assert.equal(await by('first-command').evaluate((box) => box === document.activeElement), true, 'ready for a paste');
  for (let step = 0; step < 20 && !passed.includes('Open the walkthrough'); step++) {
    await page.keyboard.press('Tab');
    passed.push((await page.evaluate(() => document.activeElement?.textContent ?? '')).trim());
  }
  assert.deepEqual(passed, [
    'Continue',
    'Find in the registry',
    'Try the demo server',
    'Open or create a config file',
    'Open the walkthrough',
  ]);
});

pageTest(
  'the guide of the demo calls its two tools, says what was seen, and goes with the second server',
  { surface: inEditor, snapshot: { servers: [demoServer] } },
  async ({ by, hub, page, settle }) => {
    await settle();
    await by('demo-slow').click();
    const slow = (await hub.next('callTool')).callTool;
    assert.deepEqual(
      [slow.server, slow.tool, slow.argumentsJson],
      ['mcphub-demo', 'sleep', '{"seconds":60,"steps":60}'],
    );
    await by('demo-ask').click();
    const asking = (await hub.next('callTool')).callTool;
    assert.equal(asking.tool, 'ask_then_withdraw');
    assert.equal(await by('demo-slow-seen').isVisible(), false);

    await hub.say({
      mcpRequestCancelled: {
        requestId: slow.requestId ?? '',
        server: 'mcphub-demo',
        direction: 'REQUEST_DIRECTION_OUTGOING',
        method: 'tools/call',
        tool: 'sleep',
        cancellation: { origin: 'ORIGIN_USER', reason: 'seen enough', time: at(0) },
      },
    });
    await by('demo-slow-seen').waitFor();
    assert.equal(await by('demo-ask-seen').isVisible(), false);
    await hub.say({
      mcpRequestCancelled: {
        requestId: 'q',
        server: 'mcphub-demo',
        direction: 'REQUEST_DIRECTION_INCOMING',
        method: 'elicitation/create',
        cancellation: { origin: 'ORIGIN_SERVER', reason: 'no more use', time: at(0) },
      },
    });
    await by('demo-ask-seen').waitFor();
    await assertAccessible(page);

    await hub.say({ serverChanged: { server: server('files') } });
    await settle();
    assert.equal(await by('demo-guide').isVisible(), false);
  },
);

pageTest(
  'a file that takes the name of the demo server has no guide',
  { surface: inEditor, snapshot: { servers: [server('mcphub-demo')] } },
  async ({ by, settle }) => {
    await settle();
    assert.equal(await by('demo-guide').isVisible(), false);
  },
);

const entryJson = '{"command":"/opt/mcphub","args":["demo-server"]}';
const inBrowser = {
  kind: /** @type {const} */ ('web'),
  socket: '/stream',
  demo: { server: 'mcphub-demo', command: '/opt/mcphub', entryJson },
};

pageTest(
  'in a browser the demo is written into a file by one click, and what is refused is told beside it',
  { surface: inBrowser },
  async ({ by, hub, page, settle }) => {
    await settle();
    await assertAccessible(page);
    hub.silent.add('addServer').add('listConfigFiles');
    await by('add-demo').click();
    const files = [{ path: '/w/bad.toml', notWritable: 'a form that cannot be changed' }, { path: '/w/.mcp.json' }];
    await hub.reply(await hub.next('listConfigFiles'), { listConfigFiles: { files } });
    const asked = await hub.next('addServer');
    assert.deepEqual(asked.addServer, { server: 'mcphub-demo', entryJson, configFile: '/w/.mcp.json' });
    await hub.reply(asked, { error: { code: 'FAILED_PRECONDITION', message: 'no file is known' } });
    await by('first-start').getByRole('alert').getByText('no file is known').waitFor();
  },
);

for (const theme of themeNames)
  pageTest(
    `the first start can be read in ${theme}`,
    { theme, surface: inEditor },
    async ({ page, by, hub, settle }) => {
      await settle();
      await by('first-start').waitFor();
      const colours = async () =>
        (await violations(page, ['color-contrast', 'link-in-text-block'])).map(({ nodes }) => nodes[0]?.html);
      assert.deepEqual(await colours(), []);
      await hub.say({
        snapshot: { servers: [demoServer], history: [cancelled('h', { server: 'mcphub-demo', tool: 'sleep' })] },
      });
      await by('demo-slow-seen').waitFor();
      assert.deepEqual(await colours(), []);
    },
  );
