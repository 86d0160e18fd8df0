// Protection of the user and of the call from a view: clicks that were meant for something else, the focus, long data,
// and a view that is closed early.

import assert from 'node:assert/strict';
import { pageTest } from '../harness/pagetest.js';
import { inside, noted, openTheView, resourceOf, viewOf, withView } from '../harness/views.js';
import { finished } from '../harness/world.js';

pageTest('a link of a view takes no click that was meant for what stood there before', withView, async (opened) => {
  const { page, by } = opened;
  await page.evaluate(() => {
    document.addEventListener('click', (event) => {
      const { target, detail } = event;
      if (!(target instanceof Element && target.matches('[data-testid="view-open-link"]'))) return;
      target.setAttribute(
        'data-clicks',
        `${target.getAttribute('data-clicks') ?? ''} ${detail} ${!event.defaultPrevented}`,
      );
      event.preventDefault();
    });
    new MutationObserver((_, observer) => {
      const link = document.querySelector('[data-testid="view-open-link"]');
      if (!link) return;
      observer.disconnect();
      for (const detail of [1, 0])
        link.dispatchEvent(new MouseEvent('click', { detail, bubbles: true, cancelable: true }));
    }).observe(document.body, { subtree: true, childList: true });
  });
  const script = `note('link ' + JSON.stringify(await ask('ui/open-link', { url: 'https://docs.example/' })));`;
  await openTheView(opened, resourceOf(viewOf(script)));
  const link = by('view-open-link');
  await link.waitFor();
  assert.equal(await link.getAttribute('data-clicks'), ' 1 false 0 false');
  assert.equal(await link.getAttribute('aria-disabled'), 'true', 'aria-disabled shows the guard');
  await opened.pass(700);
  await page.locator('[data-testid="view-open-link"]:not([aria-disabled])').waitFor();
  const click = (/** @type {number} */ detail) =>
    link.evaluate((element, detail) => {
      element.dispatchEvent(new MouseEvent('click', { detail, bubbles: true, cancelable: true }));
      return element.getAttribute('data-clicks');
    }, detail);
  assert.match((await click(2)) ?? '', / 2 false$/, 'the second of a double click');
  assert.match((await click(1)) ?? '', / 1 true$/);
  await opened.settle(); // the answer comes after the browser has followed the link
  await noted(opened, 'link {"jsonrpc":"2.0","id":2,"result":{}}');
});

pageTest('a view that is closed while it is being read reads no more', withView, async (opened) => {
  const { by, hub } = opened;
  await by('show-view').click();
  const read = await hub.next('readResource');
  await by('view-close').click();
  assert.deepEqual((await hub.next('cancelMcpRequest')).cancelMcpRequest, {
    requestId: read.readResource.requestId,
    reason: 'The user closed it.',
  });
  await by('view-r-1').waitFor({ state: 'detached' });
  hub.kept[`${read.readResource.requestId} RESULT`] = resourceOf(viewOf(''));
  await hub.reply(read);
  await opened.settle();
  assert.deepEqual(hub.all('readRequest'), []);
});

pageTest(
  'a view that is closed while its frame is looked for leaves nothing behind',
  { ...withView, surface: { apps: ['http://127.0.0.1:9/x', 'http://127.0.0.1:9/y'] } },
  async (opened) => {
    const { by, page } = opened;
    const listening = () => page.evaluate(() => /** @type {Window & { hears?: number }} */ (window).hears);
    await page.evaluate(() => {
      const counted = /** @type {Window & { hears?: number }} */ (window);
      counted.hears = 0;
      for (const [name, by] of /** @type {const} */ ([
        ['addEventListener', 1],
        ['removeEventListener', -1],
      ])) {
        const before = /** @type {(...all: unknown[]) => void} */ (window[name].bind(window));
        window[name] = (/** @type {unknown[]} */ ...all) => {
          // The test's own listeners have the option once.
          if (all[0] === 'message' && all[2] === undefined) counted.hears = (counted.hears ?? 0) + by;
          before(...all);
        };
      }
    });
    await openTheView(opened, resourceOf(viewOf('')));
    await by('view-r-1').locator('iframe').waitFor();
    assert.equal(await listening(), 1);
    await by('view-close').click();
    await by('view-r-1').waitFor({ state: 'detached' });
    assert.equal(await listening(), 0);
    opened.noise.splice(0);
  },
);

