// All results can be read, and their contents can do nothing.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { ended, hostileMarkdown, markdown, png, wav, withHistory } from '../harness/results.js';
import { finished, prompts, request, server } from '../harness/world.js';

/** @typedef {import('../harness/pagetest.js').Opened} Opened */

const commands = [
  'mcphub.openPart',
  'mcphub.savePart',
  'mcphub.copyPart',
  'mcphub.compareResults',
  'mcphub.saveReport',
];
const web = /** @type {const} */ ({ kind: 'web', socket: '/stream', opensUrls: true });

/** Opens the details of a request. @param {Opened} opened @param {string} id */
async function open({ by, page, settle }, id) {
  const back = page.getByRole('button', { name: 'Back', exact: true });
  if (await back.isVisible()) await back.click();
  await by(`ended-${id}`).click();
  await settle();
  return page.getByTestId('result');
}

/** Chooses an entry of the menu of what is open. @param {Opened} opened @param {string} name */
async function choose({ page }, name) {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menu').getByText(name, { exact: true }).click();
}

/** Returns the links of an open menu, with their commands. @param {Opened} opened */
async function menuLinks({ page }) {
  await page.getByRole('button', { name: 'More actions' }).click();
  const links = await page
    .getByRole('menu')
    .locator('a')
    .evaluateAll((all) => all.map((a) => `${a.textContent} ${decodeURIComponent(a.getAttribute('href') ?? '')}`));
  await page.keyboard.press('Escape');
  return links;
}

mainTest(
  'markdown becomes elements without HTML: the parser is loaded when it is wanted, links leave by the editor, no picture is fetched',
  {
    snapshot: withHistory(
      ended('h-1', {
        content: [
          { type: 'text', text: markdown },
          { type: 'text', text: hostileMarkdown },
        ],
      }),
    ),
  },
  async (opened) => {
    const { page, settle } = opened;
    /** @type {string[]} */
    const fetched = [];
    page.on('request', (request) => fetched.push(request.url()));
    const result = await open(opened, 'h-1');
    assert.deepEqual(fetched, [], 'nothing is fetched to show text');
    for (const button of await result.getByRole('button', { name: 'Markdown' }).all()) await button.click();
    const [first, second] = [page.getByTestId('markdown').first(), page.getByTestId('markdown').nth(1)];
    await second.waitFor();
    await settle();
    assert.deepEqual(
      fetched.map((url) => new URL(url).pathname),
      ['/page/gen/markdown.js'],
    );
    assert.equal(await first.getByRole('heading', { name: 'Report' }).getAttribute('aria-level'), '3');
    assert.equal(await first.locator('table tr').count(), 3);
    assert.equal(await first.locator('ul > li').count(), 2);
    assert.equal(await first.locator('strong').innerText(), 'weight');
    const links = await page
      .getByTestId('markdown')
      .locator('a')
      .evaluateAll((all) =>
        all.map((a) => `${a.getAttribute('href')} ${a.getAttribute('target')} ${a.getAttribute('rel')}`),
      );
    const outside = '_blank noopener noreferrer';
    assert.deepEqual(links, [
      `https://example.com/a ${outside}`,
      `https://example.com/ ${outside}`,
      `https://auto.example/ ${outside}`,
      `https://tracker.example/pixel.png ${outside}`,
    ]);
    const text = await second.innerText();
    assert.match(text, /<script>window\.pwned = 1<\/script>/);
    assert.match(text, /⟨U\+202E⟩/);
    assert.equal(await page.evaluate(() => 'pwned' in window), false);
    assert.equal(await page.getByTestId('markdown').locator('img, script, iframe').count(), 0);
  },
);

mainTest(
  'a result says first that it is done and how long it took, then shows what came; a text that repeats its JSON comes once',
  {
    snapshot: withHistory(
      ended('h-1', {
        content: [
          { type: 'text', text: 'Two of 14 files match.' },
          { type: 'text', text: '{"matches":2,"size":12345678901234567890}' },
          { type: 'image', mimeType: 'image/png', data: png(30, 20) },
        ],
        structuredContent: { matches: 2 },
      }),
      ended('h-2', '{"content":[{"type":"text","text":"{\\"n\\":1.0}"}],"structuredContent":{"n":1.0}}'),
    ),
  },
  async (opened) => {
    const { by, page, settle } = opened;
    const result = await open(opened, 'h-1');
    await result.getByTestId('picture').waitFor();
    assert.deepEqual((await by('ended-details').innerText()).split('\n').filter(Boolean).slice(0, 4), [
      'Done in 1.3 s',
      'Call again',
      'Show timeline',
      'Two of 14 files match.',
    ]);
    assert.match(await result.innerText(), /"matches": 2,\s+"size": 12345678901234567890/, 'exact numbers');
    await open(opened, 'h-2');
    await settle();
    assert.equal((await result.innerText()).match(/"n": 1\.0/g)?.length, 1);
    assert.equal(await page.getByRole('region', { name: /^Result/ }).count(), 0, 'a result is no landmark');
  },
);

