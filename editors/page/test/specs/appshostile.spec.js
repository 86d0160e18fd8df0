// Hostile views are contained: they reach neither the page nor the editor nor an address that they have not declared,
// and they block nothing else.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { inside, noted, notes, openTheView, resourceOf, untilGone, uri, viewOf, withView } from '../harness/views.js';

/** @typedef {import('../harness/pagetest.js').Opened} Opened */

/** Serves a site outside that records its requests. @param {(address: string, hits: string[]) => Promise<void>} body */
async function withOutside(body) {
  /** @type {string[]} */
  const hits = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? '');
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Content-Type', 'text/html');
    response.end('<p>outside</p>');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const bound = server.address();
  try {
    await body(`http://127.0.0.1:${typeof bound === 'object' && bound ? bound.port : 0}`, hits);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The browser's messages about a blocked view are no errors of the page. @param {Opened} opened */
const forgive = ({ noise }) => noise.splice(0);

mainTest(
  'a view can read neither the page, its outer frame nor the window above, and keeps nothing',
  withView,
  async (opened) => {
    const script = `
    const tries = {
      parent: () => parent.document.body, page: () => parent.parent.document.body, top: () => top.document.title,
      frames: () => parent.frames[0] === window && parent.location.href, storage: () => localStorage.length,
      cookie: () => document.cookie, opener: () => opener.name,
    };
    for (const [name, run] of Object.entries(tries)) {
      try { run(); note('could ' + name); } catch (error) { note('could not ' + name + ' ' + error.name); }
    }
    note('origin ' + origin);`;
    await openTheView(opened, resourceOf(viewOf(script)));
    await noted(opened, 'origin null');
    const said = (await notes(opened)).filter((text) => text.startsWith('could'));
    assert.equal(said.length, 7);
    for (const text of said) assert.match(text, /^could not \w+ (SecurityError|ReferenceError|TypeError)$/);
    forgive(opened);
  },
);

pageTest('a view reaches no place that it has not named', withView, async (opened) => {
  await withOutside(async (address, hits) => {
    const script = `
      const at = ${JSON.stringify(address)};
      const failed = (name) => () => note('no ' + name);
      const add = (tag, set) => { const e = document.createElement(tag); e.onerror = failed(tag); Object.assign(e, set); document.body.append(e); };
      await fetch(at + '/fetch').catch(failed('fetch'));
      try { new WebSocket(at.replace('http', 'ws')).onerror = failed('socket'); } catch { note('no socket'); }
      try { new EventSource(at + '/events').onerror = failed('events'); } catch { note('no events'); }
      note('beacon ' + navigator.sendBeacon(at + '/beacon', 'x'));
      add('img', { src: at + '/img' });
      add('script', { src: at + '/script' });
      add('link', { rel: 'stylesheet', href: at + '/style' });
      add('iframe', { src: at + '/frame' });
      add('object', { data: at + '/object' });
      add('video', { src: at + '/video' });
      const style = document.createElement('style');
      style.textContent = '@import url(' + at + '/import); @font-face { font-family: x; src: url(' + at + '/font) } body { font-family: x; background: url(' + at + '/back) }';
      document.head.append(style);
      try { new Worker(URL.createObjectURL(new Blob(['fetch("' + at + '/worker")']))).onerror = failed('worker'); } catch { note('no worker'); }
      const form = document.createElement('form'); form.action = at + '/form'; form.method = 'post'; document.body.append(form); form.submit();
      note('popup ' + window.open(at + '/popup'));
      try { alert(1); } catch {}
      note('tried');`;
    await openTheView(opened, resourceOf(viewOf(script)));
    await noted(opened, 'tried');
    for (const directive of ['connect-src', 'img-src', 'script-src-elem', 'style-src-elem', 'media-src'])
      await noted(opened, `blocked ${directive}`);
    await noted(opened, 'popup null');
    await opened.settle();
    assert.deepEqual(hits, [], 'nothing has come');
    assert.equal(await opened.by('view-r-1').locator('iframe').count(), 1);
  });
  forgive(opened);
});

for (const [name, script] of /** @type {[string, string][]} */ ([
  ['itself to a page outside', 'location.href = at + "/self?" + JSON.stringify(hello.result.hostContext.locale)'],
  ['itself to data:', 'location.href = "data:text/html,<script>parent.postMessage({jsonrpc:2},\\"*\\")</scr" + "ipt>"'],
  ['its outer frame', 'parent.location.href = at + "/parent"'],
  ['the page', 'parent.parent.location.href = at + "/page"'],
  ['the window above', 'top.location.href = at + "/top"'],
  [
    'itself by a download',
    'const a = document.createElement("a"); a.href = at + "/download"; a.download = "x"; document.body.append(a); a.click()',
  ],
  [
    'the window above by a link',
    'const a = document.createElement("a"); a.href = at + "/link"; a.target = "_top"; document.body.append(a); a.click()',
  ],
]))
  pageTest(`a view cannot lead ${name}`, withView, async (opened) => {
    await withOutside(async (address, hits) => {
      const before = opened.page.url();
      await openTheView(
        opened,
        resourceOf(
          viewOf(
            `const at = ${JSON.stringify(address)}; try { ${script} } catch (e) { note('refused ' + e.name) } note('tried')`,
          ),
        ),
      );
      // Either the view is blocked, or it has navigated away and the page has ended it.
      const tried = inside(opened).locator('#heard li').filter({ hasText: 'tried' });
      while ((await opened.by('view-r-1').count()) > 0 && (await tried.count()) === 0) await opened.pass(500);
      await opened.settle();
      assert.equal(opened.page.url(), before);
      assert.deepEqual(hits, []);
    });
    forgive(opened);
  });

pageTest('a view that becomes another document is closed, and it is said why', withView, async (opened) => {
  await openTheView(opened, resourceOf(viewOf('location.reload()')));
  await untilGone(opened);
  await opened.page.getByText('It tried to become another page.').waitFor();
  forgive(opened);
});

pageTest(
  'what a view posts to the page itself is no word of the hub, nor of another view',
  withView,
  async (opened) => {
    const { page, by, hub } = opened;
    const script = `
    for (const to of [parent.parent, top]) {
      to.postMessage({ hubConnection: { state: 'HUB_CONNECTION_STATE_FAILED', message: 'spoofed' } }, '*');
      to.postMessage({ snapshot: { servers: [{ name: 'spoofed' }] } }, '*');
      to.postMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'refresh' } }, '*');
    }
    parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-ended', params: { reason: 'flood' } }, '*');
    parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*');
    const frame = document.createElement('iframe');
    frame.srcdoc = '<script>for (const to of [parent, parent.parent, parent.parent.parent]) to.postMessage({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "refresh" } }, "*")</scr' + 'ipt>';
    frame.onload = async () => { await ask('ping'); note('posted'); };
    document.body.append(frame);`;
    await openTheView(opened, resourceOf(viewOf(script)));
    await noted(opened, 'posted');
    await opened.settle();
    assert.equal(await by('connection').isVisible(), false);
    assert.equal(await page.getByText('spoofed').count(), 0);
    assert.equal(await by('view-r-1').locator('iframe').count(), 1, 'nor of its outer frame');
    assert.deepEqual(hub.all('callTool'), []);
  },
);

pageTest('nothing is done for a view before it has greeted, nor twice', withView, async (opened) => {
  const { hub } = opened;
  const first = `
    send({ id: 'early', method: 'tools/call', params: { name: 'refresh' } });
    send({ method: 'ui/notifications/initialized' });
    send({ method: 'ui/notifications/request-teardown' });`;
  await openTheView(
    opened,
    resourceOf(viewOf(`note('again ' + JSON.stringify((await ask('ui/initialize', {})).error)); note('asked')`, first)),
  );
  await noted(opened, /again .*initialized already/);
  await noted(opened, 'asked');
  assert.deepEqual(hub.all('callTool'), []);
});

mainTest('junk is no message, and harms nobody', withView, async (opened) => {
  const script = `
    for (const junk of [null, 7, 'text', [], {}, { jsonrpc: '1.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', id: {}, method: 'ping' },
      { jsonrpc: '2.0', id: null, method: 'ping' }, { jsonrpc: '2.0', id: 'x'.repeat(300), method: 'ping' }, { jsonrpc: '2.0', method: 7 },
      { jsonrpc: '2.0', id: 'teardown', result: {} }, { jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: { height: 'x' } },
      { jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: null }, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } },
      { jsonrpc: '2.0', id: 'm', method: 'tools/call', params: { name: 7 } }, { jsonrpc: '2.0', id: 'n', method: 'tools/call', params: { name: 'refresh', arguments: [] } },
      { jsonrpc: '2.0', id: 'b', method: 'x'.repeat(5000) }, new Map(), new Date(), { f: new ArrayBuffer(9), jsonrpc: '2.0' }]) parent.postMessage(junk, '*');
    const circle = { jsonrpc: '2.0', method: 'ping' }; circle.params = circle; parent.postMessage(circle, '*');
    note('pong ' + JSON.stringify(await ask('ping')));`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, /pong .*"result":\{\}/);
  assert.deepEqual(opened.hub.all('callTool'), []);
});

