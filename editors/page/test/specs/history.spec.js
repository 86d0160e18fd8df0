// Ended requests: how each of them ended, and 10,000 of them without 10,000 rows in the document.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { cancelled, finished, request, server } from '../harness/world.js';

/** @param {number} count @param {number} [from] */
const many = (count, from = 0) =>
  Array.from({ length: count }, (_, index) =>
    finished(`h-${from + index}`, { tool: `tool_${from + index}` }, index - count),
  );

/** The number of elements in the document. @param {import('../harness/pagetest.js').Page} page */
const nodes = (page) => page.evaluate(() => document.querySelectorAll('*').length);

/** Returns the lines of a row as a person reads them. @param {import('playwright-core').Locator} row */
const linesOf = async (row) => (await row.innerText()).split('\n').filter(Boolean);

const ends = [
  finished('h-old', { tool: 'read_file', title: 'Read file', argumentsPreview: 'path: "README.md"' }, -86_400),
  finished(
    'h-release',
    { title: 'Create release', state: 'REQUEST_STATE_FAILED', mcpError: { message: 'tag exists' } },
    -3_700,
  ),
  cancelled(
    'h-review',
    {
      server: 'reviews',
      title: 'Review change',
      cancellation: { origin: 'ORIGIN_TIMEOUT' },
      timings: { active: '600s' },
    },
    -1_440,
  ),
  finished(
    'h-issues',
    { server: 'github', title: 'Search issues', caller: 'Claude Code', argumentsPreview: 'label: "bug", open: true' },
    -720,
  ),
  ...['DENIED_BY_USER', 'DISMISSED_BY_USER', 'DENIED_BY_POLICY'].map((reason) =>
    finished(
      `h-${reason}`,
      {
        title: 'Write file',
        state: 'REQUEST_STATE_FAILED',
        hubError: { code: 'PERMISSION_DENIED', reason, message: 'as the hub says it' },
      },
      -420,
    ),
  ),
  cancelled(
    'h-plan',
    {
      server: 'booking',
      direction: 'REQUEST_DIRECTION_INCOMING',
      method: 'elicitation/create',
      tool: '',
      cancellation: { origin: 'ORIGIN_SERVER', reason: 'seat was sold' },
    },
    -300,
  ),
  finished(
    'h-tool',
    {
      title: 'Write file',
      isError: true,
      resultJson: '{"content":[{"type":"text","text":"The disk is full."}],"isError":true}',
      resultSizeBytes: '66',
    },
    -200,
  ),
  finished('h-start', { tool: '', method: 'initialize' }, -130),
  finished(
    'h-broken',
    {
      tool: '',
      method: 'server/discover',
      state: 'REQUEST_STATE_FAILED',
      hubError: { code: 'UNAVAILABLE', reason: 'SERVER_FAILED', message: 'It has ended.' },
    },
    -125,
  ),
  cancelled('h-index', { title: 'Index folder' }, -120),
];

mainTest(
  'the history has two lines an end: what and when, then for whom and, where it was not the normal end, who and why',
  { snapshot: { servers: [server('files')], history: ends }, viewport: { width: 480, height: 1400 } },
  async ({ by, page }) => {
    await by('ended-h-index').waitFor();
    const told = {
      'h-index': ['Index folder', 'files · Cancelled by you: wrong folder', '2 min'],
      'h-broken': ['Start of the session', 'files · It has ended.', '2 min'],
      'h-tool': ['Write file', 'files · The server said: The disk is full.', '3 min'],
      'h-plan': ['Server asks for input', 'booking · Withdrawn by the server: seat was sold', '5 min'],
      'h-DENIED_BY_USER': ['Write file', 'files · Denied by you', '7 min'],
      'h-DISMISSED_BY_USER': ['Write file', 'files · Dismissed by you', '7 min'],
      'h-DENIED_BY_POLICY': ['Write file', 'files · Denied by a policy', '7 min'],
      'h-issues': ['Search issues', 'github · Claude Code · label: "bug", open: true', '12 min'],
      'h-review': ['Review change', 'reviews · Timed out after 10 min', '24 min'],
    };
    for (const [id, lines] of Object.entries(told)) assert.deepEqual(await linesOf(by(`ended-${id}`)), lines, id);
    assert.equal(await by('ended-h-start').count(), 0, 'that a session has started is no end to be listed');
    await by('history-list').press('End');
    assert.deepEqual(await linesOf(by('ended-h-release')), [
      'Create release',
      'files · The server said: tag exists',
      '1 h',
    ]);
    assert.deepEqual(await linesOf(by('ended-h-old')), ['Read file', 'files · README.md', 'yesterday']);
    assert.match((await by('ended-h-old').locator('time').getAttribute('title')) ?? '', /4 Oct 2026, 12:00:00/);
    const old = page.getByRole('option', { name: 'Read file files · README.md yesterday' });
    assert.equal(await old.getAttribute('aria-description'), 'Done, 4 Oct 2026, 12:00:00');
  },
);