mainTest(
  'JSON is a tree: keys move in it, a search finds names and values, and a deep one costs nothing',
  {
    snapshot: withHistory(
      ended('h-1', {
        structuredContent: {
          files: [
            { name: 'a.go', lines: 12 },
            { name: 'b.go', lines: 7 },
          ],
          total: 2,
          rest: Array.from({ length: 50 }, (_, i) => i),
        },
        content: [],
      }),
      ended('deep', `{"content":[{"type":"text","text":"x"}],"deep":${'['.repeat(10_000)}${']'.repeat(10_000)}}`),
      ended('wide', { structuredContent: Array.from({ length: 20_000 }, (_, i) => `value ${i}`), content: [] }),
    ),
  },
  async (opened) => {
    const { page, settle, focused } = opened;
    const result = await open(opened, 'h-1');
    const tree = result.getByRole('tree');
    await tree.waitFor();
    await tree.focus();
    assert.match(await tree.innerText(), /files: \[2\]/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.match(await page.getByTestId('json-path').innerText(), /^\$\.files\[0\]$/);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.match(await page.getByTestId('json-path').innerText(), /^\$\.files\[0\]\.name$/);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await tree.getByRole('treeitem', { expanded: false }).count(), 3);
    await result.getByRole('searchbox', { name: 'Find in Structured content' }).fill('B.GO');
    await result.getByText('1 of 1').waitFor();
    assert.match(await page.getByTestId('json-path').innerText(), /^\$\.files\[1\]\.name$/);
    const selected = tree.getByRole('treeitem', { selected: true });
    assert.match(await selected.innerText(), /name: "b\.go"/);
    assert.equal(await selected.getAttribute('aria-level'), '4');
    await result.getByRole('searchbox').fill('nowhere');
    await result.getByText('No results').waitFor();
    await result.getByRole('searchbox').fill('lines');
    await result.getByText('1 of 2').waitFor();
    await page.keyboard.press('Enter');
    await result.getByText('2 of 2').waitFor();
    assert.match(await focused(), /Find in Structured content/);

    await open(opened, 'deep');
    await choose(opened, 'Show whole result as JSON');
    const box = page.getByTestId('result').getByRole('searchbox');
    await box.waitFor();
    const tree2 = page.getByTestId('result').getByRole('tree');
    await tree2.focus();
    await page.keyboard.press('End');
    for (let i = 0; i < 30; i++) await page.keyboard.press('ArrowRight');
    await settle();
    assert.ok((await page.locator('*').count()) < 1500);

    await open(opened, 'wide');
    const wide = page.getByTestId('result').getByRole('tree');
    await wide.waitFor();
    await page.getByTestId('result').getByRole('searchbox').fill('value 19999');
    await page.getByTestId('result').getByText('1 of 1').waitFor();
    await settle();
    assert.match(await wide.innerText(), /value 19999/);
    assert.ok((await wide.getByRole('treeitem').count()) < 80);
  },
);