pageTest('a view that floods is ended, and the page goes on meanwhile', withView, async (opened) => {
  const { page } = opened;
  await openTheView(
    opened,
    resourceOf(viewOf(`note('on'); await ask('ping'); for (let i = 0; i < 5000; i++) say('ping')`)),
  );
  await untilGone(opened);
  await page.getByText('It sent too many messages.').waitFor();
  forgive(opened);
});

pageTest('a view that sends what is too long is ended', withView, async (opened) => {
  await openTheView(
    opened,
    resourceOf(viewOf(`ask('tools/call', { name: 'refresh', arguments: { x: 'y'.repeat(5 << 20) } })`)),
  );
  await untilGone(opened);
  await opened.page.getByText('It sent a message that is too long.').waitFor();
  assert.deepEqual(opened.hub.all('callTool'), []);
  forgive(opened);
});

// Playwright's clock would wait for the view's turn.
const inRealTime = { ...withView, realTime: true };

pageTest('a view that never comes to rest holds up neither the page nor its end', inRealTime, async (opened) => {
  const { by } = opened;
  await openTheView(opened, resourceOf(viewOf(`await ask('ping'); note('on')`)));
  await noted(opened, 'on');
  // The test cannot evaluate anything in the view once its loop runs, so the test itself starts the loop.
  await inside(opened)
    .locator('body')
    .evaluate(() => {
      const turn = new MessageChannel();
      turn.port1.onmessage = () => {
        for (;;);
      };
      turn.port2.postMessage('go');
    });
  await by('view-close').click();
  await by('view-r-1').waitFor({ state: 'detached' });
  forgive(opened);
});

