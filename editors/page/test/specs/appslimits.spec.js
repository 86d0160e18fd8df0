// Views can use only a limited part of the page's and the hub's time, and honest views stay below the limits.

import assert from 'node:assert/strict';
import { pageTest } from '../harness/pagetest.js';
import { inside, noted, openTheView, resourceOf, untilGone, viewOf, withView } from '../harness/views.js';
import { server, tool } from '../harness/world.js';

/** @typedef {import('../harness/pagetest.js').Opened} Opened */

/** Counts how often the page reads the data of messages from views. @param {Opened} opened */
const countLooks = ({ page }) =>
  page.evaluate(() => {
    const counted = /** @type {Window & { looks?: number }} */ (window);
    const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, 'data');
    counted.looks = 0;
    Object.defineProperty(MessageEvent.prototype, 'data', {
      /** @this {MessageEvent} */
      get() {
        if (this.origin === 'null') counted.looks = (counted.looks ?? 0) + 1;
        return /** @type {unknown} */ (data?.get?.call(this));
      },
    });
  });

pageTest('what a view posts past its outer frame is not even looked at', withView, async (opened) => {
  await countLooks(opened);
  const script = `
    for (let i = 0; i < 20; i++) { parent.parent.postMessage({ jsonrpc: '2.0', method: 'ping' }, '*'); top.postMessage(i, '*'); }
    await ask('ping');
    note('posted');`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, 'posted');
  await opened.settle();
  assert.equal(await opened.page.evaluate(() => /** @type {Window & { looks?: number }} */ (window).looks), 0);
  assert.equal(await opened.by('view-r-1').locator('iframe').count(), 1, 'a few end nothing');
});

for (const [name, script] of /** @type {[string, string][]} */ ([
  ['', `for (let i = 0; i < 5000; i++) parent.parent.postMessage(i, '*');`],
  [
    ' from a frame of its own',
    `const frame = document.createElement('iframe');
    frame.srcdoc = '<script>for (let i = 0; i < 5000; i++) top.postMessage(i, "*")</scr' + 'ipt>';
    document.body.append(frame);`,
  ],
  [
    ' from frames that it takes away',
    `const flood = () => {
      const frame = document.createElement('iframe');
      frame.srcdoc = '<script>for (let i = 0; i < 500; i++) top.postMessage(i, "*"); parent.postMessage("done", "*")</scr' + 'ipt>';
      addEventListener('message', function done({ source }) {
        if (source !== frame.contentWindow) return;
        removeEventListener('message', done);
        frame.remove();
        flood();
      });
      document.body.append(frame);
    };
    flood();`,
  ],
]))
  pageTest(`a view that floods the page past its outer frame${name} is ended`, withView, async (opened) => {
    const { page, noise } = opened;
    await openTheView(opened, resourceOf(viewOf(script)));
    await untilGone(opened);
    await page.getByText('It sent too many messages.').waitFor();
    noise.splice(0);
  });

pageTest(
  'a call of a tool without a view costs one list of tools, however often it tells its progress',
  { ...withView, tools: { charts: [tool('charts', 'draw', { type: 'object' })] } },
  async ({ hub, by, settle }) => {
    await hub.next('listTools');
    for (let n = 1; n <= 100; n++) {
      await hub.say({ mcpRequestProgressed: { requestId: 'r-1', server: 'charts', progress: { progress: n } } });
      await settle();
    }
    assert.equal(hub.all('listTools').length, 1);
    hub.tools = withView.tools;
    await hub.say({ serverChanged: { server: server('charts', { state: 'SERVER_STATE_CONNECTING' }) } });
    await hub.say({ serverChanged: { server: server('charts') } });
    await by('show-view').waitFor();
    assert.equal(hub.all('listTools').length, 2);
  },
);

pageTest('a view that asks for its tools again and again costs the hub one list', withView, async (opened) => {
  const { hub, by } = opened;
  const script = `
    const list = async () => (await ask('tools/list')).result.tools.map((t) => t.name).join();
    await Promise.all(Array.from({ length: 12 }, async (_, i) => { const { error } = await ask('tools/list'); note(i + ' at once ' + error?.message); }));
    for (let i = 0; i < 30; i++) window.listed = await list();
    note('listed ' + listed);
    addEventListener('click', async () => note('later ' + await list()));`;
  await by('show-view').waitFor();
  await hub.next('listTools');
  hub.silent.add('listTools');
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, '11 at once Too many calls are open.');
  await hub.reply(await hub.next('listTools'), { listTools: { tools: withView.tools.charts } });
  await noted(opened, '7 at once undefined');
  await noted(opened, 'listed draw,refresh');
  assert.equal(hub.all('listTools').length, 2, 'one by the page, one for the view');
  hub.silent.clear();
  hub.tools = { charts: [tool('charts', 'new', { type: 'object' })] };
  await hub.say({ toolsChanged: { server: 'charts' } });
  await opened.settle();
  await by('view-use').click();
  await inside(opened)
    .locator('html')
    .click({ position: { x: 5, y: 5 } });
  await noted(opened, 'later new');
  assert.equal(hub.all('listTools').length, 3);
});

pageTest('a view gets no more bytes of lists than a page can post', withView, async (opened) => {
  const { hub, by } = opened;
  const script = `
    addEventListener('click', async () => {
      const { result, error } = await ask('tools/list');
      note('list ' + (result ? result.tools.length : error.message));
    });`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, 'tool-input');
  await by('view-use').click();
  const press = () =>
    inside(opened)
      .locator('html')
      .click({ position: { x: 5, y: 5 } });
  const long = (/** @type {number} */ size) => ({
    charts: [
      { ...tool('charts', 'x', {}), definitionJson: JSON.stringify({ name: 'x', description: 'y'.repeat(size) }) },
    ],
  });
  hub.tools = long(9 << 20);
  await press();
  await noted(opened, /^list It is too large for a view: 9.4 MB\.$/);
  hub.tools = long(6 << 20);
  await press();
  await opened.settle();
  assert.equal(hub.all('listTools').length, 2, 'what is too long is kept as that');
  await hub.say({ toolsChanged: { server: 'charts' } });
  await opened.settle();
  for (const said of [/^list 1$/, /^list 1$/, /^list It has asked for its tools too often\.$/]) {
    await press();
    await noted(opened, said);
  }
});

pageTest('an animation of the size is no flood, and its last size stays', withView, async (opened) => {
  const script = `
    for (let i = 0; i < 40; i++) {
      for (let n = 0; n < 100; n++) say('ui/notifications/size-changed', { height: 100 + n });
      await ask('ping');
    }
    say('ui/notifications/size-changed', { height: 321 });
    note('pong ' + JSON.stringify((await ask('ping')).result));`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, 'pong {}');
  for (let step = 0; step < 2; step++) await opened.pass(200); // the outer frame's pause, then the page's
  await opened.page.waitForFunction(() => document.querySelector('.view-frame iframe')?.clientHeight === 321 - 2);
});

pageTest('every request of a view is answered, and one too many with an error', withView, async (opened) => {
  const script = `
    const count = {};
    await Promise.all(Array.from({ length: 700 }, () => ask('ping').then(({ error }) => {
      const what = error?.message ?? 'pong';
      count[what] = (count[what] ?? 0) + 1;
    })));
    note('answered ' + Object.keys(count).sort().join() + ' ' + Object.values(count).reduce((a, b) => a + b));`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, /^answered Too many messages at once\..*pong 700$/);
});