pageTest(
  'pictures zoom by keys and buttons; sound plays from the result; what lies about its type, or is too large, is told and not shown',
  {
    snapshot: withHistory(
      ended('h-1', {
        content: [
          { type: 'image', mimeType: 'image/png', data: png(100, 50) },
          { type: 'audio', mimeType: 'audio/wav', data: wav() },
          { type: 'image', mimeType: 'image/jpeg', data: png(8, 8) },
          {
            type: 'image',
            mimeType: 'image/svg+xml',
            data: btoa('<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"/>'),
          },
          { type: 'image', mimeType: 'image/png', data: btoa('<svg xmlns="http://www.w3.org/2000/svg"/>') },
          { type: 'image', mimeType: 'image/png', data: png(30_000, 30_000, 1) },
          { type: 'audio', mimeType: 'audio/x-html', data: 'AAAA' },
          { type: 'image', mimeType: 'image/png', data: 'no base64!' },
          { type: 'image', mimeType: 'text/html', data: btoa('<b>') },
        ],
      }),
    ),
  },
  async (opened) => {
    const { page, settle } = opened;
    const result = await open(opened, 'h-1');
    const pictures = result.getByTestId('picture');
    assert.equal(await pictures.count(), 2);
    const first = pictures.first();
    const image = first.locator('img');
    assert.equal(await image.evaluate((img) => img instanceof HTMLImageElement && img.naturalWidth), 100);
    await first.getByRole('button', { name: 'Zoom in' }).click();
    assert.match(await first.innerText(), /150 %/);
    assert.equal(await image.evaluate((img) => img.clientWidth), 150);
    await first.getByRole('group', { name: /Plus and minus zoom/ }).focus();
    await page.keyboard.press('-');
    await page.keyboard.press('-');
    assert.match(await first.innerText(), /75 %/);
    await page.keyboard.press('0');
    assert.match(await first.innerText(), /Fit/);
    assert.match(await pictures.nth(1).innerText(), /image\/png, 8 × 8.*The server calls it image\/jpeg/);
    const sound = result.getByTestId('sound').locator('audio');
    assert.match((await sound.getAttribute('src')) ?? '', /^data:audio\/wav;base64,/);
    await settle();
    assert.equal(await sound.evaluate((audio) => audio instanceof HTMLAudioElement && audio.error?.message), undefined);
    const text = await result.innerText();
    for (const said of [
      /image\/svg\+xml, \d+ bytes\. Only PNG, JPEG/,
      /image\/png, \d+ bytes\. Only PNG, JPEG/,
      /30000 × 30000\. It is too large/,
      /audio\/x-html, 3 bytes\. It cannot be played/,
      /Its data is not base64/,
      /text\/html, \d+ bytes/,
    ])
      assert.match(text, said);
    assert.equal(await result.locator('img').count(), 2);
    assert.equal(await page.evaluate(() => 'pwned' in window), false);
  },
);

pageTest(
  "the result of a host's call is read from the hub in pieces; one of 64 MiB is left to the editor, and what is gone is told",
  {
    surface: { commands },
    snapshot: withHistory(
      finished('host', { resultSizeBytes: '300000', argumentsPreview: 'path: "/a"' }),
      finished('huge', { resultSizeBytes: '67108864' }),
      finished('gone', { resultSizeBytes: '100' }),
    ),
  },
  async (opened) => {
    const { by, hub, page, settle } = opened;
    hub.kept['host RESULT'] = JSON.stringify({ content: [{ type: 'text', text: `begin ${'x'.repeat(300_000)} end` }] });
    hub.kept['host ARGUMENTS'] = '{"path":"/a","deep":{"n":1.0}}';
    hub.pieceBytes = 65_536;
    const result = await open(opened, 'host');
    await result.getByText('begin').first().waitFor();
    const parts = hub.all('readRequest').map(({ readRequest }) => readRequest?.part);
    assert.equal(parts.filter((part) => part === 'REQUEST_PART_RESULT').length, 5);
    assert.match(await result.innerText(), /and \d+ more characters/);
    const itsResult = '["host","REQUEST_PART_RESULT","files-read_file-result"]';
    const given = '["host","REQUEST_PART_ARGUMENTS","files-read_file-arguments"]';
    assert.deepEqual(await menuLinks(opened), [
      `Open result in editor command:mcphub.openPart?${itsResult}`,
      `Save result as… command:mcphub.savePart?${itsResult}`,
      `Open arguments in editor command:mcphub.openPart?${given}`,
      `Save arguments as… command:mcphub.savePart?${given}`,
      'Save bug report… command:mcphub.saveReport?["host"]',
    ]);
    const copy = await page.getByRole('link', { name: 'Copy result' }).getAttribute('href');
    assert.equal(decodeURIComponent(copy ?? ''), `command:mcphub.copyPart?${itsResult}`);
    assert.match(await by('arguments').innerText(), /"path": "\/a"[^]*"n": 1\.0/);

    hub.silent.add('readRequest');
    await open(opened, 'huge');
    const asked = hub.all('readRequest').at(-1);
    assert.ok(asked);
    assert.equal(asked.readRequest?.requestId, 'huge');
    await hub.reply(asked, { readRequest: { text: 'x', size: '67108864', nextOffset: '1' } });
    await page.getByText('It is too large to be shown here (67 MB).').waitFor();
    const links = by('result').locator('.links');
    assert.deepEqual(await links.getByRole('link').allInnerTexts(), ['Open result in editor', 'Save result as…']);
    await settle();
    assert.equal(hub.all('readRequest').at(-1), asked, 'no more of it is read');
    hub.silent.delete('readRequest');
    await open(opened, 'gone');
    await page.getByText('“gone” is not kept.').waitFor();
  },
);