pageTest('endless changes of size stay within bounds', withView, async (opened) => {
  const { page, pass } = opened;
  const script = `
    let n = 0;
    setInterval(() => say('ui/notifications/size-changed', { height: ++n % 2 ? 1e12 : -5 }), 25);
    note('changing');`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, 'changing');
  const heights = await page.evaluateHandle(() => {
    const frame = document.querySelector('.view-frame iframe');
    /** @type {number[]} */
    const seen = [];
    const watch = new ResizeObserver(() => seen.push(frame?.getBoundingClientRect().height ?? 0));
    if (frame) watch.observe(frame);
    return seen;
  });
  for (let step = 0; step < 7; step++) await pass(50); // with 50 ms before and 50 ms after it: a second
  const seen = await heights.jsonValue();
  assert.ok(seen.length > 1, 'it changes');
  assert.ok(
    seen.every((height) => height >= 40 && height <= 1200),
    seen.join(' '),
  );
  assert.ok(seen.length <= 12, `${seen.length} changes in a second`);
});

pageTest('many requests at once are refused beyond a bound', withView, async (opened) => {
  const script = `
    const count = {};
    const answered = (what) => ({ error }) => { const key = what + ' ' + error?.message; count[key] = (count[key] ?? 0) + 1; };
    const all = [];
    for (let i = 0; i < 12; i++) all.push(ask('tools/call', { name: 'refresh' }).then(answered('call')));
    for (let i = 0; i < 40; i++) all.push(ask('ui/open-link', { url: 'https://docs.example/' }).then(answered('link')));
    await all[51];
    await ask('ping');
    note('count ' + JSON.stringify(count));`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, /^count .*"call Too many calls are open.":4/);
  await noted(opened, /^count .*"link (Too many requests are open|The user did not open it)/);
  assert.equal(opened.hub.all('callTool').length, 8);
  assert.equal(await opened.by('view-open-link').count(), 1, 'one question at a time');
});