pageTest(
  'the details of what was cancelled say its code once',
  {
    snapshot: {
      servers: [server('files')],
      history: [cancelled('h-1', { error: { code: 'CANCELLED', reason: 'CANCELLED', message: 'by user: no' } })],
    },
  },
  async ({ by, page, settle }) => {
    await by('ended-h-1').click();
    await settle();
    await page.locator('details summary').last().click();
    await page.getByText('by user: no (CANCELLED)', { exact: true }).waitFor();
  },
);

pageTest(
  'times in the history follow the clock, and cost nothing while none of them changes',
  { snapshot: { servers: [server('files')], history: [finished('h-1', {}, -2)] } },
  async ({ by, page, pass, settle }) => {
    const time = by('ended-h-1').locator('time');
    assert.equal(await time.innerText(), 'now');
    await settle();
    await page.evaluate(() => {
      const seen = { changes: 0 };
      Object.assign(window, { seen });
      new MutationObserver((records) => (seen.changes += records.length)).observe(document.body, {
        subtree: true,
        childList: true,
        characterData: true,
        attributes: true,
      });
    });
    await pass(40_000);
    assert.equal(
      await page.evaluate(() => /** @type {Window & { seen?: { changes: number } }} */ (window).seen?.changes),
      0,
    );
    await pass(20_000);
    assert.equal(await time.innerText(), '1 min');
    await pass(60_000);
    assert.equal(await time.innerText(), '2 min');
  },
);

pageTest(
  'without an end there is no history; the first one brings it',
  { snapshot: { servers: [server('files')] } },
  async ({ by, hub, page, settle }) => {
    await settle();
    assert.equal(await page.getByText('History', { exact: true }).isVisible(), false);
    await hub.say({ mcpRequestFinished: finished('h-1').finished ?? {} });
    await by('ended-h-1').waitFor();
    assert.equal(await page.getByRole('heading', { name: 'History' }).isVisible(), true);
  },
);

mainTest(
  'what is opened says first how it ended and what is known of that; more that becomes known leaves focus and folds alone',
  {
    snapshot: {
      servers: [server('files')],
      history: [
        finished('h-0'),
        cancelled('h-1', { argumentsPreview: 'folder: "src"', delivery: 'CANCEL_DELIVERY_PENDING' }),
      ],
    },
  },
  async ({ by, hub, page, settle, focused }) => {
    hub.kept['h-1 ARGUMENTS'] = '{"folder":"src"}';
    await by('history-list').press('Home');
    await page.keyboard.press('Enter');
    await settle();
    assert.match(await focused(), /h2.*index_folder/is, 'the heading of what is open');
    const details = by('ended-details');
    assert.deepEqual((await linesOf(details)).slice(0, 5), [
      'Cancelled by you: wrong folder',
      'The server is being told.',
      'Call again',
      'Show timeline',
      'Restart server',
    ]);
    assert.match(await details.innerText(), /Arguments\s+\{\s+"folder": "src"\s+\}\s+Details$/);
    await page.getByText('Details', { exact: true }).click();
    assert.match(
      await details.innerText(),
      /Server\s+files[^]*Ended\s+5 Oct 2026, 11:59:00[^]*The server worked\s+3 s/,
    );
    assert.doesNotMatch(await details.innerText(), /\b0 s\b/, 'two milliseconds are no time that is told');
    await page.getByRole('button', { name: 'Show timeline' }).focus();
    await hub.say({ mcpRequestCancelDelivery: { requestId: 'h-1', delivery: 'CANCEL_DELIVERY_DELIVERED' } });
    await settle();
    assert.match(await details.innerText(), /The server was told; it may still be working\./);
    assert.match(await details.innerText(), /The server worked/, 'it is still unfolded');
    assert.match(await focused(), /Show timeline/);
    await page.keyboard.press('Escape');
    await settle();
    assert.match(await focused(), /history-list|Ended requests/, 'back in the list');
    assert.equal(await details.count(), 0);
    await page.keyboard.press('Enter');
    assert.match(await details.innerText(), /The server worked/, 'opened again, it is as it was left');
  },
);

pageTest(
  'calls of one tool are told from each other by their arguments and caller: running and ended',
  {
    snapshot: {
      servers: [server('files')],
      requests: [
        request('r-1', { argumentsPreview: 'path: "/one"' }),
        request('r-2', { argumentsPreview: 'path: "/two"', caller: 'Other Editor' }),
      ],
      history: [
        finished('h-1', { argumentsPreview: 'path: "/three"', caller: 'Other Editor' }),
        finished('h-2', { argumentsPreview: 'path: "/four"' }),
      ],
    },
  },
  async ({ by }) => {
    await by('request-r-2').waitFor();
    assert.match(await by('request-r-1').innerText(), /path: "\/one"/);
    assert.match(await by('request-r-2').innerText(), /for Other Editor · path: "\/two"/);
    assert.match(await by('ended-h-1').innerText(), /files · Other Editor · \/three/);
    assert.match(await by('ended-h-2').innerText(), /files · \/four/);
  },
);

