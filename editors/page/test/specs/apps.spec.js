// Views of tool calls (MCP Apps): what the page tells a view, and what it does for it.

import assert from 'node:assert/strict';
import { violations } from '../harness/axe.js';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { noted, notes, openTheView, resourceOf, uri, viewOf, withView } from '../harness/views.js';
import { cancelled, finished, prompts } from '../harness/world.js';

pageTest(
  'without an outer frame nothing is offered, and no server is told that views are shown',
  { ...withView, apps: false },
  async ({ hub, by, settle }) => {
    await settle();
    assert.equal(hub.all('hello')[0]?.hello?.extensionsJson ?? '', '');
    assert.equal(await by('show-view').count(), 1);
    assert.equal(await by('show-view').isVisible(), false);
    assert.equal(await by('to-views').isVisible(), false);
    assert.deepEqual(hub.all('listTools'), []);
  },
);

mainTest('a view is greeted, gets the arguments once, and then the result as it came', withView, async (opened) => {
  const { hub, by } = opened;
  assert.equal(
    hub.all('hello')[0]?.hello?.extensionsJson,
    '{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}',
  );
  const read = await openTheView(opened, resourceOf(viewOf('note(JSON.stringify(hello.result))')));
  assert.deepEqual(
    { ...read.readResource, requestId: '' },
    { requestId: '', server: 'charts', uri, appRequestId: 'r-1', ownerWindowId: hub.windowId },
  );
  await noted(opened, 'tool-input {"arguments":{"of":"sales"}}');
  const end = finished('r-1', {
    server: 'charts',
    tool: 'draw',
    resultJson: '{"content":[],"x":1}',
    resultSizeBytes: '20',
  });
  await hub.say({ mcpRequestFinished: end.finished ?? {} });
  await noted(opened, 'tool-result {"content":[],"x":1}');
  const said = await notes(opened);
  assert.match(said[0] ?? '', /^greeted 2026-01-26/, 'nothing comes before it is initialized');
  assert.equal(said.filter((text) => text.startsWith('tool-')).length, 2, said.join('\n'));
  const hello = said.find((text) => text.startsWith('{')) ?? '';
  for (const part of [
    '"theme":"dark"',
    '"hostInfo":{"name":"McpHub"',
    '"displayMode":"inline"',
    '"--color-text-primary":"rgb',
    '"permissions":{}',
    '"name":"draw"',
  ])
    assert.ok(hello.includes(part), `${part} of ${hello}`);
  assert.equal((hello.match(/"--[a-z]/g) ?? []).length, 76, 'all variables of the list');
  await opened.retheme('light');
  await noted(opened, /host-context-changed .*"theme":"light"/);
  await by('view-close').click();
  await by('view-r-1').waitFor({ state: 'detached' });
});

for (const [name, end, reason] of /** @type {[string, ReturnType<typeof cancelled>, string][]} */ ([
  ['a person', cancelled('r-1', { cancellation: { origin: 'ORIGIN_USER', reason: 'wrong year' } }), 'wrong year'],
  [
    'a person who gives no reason',
    cancelled('r-1', { cancellation: { origin: 'ORIGIN_USER' } }),
    'It was cancelled by ',
  ],
  [
    'the client of a gateway',
    cancelled('r-1', { cancellation: { origin: 'ORIGIN_HOST', reason: 'cancelled in Visual Studio Code' } }),
    'cancelled in Visual Studio Code',
  ],
  [
    'the end of its window',
    cancelled('r-1', { cancellation: { origin: 'ORIGIN_HOST', reason: 'the window that owns the call has closed' } }),
    'the window that owns',
  ],
  [
    'a clock',
    cancelled('r-1', { cancellation: { origin: 'ORIGIN_TIMEOUT' }, error: { message: 'no sign of life for 5m' } }),
    'no sign of life for 5m',
  ],
  [
    'the end of its server',
    finished('r-1', {
      state: 'REQUEST_STATE_FAILED',
      hubError: { reason: 'SERVER_GONE', message: 'server charts has ended' },
    }),
    'server charts has ended',
  ],
  [
    'an error of its server',
    finished('r-1', { state: 'REQUEST_STATE_FAILED', mcpError: { code: '-32000', message: 'no data' } }),
    'no data',
  ],
]))
  pageTest(`a view hears why there is no result: by ${name}`, withView, async (opened) => {
    await openTheView(opened, resourceOf(viewOf('')));
    await noted(opened, 'tool-input');
    if (end.cancelled)
      await opened.hub.say({ mcpRequestCancelled: { ...end.cancelled, server: 'charts', tool: 'draw' } });
    if (end.finished) await opened.hub.say({ mcpRequestFinished: { ...end.finished, server: 'charts', tool: 'draw' } });
    await noted(opened, `tool-cancelled {"reason":"${reason}`);
    assert.equal((await notes(opened)).filter((text) => /^tool-(result|cancelled)/.test(text)).length, 1);
  });

pageTest(
  'the view of a tool that is not known when its call begins is offered once it is',
  { ...withView, tools: {} },
  async ({ hub, by, settle }) => {
    await hub.next('listTools');
    await settle();
    assert.equal(await by('show-view').isVisible(), false);
    hub.tools = withView.tools;
    await hub.say({ toolsChanged: { server: 'charts' } });
    await by('show-view').waitFor();
  },
);

pageTest('a view hears that its hub has ended', withView, async (opened) => {
  await openTheView(opened, resourceOf(viewOf('')));
  await noted(opened, 'tool-input');
  opened.hub.hubId = 'hub-2';
  opened.hub.snapshot = {};
  await opened.hub.welcome();
  await noted(opened, 'tool-cancelled {"reason":"The hub has ended."}');
});

pageTest(
  'a view calls tools and reads resources of its own server, by requests of the window that name its call',
  withView,
  async (opened) => {
    const { hub } = opened;
    const script = `
    note('call ' + JSON.stringify(await ask('tools/call', { name: 'refresh', arguments: { n: 1 }, server: 'other' })));
    note('refused ' + JSON.stringify(await ask('tools/call', { name: 'secret' })));
    note('read ' + JSON.stringify(await ask('resources/read', { uri: 'ui://charts/data', server: 'other' })));
    note('list ' + JSON.stringify((await ask('tools/list')).result.tools.map((t) => t.name)));
    note('none ' + JSON.stringify(await ask('sampling/createMessage')));`;
    await openTheView(opened, resourceOf(viewOf(script)));
    const call = await hub.next('callTool');
    const requestId = call.callTool.requestId ?? '';
    assert.deepEqual(call.callTool, {
      requestId,
      server: 'charts',
      tool: 'refresh',
      argumentsJson: '{"n":1}',
      appRequestId: 'r-1',
      ownerWindowId: hub.windowId,
    });
    await hub.say({
      mcpRequestFinished:
        finished(requestId, {
          server: 'charts',
          tool: 'refresh',
          resultJson: '{"content":[{"type":"text","text":"new"}]}',
          resultSizeBytes: '9',
        }).finished ?? {},
    });
    await hub.reply(call);
    await noted(opened, 'call {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"new"}]}}');
    await hub.reply(await hub.next('callTool'), {
      error: { code: 'PERMISSION_DENIED', reason: 'NOT_FOR_APPS', message: 'not for views' },
    });
    await noted(opened, /refused .*-32000.*not for views/);
    const read = await hub.next('readResource');
    assert.deepEqual(
      { ...read.readResource, requestId: '' },
      { requestId: '', server: 'charts', uri: 'ui://charts/data', appRequestId: 'r-1', ownerWindowId: hub.windowId },
    );
    hub.kept[`${read.readResource.requestId} RESULT`] = '{"contents":[]}';
    await hub.reply(read);
    await noted(opened, 'read {"jsonrpc":"2.0","id":4,"result":{"contents":[]}}');
    await noted(opened, 'list ["draw","refresh"]');
    await noted(opened, /none .*-32601/);
  },
);

mainTest(
  'what a view cancels is cancelled with its reason; what it waits for is cancelled when it is closed',
  withView,
  async (opened) => {
    const { hub, by } = opened;
    const script = `
    ask('tools/call', { name: 'refresh' }).then(() => note('answered'));
    ask('tools/call', { name: 'refresh' });
    say('notifications/cancelled', { requestId: 2, reason: 'not needed' });`;
    await openTheView(opened, resourceOf(viewOf(script)));
    const [one, two] = [await hub.next('callTool'), await hub.next('callTool')];
    assert.deepEqual((await hub.next('cancelMcpRequest')).cancelMcpRequest, {
      requestId: one.callTool.requestId,
      reason: 'not needed',
    });
    await hub.reply(one, { error: { code: 'CANCELLED', message: 'cancelled' } });
    await by('view-close').click();
    assert.deepEqual((await hub.next('cancelMcpRequest')).cancelMcpRequest, {
      requestId: two.callTool.requestId,
      reason: 'The user closed it.',
    });
    await by('view-r-1').waitFor({ state: 'detached' });
  },
);

pageTest('a view grows within bounds, fills the page and comes back, and is told of each', withView, async (opened) => {
  const { by, page, pass } = opened;
  const script = `
    say('ui/notifications/size-changed', { width: 9, height: 333 });
    note('pip ' + JSON.stringify((await ask('ui/request-display-mode', { mode: 'pip' })).result));`;
  await openTheView(opened, resourceOf(viewOf(script)));
  const frame = by('view-r-1').locator('iframe');
  const height = async () => (await frame.boundingBox())?.height;
  await noted(opened, 'pip {"mode":"inline"}');
  await pass(200);
  await page.waitForFunction(() => document.querySelector('.view-frame iframe')?.clientHeight === 333 - 2);
  assert.equal(await height(), 333);
  await by('view-grow').click();
  await noted(opened, 'host-context-changed {"displayMode":"fullscreen"}');
  assert.ok(((await frame.boundingBox())?.width ?? 0) > 400);
  await by('view-r-1').press('Escape');
  await noted(opened, 'host-context-changed {"displayMode":"inline"}');
});

pageTest('a page is opened outside only when a person wants it, and only one of the web', withView, async (opened) => {
  const { by } = opened;
  const script = `
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'command:x', 7]) note('no ' + JSON.stringify((await ask('ui/open-link', { url })).error));
    note('first ' + JSON.stringify(await ask('ui/open-link', { url: 'https://docs.example/a' })));
    note('second ' + JSON.stringify(await ask('ui/open-link', { url: 'https://docs.example/b' })));`;
  await openTheView(opened, resourceOf(viewOf(script)));
  const link = by('view-open-link');
  await link.waitFor();
  assert.equal(await link.getAttribute('href'), 'https://docs.example/a');
  await by('view-refuse-link').click();
  await noted(opened, /first .*did not open/);
  await link.waitFor();
  assert.equal(await link.getAttribute('target'), '_blank');
  await opened.pass(700);
  await opened.page.locator('[data-testid="view-open-link"]:not([aria-disabled])').waitFor();
  await link.evaluate((element) => {
    element.addEventListener('click', (event) => event.preventDefault());
    element.dispatchEvent(new MouseEvent('click', { cancelable: true }));
  });
  await opened.settle(); // the answer comes after the browser has followed the link
  await noted(opened, 'second {"jsonrpc":"2.0","id":7,"result":{}}');
  assert.equal((await notes(opened)).filter((text) => text.startsWith('no ') && text.includes('-32602')).length, 4);
});

pageTest('what a view says to a chat, a model or a log is shown as text', withView, async (opened) => {
  const { by } = opened;
  const script = `
    await ask('ui/message', { role: 'user', content: [{ type: 'text', text: '<b>Draw\\u202e 2024</b>' }] });
    await ask('ui/update-model-context', { content: { type: 'text', text: 'the user looks at May' } });
    say('notifications/message', { level: 'info', data: { a: 1 } });
    note('said');`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, 'said');
  await by('view-r-1').getByText('For the model: the user looks at May').waitFor();
  const text = await by('view-r-1').innerText();
  assert.match(text, /For the chat: <b>Draw.*2024<\/b>/);
  assert.doesNotMatch(text, /\u202e/);
  assert.match(text, /Log, info: \{"a":1\}/);
});

pageTest('a view that does not answer its end goes all the same', withView, async (opened) => {
  await openTheView(opened, resourceOf(viewOf('window.stubborn = true; note("stubborn")')));
  await noted(opened, 'stubborn');
  await opened.by('view-close').click();
  await noted(opened, 'ui/resource-teardown {"reason":"The user closed it."}');
  await opened.pass(2_000);
  await opened.by('view-r-1').waitFor({ state: 'detached' });
});

for (const [name, resource, said] of /** @type {[string, string, RegExp][]} */ ([
  ['of another type', resourceOf('<p>', undefined, 'text/html'), /its type is not/],
  ['that is empty', '{"contents":[]}', /returned nothing/],
  [
    'that names too many places',
    resourceOf('<p>', {
      csp: { resourceDomains: Array.from({ length: 32 }, (_, i) => `https://a${i}.${'x'.repeat(60)}.example`) },
    }),
    /too many addresses/,
  ],
]))
  pageTest(`a view ${name} is not shown, and it is said why`, withView, async (opened) => {
    await openTheView(opened, resource);
    await opened.by('view-r-1').getByRole('alert').getByText(said).waitFor();
    assert.equal(await opened.by('view-r-1').locator('iframe').count(), 0);
  });

pageTest(
  'the frame of a view is tried at one address after the other, and where none answers it is said',
  { ...withView, surface: { apps: ['http://127.0.0.1:9/x'] } },
  async (opened) => {
    await openTheView(opened, resourceOf(viewOf('')));
    await opened.by('view-r-1').locator('iframe').waitFor();
    await opened.pass(10_000);
    await opened.by('view-r-1').getByRole('alert').getByText('could not be loaded').waitFor();
    assert.equal(await opened.by('view-r-1').locator('iframe').count(), 0);
    opened.noise.splice(0);
  },
);

pageTest(
  "a frame of the page's own origin is given none, and comes last",
  { ...withView, surface: { apps: ['/page/apps/sandbox.html', 'http://127.0.0.1:9/x'] } },
  async (opened) => {
    await openTheView(
      opened,
      resourceOf(viewOf('try { parent.parent.document.body; note("in") } catch (e) { note("out " + e.name) }')),
    );
    await opened.by('view-r-1').locator('iframe[src^="http://127.0.0.1:9/"]').waitFor();
    await opened.pass(10_000);
    await noted(opened, 'out SecurityError');
    await noted(opened, 'tool-input');
    assert.equal(await opened.by('view-r-1').locator('iframe').getAttribute('sandbox'), 'allow-scripts');
    opened.noise.splice(0);
  },
);

pageTest('an open view and its question can be read by everybody', withView, async (opened) => {
  await openTheView(opened, resourceOf(viewOf(`await ask('ui/open-link', { url: 'https://docs.example/' })`)));
  await opened.by('view-open-link').waitFor();
  await noted(opened, 'tool-input');
  for (const theme of ['dark', 'light', 'high-contrast']) {
    await opened.retheme(theme);
    assert.deepEqual(await violations(opened.page), []);
  }
});

mainTest(
  'a host that shows only what it opens shows the view of that, too, and nothing else that is live',
  { ...withView, surface: { shows: 'opened' } },
  async (opened) => {
    const { hub, by, page, settle } = opened;
    const { snapshot } = withView;
    await hub.say({ snapshot: { ...snapshot, prompts: [prompts.form] } });
    await hub.say({ mcpRequestFinished: finished('r-1', { server: 'charts', tool: 'draw' }).finished ?? {} });
    await hub.say({ open: { requestId: 'r-1' } });
    await settle();
    assert.equal(await page.locator('#now').isVisible(), false);
    await openTheView(opened, resourceOf(viewOf('')));
    await noted(opened, 'greeted');
    assert.equal(await by('view-r-1').isVisible(), true);
    assert.equal(await by('prompt-p-form').isVisible(), false);
  },
);