pageTest(
  'what the list of resources says of a view counts where its content says nothing',
  withView,
  async (opened) => {
    const { by, hub } = opened;
    const listed = (/** @type {string} */ of, /** @type {string} */ host) => ({
      server: 'charts',
      uri: of,
      definitionJson: JSON.stringify({ uri: of, _meta: { ui: { csp: { connectDomains: [`https://${host}`] } } } }),
    });
    hub.answers['listResources'] = ({ listResources }) => {
      assert.equal(listResources?.query, uri);
      return { listResources: { resources: [listed(`${uri}/more`, 'other.example'), listed(uri, 'listed.example')] } };
    };
    await openTheView(opened, resourceOf(viewOf('')));
    await by('view-consent').waitFor();
    assert.match(await by('view-r-1').innerText(), /This view connects to https:\/\/listed\.example\./);
  },
);

pageTest('what a content says of itself is all that counts', withView, async (opened) => {
  opened.hub.answers['listResources'] = () => assert.fail('the list was asked for');
  await openTheView(opened, resourceOf(viewOf(''), { prefersBorder: true }));
  await noted(opened, 'greeted');
});

pageTest(
  'places outside are named before anything is loaded, and only plain ones are allowed',
  withView,
  async (opened) => {
    const { by, page } = opened;
    const csp = {
      connectDomains: [
        'https://api.example',
        'https://x.example; script-src *',
        'http://127.0.0.1:1',
        '*',
        'https://*',
      ],
      resourceDomains: ['https://*.cdn.example', "'unsafe-eval'", 'data:'],
    };
    await openTheView(
      opened,
      resourceOf(viewOf(`note(JSON.stringify(hello.result.hostCapabilities.sandbox))`), { csp }),
    );
    const consent = by('view-consent');
    await consent.waitFor();
    assert.equal(await by('view-r-1').locator('iframe').count(), 0);
    const text = await by('view-r-1').innerText();
    assert.match(
      text,
      /This view connects to https:\/\/api\.example, https:\/\/\*\.cdn\.example\. Not allowed: .*script-src/,
    );
    await opened.pass(700);
    await consent.click();
    await noted(
      opened,
      '{"permissions":{},"csp":{"connectDomains":["https://api.example"],"resourceDomains":["https://*.cdn.example"]}}',
    );
    const src = new URL((await by('view-r-1').locator('iframe').getAttribute('src')) ?? '');
    assert.equal(
      src.searchParams.get('csp'),
      "default-src 'none'; script-src 'unsafe-inline' https://*.cdn.example; style-src 'unsafe-inline' https://*.cdn.example; img-src data: https://*.cdn.example; media-src data: https://*.cdn.example; font-src https://*.cdn.example; connect-src https://api.example; frame-src 'none'; base-uri 'none'; object-src 'none'; form-action 'none'",
    );
    assert.equal(await page.locator('.view-frame iframe').getAttribute('allow'), '');
  },
);

pageTest(
  'at most four views are open at once',
  {
    ...withView,
    snapshot: {
      ...withView.snapshot,
      requests: [1, 2, 3, 4, 5].map((n) => ({ ...withView.snapshot.requests[0], requestId: `r-${n}` })),
    },
  },
  async (opened) => {
    const { by, page } = opened;
    await by('show-view').nth(4).waitFor();
    for (let n = 0; n < 5; n++) await by('show-view').nth(n).click();
    await page.getByText('At most 4 views can be open. Close one first.').waitFor();
    assert.equal(await page.locator('.view-of-call').count(), 4);
  },
);
