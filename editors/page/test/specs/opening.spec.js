// What a host opens on the page, where it shows one part of it: what is live, or one thing.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { prompts, request, server } from '../harness/world.js';

const files = { snapshot: { servers: [server('files', { place: 1 })] } };

mainTest(
  'a host opens a server on a page that shows one thing, and nothing else is there',
  { ...files, surface: { shows: 'opened' } },
  async ({ page, hub, settle }) => {
    await hub.say({ open: { server: 'files' } });
    await settle();
    await page.getByRole('heading', { name: 'files', level: 2 }).waitFor();
    assert.equal(await page.getByTestId('servers-list').isVisible(), false);
    assert.equal(await page.getByRole('heading', { name: 'History' }).isVisible(), false);
    await hub.say({ open: { server: 'later' } });
    await hub.say({ serverChanged: { server: server('later', { place: 2 }) } });
    await settle();
    await page.getByRole('heading', { name: 'later', level: 2 }).waitFor(); // once it is known
  },
);

pageTest(
  'a page of one thing points to no question whose card stands in another place of the host',
  { snapshot: { ...files.snapshot, prompts: [prompts.form] }, surface: { shows: 'opened' } },
  async ({ by, hub, page, settle }) => {
    await hub.say({ open: { server: 'files' } });
    await page.getByRole('heading', { name: 'files', level: 2 }).waitFor();
    await settle();
    assert.equal(await by('prompt-p-form').isVisible(), false);
    assert.equal(await by('strip').isVisible(), false);
  },
);

pageTest(
  'the focus that an editor gives to the page goes to its heading, and not to the body',
  { ...files, surface: { shows: 'now' } },
  async ({ page, settle }) => {
    await settle();
    assert.equal(await page.getByTestId('servers-list').isVisible(), false);
    await page.evaluate(() => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      window.dispatchEvent(new FocusEvent('focus'));
    });
    assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), 'BODY');
  },
);

pageTest(
  'where a host shows only what is live, the first start stands there',
  { snapshot: {}, surface: { shows: 'now', configWrites: true } },
  async ({ by, page, settle }) => {
    await settle();
    assert.equal(await by('first-command').isVisible(), true);
    assert.equal(await page.getByRole('heading', { name: 'Connect your first MCP server' }).isVisible(), true);
  },
);

// An editor takes no click of a script on a link of its commands: the browser would follow the link, and the page be
// gone.
mainTest(
  'what is shown in another place of the host is opened there, and the page stays as it is',
  {
    snapshot: { ...files.snapshot, requests: [request('r-1')], prompts: [prompts.form] },
    surface: { shows: 'now', commands: ['mcphub.open'] },
  },
  async ({ by, hub, page, settle }) => {
    await hub.say({ mcpRequestCancelled: { requestId: 'r-1', server: 'files', tool: 'index_folder' } });
    await settle();
    await by('note-r-1').getByRole('button').first().click();
    await settle();
    assert.deepEqual(hub.ran, [{ command: 'mcphub.open', args: [{ requestId: 'r-1' }] }]);
    assert.equal(await page.locator('a[href^="command:"]').count(), 0);
    assert.equal(await by('prompt-p-form').count(), 1);
  },
);