pageTest('a view that goes late takes no focus that has gone elsewhere', withView, async (opened) => {
  const { by, page } = opened;
  await openTheView(opened, resourceOf(viewOf('window.stubborn = true; note("stubborn")')));
  await noted(opened, 'stubborn');
  await by('view-close').click();
  await page.locator('#title').focus();
  await opened.pass(2_000);
  await by('view-r-1').waitFor({ state: 'detached' });
  await opened.settle();
  assert.equal(await opened.focused(), 'h1 McpHub');
});

pageTest('a view that is closed gives its focus to what is there', withView, async (opened) => {
  await openTheView(opened, resourceOf(viewOf('')));
  await noted(opened, 'tool-input');
  await opened.by('view-close').click();
  await opened.by('view-r-1').waitFor({ state: 'detached' });
  assert.match(await opened.focused(), /^li\[request-r-1\]/);
});

pageTest(
  'a view in a browser hears when that becomes light or dark',
  { ...withView, surface: { kind: 'web' } },
  async (opened) => {
    await openTheView(opened, resourceOf(viewOf('')));
    await noted(opened, 'tool-input');
    await opened.page.emulateMedia({ colorScheme: 'light' });
    await noted(opened, /host-context-changed .*"theme":"light"/);
  },
);

pageTest('a view is greeted with how it is shown by then', withView, async (opened) => {
  // Told by the test, and not by its size: a frame is not told of that while the browser does not draw its tab.
  const html = viewOf('note(hello.result.hostContext.displayMode)').replace(
    /ask\('ui\/initialize', (.*?)\)\.then/,
    (_, /** @type {string} */ params) =>
      `new Promise((begin) => (window.begun ? begin() : addEventListener('begin', begin))).then(() => ask('ui/initialize', ${params})).then`,
  );
  await openTheView(opened, resourceOf(html));
  await opened.by('view-grow').click();
  await inside(opened)
    .locator('#heard')
    .evaluate(() => Object.assign(window, { begun: true }).dispatchEvent(new Event('begin')));
  await noted(opened, 'fullscreen');
});

pageTest('a result that is too long for a view is told as that, with its size', withView, async (opened) => {
  const { hub } = opened;
  const script = `note('call ' + JSON.stringify((await ask('tools/call', { name: 'refresh' })).error));`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, 'tool-input');
  const call = await hub.next('callTool');
  hub.kept[`${call.callTool.requestId} RESULT`] = 'x'.repeat(9 << 20);
  hub.kept['r-1 RESULT'] = 'x'.repeat(9 << 20);
  await hub.reply(call);
  await noted(opened, 'call {"code":-32000,"message":"It is too large for a view: 9.4 MB."}');
  const end = finished('r-1', { server: 'charts', tool: 'draw', resultSizeBytes: String(9 << 20) }).finished ?? {};
  await hub.say({ mcpRequestFinished: { ...end, resultJson: '' } });
  await noted(opened, 'tool-cancelled {"reason":"It is too large for a view: 9.4 MB."}');
  await opened.by('view-r-1').getByText('The view has no result: It is too large for a view: 9.4 MB.').waitFor();
});

pageTest('a view gets a result that is longer than the page shows', withView, async (opened) => {
  const { hub } = opened;
  const script = `addEventListener('message', ({ data }) => data.method?.endsWith('tool-result') && note('long ' + data.params.x.length));`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, 'tool-input');
  hub.kept['r-1 RESULT'] = JSON.stringify({ content: [], x: 'y'.repeat(5 << 20) });
  const end = finished('r-1', { server: 'charts', tool: 'draw', resultSizeBytes: String(5 << 20) }).finished ?? {};
  await hub.say({ mcpRequestFinished: { ...end, resultJson: '' } });
  await noted(opened, `long ${5 << 20}`);
});

pageTest('arguments that cannot be read are not told as none', withView, async (opened) => {
  await openTheView(opened, resourceOf(viewOf('')), JSON.stringify({ x: 'y'.repeat(5 << 20) }));
  await noted(opened, /^tool-input \{\}$/);
  await opened.by('view-r-1').getByText('The view has no arguments: It is too large for a view: 5.2 MB.').waitFor();
});