pageTest(
  '10,000 ended requests: few rows in the document, each tells its place, and both ends can be reached',
  { snapshot: { servers: [server('files')], history: many(1000) } },
  async ({ by, hub, page, settle }) => {
    const before = await nodes(page);
    for (let batch = 1; batch < 10; batch++) {
      await page.evaluate(
        (messages) => {
          for (const message of messages) window.postMessage(message, '*');
        },
        many(1000, batch * 1000).map((ended) => ({
          time: ended.endTime,
          mcpRequestFinished: ended.finished,
        })),
      );
    }
    await by('history').locator('[aria-setsize="10000"]').first().waitFor();
    await by('history').scrollIntoViewIfNeeded();
    await settle();
    assert.ok((await nodes(page)) < before + 400, `${await nodes(page)} nodes, ${before} before`);
    assert.match(await by('history').innerText(), /tool_9999/, 'the newest first');
    const sized = by('history').locator('[aria-setsize="10000"]').first();
    await sized.waitFor();
    const scroller = by('history')
      .locator('[data-testid="history-list"]')
      .or(page.locator('[role="listbox"], [role="list"], .virtual').filter({ has: page.locator('[aria-setsize]') }))
      .first();
    const frames = await scroller.evaluate(async (element) => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      let blank = 0;
      let largest = 0;
      for (let step = 0; step <= 100; step++) {
        element.scrollTop = ((element.scrollHeight - element.clientHeight) * step) / 100;
        await frame();
        await frame();
        const box = element.getBoundingClientRect();
        const middle = document.elementFromPoint(
          box.left + 20,
          box.top + Math.min(box.height, innerHeight - box.top) / 2,
        );
        if (!middle?.closest('[aria-posinset]')) blank++;
        largest = Math.max(largest, element.querySelectorAll('[aria-posinset]').length);
      }
      return { blank, largest };
    });
    assert.ok(frames.largest <= 120, `${frames.largest} rows at once`);
    assert.ok(frames.blank <= 2, `${frames.blank} of 100 stops showed nothing`);
    await settle();
    assert.match(await by('history').innerText(), /tool_0\b/, 'the oldest at the end');
    assert.ok((await nodes(page)) < before + 400, `${await nodes(page)} nodes after scrolling`);
    assert.deepEqual(hub.faults, []);
  },
);

pageTest(
  'the history keeps 10,000 and forgets the oldest',
  { snapshot: { servers: [server('files')], history: many(1000) } },
  async ({ by, page, settle }) => {
    for (let batch = 1; batch < 11; batch++) {
      await page.evaluate(
        (messages) => {
          for (const message of messages) window.postMessage(message, '*');
        },
        many(1000, batch * 1000).map((ended) => ({
          time: ended.endTime,
          mcpRequestFinished: ended.finished,
        })),
      );
    }
    await by('history')
      .getByText(/tool_10999/)
      .first()
      .waitFor();
    await settle();
    await by('history').locator('[aria-setsize="10000"]').first().waitFor();
  },
);

pageTest(
  'the search opens with its icon or Ctrl+F in the list, narrows by text and outcome, and Escape brings all back',
  { snapshot: { servers: [server('files')], history: [...many(30), cancelled('h-c', { tool: 'slow' }, 1)] } },
  async ({ by, page, settle, focused }) => {
    const field = page.getByRole('searchbox', { name: 'Filter the history by text' });
    const list = by('history-list');
    await list.waitFor();
    assert.equal(await field.isVisible(), false);
    await page.getByRole('button', { name: 'Search the history' }).click();
    await field.fill('tool_17');
    await settle();
    assert.match(await list.innerText(), /tool_17/);
    assert.doesNotMatch(await list.innerText(), /tool_16|slow/);
    await field.fill('nobody');
    await page.getByText('Nothing like that has ended.').waitFor();
    await page.keyboard.press('Escape');
    await settle();
    assert.equal(await field.isVisible(), false);
    assert.match(await list.innerText(), /slow/, 'all are listed again');
    assert.match(await focused(), /history-list|Ended requests/);
    await page.keyboard.press('Control+f');
    assert.match(await focused(), /Filter the history by text/);
    await page.getByRole('combobox', { name: 'Filter the history by outcome' }).selectOption('Cancelled');
    await settle();
    assert.match(await list.innerText(), /slow/);
    assert.doesNotMatch(await list.innerText(), /tool_17/);
  },
);