pageTest(
  'a call is made again with the very same arguments, and its result is compared with the one before',
  {
    surface: web,
    snapshot: withHistory(
      ended('one', { content: [{ type: 'text', text: 'same' }], n: 1, z: 0 }, { argumentsPreview: 'n: 1' }),
      ended('two', { content: [{ type: 'text', text: 'same' }], n: 2, z: 0 }, { argumentsPreview: 'n: 1' }),
    ),
  },
  async (opened) => {
    const { by, hub, page, settle } = opened;
    hub.kept['two ARGUMENTS'] = '{"n":1.0, "big":12345678901234567890}';
    hub.kept['two RESULT'] = '{"a":1}';
    const result = await open(opened, 'two');
    await by('again').click();
    const call = await hub.next('callTool');
    assert.equal(call.callTool.argumentsJson, '{"n":1.0, "big":12345678901234567890}');
    assert.equal(call.callTool.tool, 'read_file');
    const { requestId = '' } = call.callTool;
    const where = page.getByRole('button', { name: 'Show the running request for read_file' });
    await hub.say({ mcpRequestStarted: { request: request(requestId, { tool: 'read_file' }) } });
    await settle();
    assert.match(await where.locator('..').innerText(), /Called again\. Show/);
    await where.click();
    const row = by(`request-${requestId}`);
    assert.equal(await row.evaluate((element) => element === document.activeElement), true, 'the new row is shown');
    await hub.say({
      promptOpened: { prompt: { ...prompts.approval, requestId, promptId: 'p-again' } },
    });
    await settle();
    await where.click();
    await settle();
    const asks = await by('prompt-p-again').evaluate((card) => card.contains(document.activeElement));
    assert.equal(asks, true, 'the question that it waits for is shown');
    await where.focus();
    await hub.reply(call, { error: { code: 'NOT_FOUND', reason: 'TOOL_NOT_FOUND', message: 'No such tool.' } });
    await page.getByText('No such tool.').waitFor();
    assert.equal(await where.isVisible(), false, 'it runs no more');
    assert.equal(await by('again').evaluate((element) => element === document.activeElement), true);
    await choose(opened, 'Compare with previous');
    const difference = result.getByRole('group', { name: 'Differences: 2 lines' });
    await difference.waitFor();
    assert.equal((await difference.locator('del').innerText()).replace(/\s+/g, ' ').trim(), '- before: "n": 1,');
    assert.equal((await difference.locator('ins').innerText()).replace(/\s+/g, ' ').trim(), '+ now: "n": 2,');
    const downloads = page.waitForEvent('download');
    await choose(opened, 'Download result');
    const file = await downloads;
    assert.equal(file.suggestedFilename(), 'files-read_file-result.json');
    const chunks = [];
    for await (const part of await file.createReadStream()) chunks.push(part);
    assert.equal(Buffer.concat(chunks).toString(), '{"a":1}');
    await settle();
  },
);

pageTest(
  'embedded resources are shown by their type, and what is only linked is read when it is wanted',
  {
    snapshot: withHistory(
      ended('h-1', {
        content: [
          { type: 'resource', resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: '# Embedded' } },
          { type: 'resource', resource: { uri: 'file:///p.png', mimeType: 'image/png', blob: png(4, 4) } },
          { type: 'resource', resource: { uri: 'file:///b.zip', mimeType: 'application/zip', blob: 'AAAA' } },
          { type: 'resource_link', uri: 'file:///linked', name: 'Linked', mimeType: 'text/plain', size: 2048 },
          { type: 'resource_link', uri: 'javascript:window.pwned=1', name: '<b>evil</b>'.repeat(10_000) },
          { type: 'resource_link', uri: 'https://example.com/x', name: 'On the web' },
        ],
      }),
    ),
  },
  async (opened) => {
    const { hub, page, settle } = opened;
    const result = await open(opened, 'h-1');
    await result.getByTestId('markdown').getByRole('heading', { name: 'Embedded' }).waitFor();
    assert.equal(await result.getByTestId('picture').count(), 1);
    assert.match(await result.innerText(), /application\/zip, 3 bytes/);
    await result.getByRole('button', { name: 'Read the resource file:///linked' }).click();
    const read = await hub.next('readResource');
    assert.deepEqual([read.readResource.server, read.readResource.uri], ['files', 'file:///linked']);
    hub.kept[`${read.readResource.requestId} RESULT`] = '{"contents":[{"uri":"file:///linked","text":"what it says"}]}';
    await hub.reply(read);
    await result.getByText('what it says').waitFor();
    await result.getByRole('button', { name: /^Read the resource javascript/ }).click();
    const refused = await hub.next('readResource');
    await hub.reply(refused, { error: { code: 'NOT_FOUND', reason: 'X', message: 'No such resource.' } });
    await result.getByText('No such resource.').waitFor();
    await settle();
    const links = await result.locator('a').evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    assert.deepEqual(links, ['https://example.com/x']);
    assert.equal(await page.evaluate(() => 'pwned' in window), false);
  },
);

