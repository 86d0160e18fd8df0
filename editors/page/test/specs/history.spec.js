// Ended requests: how each of them ended, and 10,000 of them without 10,000 rows in the document.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { busySnapshot, cancelled, finished, request, server } from '../harness/world.js';

/** @param {number} count @param {number} [from] */
const many = (count, from = 0) =>
  Array.from({ length: count }, (_, index) =>
    finished(`h-${from + index}`, { tool: `tool_${from + index}` }, index - count),
  );

/** The number of elements in the document. @param {import('../harness/pagetest.js').Page} page */
const nodes = (page) => page.evaluate(() => document.querySelectorAll('*').length);

mainTest(
  'the history says of every end what it was, by whom, why, and whether the server may go on',
  { snapshot: busySnapshot(), viewport: { width: 480, height: 1800 } },
  async ({ by, page, settle }) => {
    const history = by('history');
    await history.scrollIntoViewIfNeeded();
    await settle();
    const text = await history.innerText();
    for (const word of [/done/i, /tool error/i, /failed/i, /cancelled/i, /timed out/i]) assert.match(text, word);
    const row = history
      .getByRole('button')
      .or(history.getByRole('option'))
      .or(history.getByRole('listitem'))
      .filter({ hasText: /index_folder/ })
      .first();
    await row.click();
    await settle();
    const detail = await history.innerText();
    assert.match(detail, /wrong folder/);
    assert.match(detail, /user|you|person/i);
    assert.match(detail, /may (go on|continue|still|run)/i);
    assert.doesNotMatch(detail, /\b0 s\b/, 'two milliseconds are no time that is told');
    await history.locator('[data-testid="restart-server"]').first().waitFor();
    assert.equal(await page.locator('[data-testid="history"]').count(), 1);
  },
);

pageTest(
  'a call that was denied has not failed: it says by whom it was denied',
  {
    snapshot: {
      servers: [server('files')],
      history: ['DENIED_BY_USER', 'DISMISSED_BY_USER', 'DENIED_BY_POLICY'].map((reason, i) =>
        finished(`h-${i}`, {
          state: 'REQUEST_STATE_FAILED',
          resultJson: '',
          hubError: { code: 'PERMISSION_DENIED', reason, message: 'as it was said' },
        }),
      ),
    },
  },
  async ({ by }) => {
    for (const [i, words] of ['Denied by you', 'Dismissed by you', 'Denied by a policy'].entries()) {
      const text = await by(`ended-h-${i}`).innerText();
      assert.ok(text.includes(words) && text.includes('as it was said'), text);
      assert.doesNotMatch(text, /Failed/);
    }
  },
);

pageTest(
  'calls of one tool are told from each other by their arguments and caller: running, ended, and in the search',
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
  async ({ by, page, settle }) => {
    await by('request-r-2').waitFor();
    assert.match(await by('request-r-1').innerText(), /path: "\/one"/);
    assert.match(await by('request-r-2').innerText(), /path: "\/two"[^]*for Other Editor/);
    await by('history').scrollIntoViewIfNeeded();
    assert.match(await by('ended-h-1').innerText(), /for Other Editor[^]*path: "\/three"/);
    await page.getByRole('searchbox', { name: 'Filter the history by text' }).fill('/four');
    await settle();
    assert.equal(await by('ended-h-1').count(), 0);
    await by('ended-h-2').click();
    await settle();
    assert.match(await page.locator('.ended-details').innerText(), /Arguments\s+path: "\/four"/);
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
    await by('history').getByText('10,000').or(by('history').getByText('10000')).first().waitFor();
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
  'a filter of text and one of outcome narrow the history',
  { snapshot: { servers: [server('files')], history: [...many(30), cancelled('h-c', { tool: 'slow' }, 1)] } },
  async ({ by, settle }) => {
    const history = by('history');
    await history.getByRole('searchbox').or(history.getByRole('textbox')).first().fill('tool_17');
    await settle();
    assert.match(await history.innerText(), /tool_17/);
    assert.doesNotMatch(await history.innerText(), /tool_16|slow/);
    await history.getByRole('searchbox').or(history.getByRole('textbox')).first().fill('');
    const outcome = history.getByRole('combobox').first();
    const option = await outcome
      .locator('option')
      .filter({ hasText: /cancelled/i })
      .first()
      .getAttribute('value');
    await outcome.selectOption(option ?? 'cancelled');
    await settle();
    assert.match(await history.innerText(), /slow/);
    assert.doesNotMatch(await history.innerText(), /tool_17/);
  },
);