pageTest(
  'what is no result, has names of 100,000 characters, or a thousand blocks, is shown within bounds',
  {
    viewport: { width: 300, height: 900 },
    snapshot: {
      servers: [server('files')],
      history: [
        ended('broken', '{"content":[{"type":"text"'),
        ended('long', {
          ['n'.repeat(100_000)]: 'v'.repeat(100_000),
          content: [{ type: 'x'.repeat(100_000) }, 7, null, []],
        }),
        ended('many', { content: Array.from({ length: 1000 }, (_, i) => ({ type: 'text', text: `block ${i}` })) }),
      ],
    },
  },
  async (opened) => {
    const { page } = opened;
    await open(opened, 'broken');
    await page.getByText(/the text ends too early/).waitFor();
    const long = await open(opened, 'long');
    await choose(opened, 'Show whole result as JSON');
    await long.getByRole('tree').waitFor();
    assert.ok((await long.innerText()).length < 400_000);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    const many = await open(opened, 'many');
    assert.equal(await many.getByText(/^block \d+$/).count(), 50);
    await many.getByRole('button', { name: 'Show more (950)' }).click();
    assert.equal(await many.getByText(/^block \d+$/).count(), 100);
  },
);

pageTest(
  'one content of a result is saved by itself: a link says where it stands, of whatever is in it nothing else',
  {
    snapshot: withHistory(
      ended('h-1', {
        content: [
          { type: 'resource', resource: { uri: 'file:///a/b.zip', mimeType: 'application/zip', blob: 'UEsDBA==' } },
          { type: 'image', mimeType: 'image/png', data: png(4, 4) },
          { type: 'resource', resource: { uri: 'file:///c.txt', text: 'ü"x' } },
        ],
      }),
    ),
    surface: { commands: [...commands, 'mcphub.saveContent'] },
  },
  async (opened) => {
    const { hub } = opened;
    const result = await open(opened, 'h-1');
    const links = await result
      .getByText('Save content as…')
      .evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    const args = links.map((href) => {
      /** @type {unknown} */
      const read = JSON.parse(decodeURIComponent(href?.split('?')[1] ?? ''));
      return /** @type {unknown[]} */ (read);
    });
    const text = hub.snapshot.history?.[0]?.finished?.resultJson ?? '';
    assert.deepEqual(
      args.map(([id, from, to, ...rest]) => [id, text.slice(Number(from), Number(to)), ...rest]),
      [
        ['h-1', 'UEsDBA==', 'blob', 'file:///a/b.zip', 'application/zip'],
        ['h-1', png(4, 4), 'blob', '', 'image/png'],
        ['h-1', 'ü\\"x', 'text', 'file:///c.txt', ''],
      ],
    );
  },
);

pageTest(
  'in a browser one content is downloaded under a harmless type',
  {
    snapshot: withHistory(
      ended('h-1', {
        content: [
          { type: 'resource', resource: { uri: 'file:///a/evil.html?x', mimeType: 'text/html', blob: 'PGI+' } },
          { type: 'resource', resource: { uri: 'x:', blob: 'no base64!' } },
        ],
      }),
    ),
    surface: web,
  },
  async (opened) => {
    const { page } = opened;
    await page.evaluate(() => {
      const made = /** @type {Blob[]} */ ([]);
      Object.assign(window, { made });
      URL.createObjectURL = (blob) => {
        made.push(/** @type {Blob} */ (blob));
        return 'blob:x';
      };
      HTMLAnchorElement.prototype.click = function click() {
        Object.assign(window, { named: this.download });
      };
    });
    const result = await open(opened, 'h-1');
    for (const button of await result.getByText('Download content').all()) await button.click();
    const [type, text, named, count] = await page.evaluate(async () => {
      const { made, named } = /** @type {{ made: Blob[], named: string }} */ (/** @type {unknown} */ (window));
      return [made[0]?.type, await made[0]?.text(), named, made.length];
    });
    assert.deepEqual([type, text, named, count], ['application/octet-stream', '<b>', 'evil.html', 1]);
  },
);
