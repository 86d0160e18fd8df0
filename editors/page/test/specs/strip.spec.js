// An open question can always be seen: its card, or its row in the strip, which does not scroll away.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { themeNames } from '../harness/themes.js';
import { busySnapshot, filesTools, prompts, server } from '../harness/world.js';

/** Enough servers to fill several screens. */
const many = Array.from({ length: 80 }, (_, i) => server(`server-${i}`));
const toEnd = () => scrollTo(0, document.body.scrollHeight);

mainTest(
  'a question that opens out of sight stands in the strip, and a click brings its card and the focus',
  { snapshot: { servers: many, prompts: [] }, viewport: { width: 300, height: 500 } },
  async ({ by, hub, page, settle }) => {
    await by('server-server-79').waitFor();
    await page.evaluate(toEnd);
    await hub.say({ promptOpened: { prompt: prompts.form } });
    const row = by('strip-p-form');
    await row.waitFor();
    assert.match(await row.innerText(), /Who is the booking for\?\s+booking/);
    const box = await row.boundingBox();
    assert.ok(box && box.y >= 0 && box.y + box.height <= 500, JSON.stringify(box));
    await row.click();
    await settle();
    const card = by('prompt-p-form');
    const heading = await card.locator('h3').boundingBox();
    assert.ok(heading && heading.y >= 0 && heading.y < 400, JSON.stringify(heading));
    assert.equal(await card.evaluate((element) => element.contains(document.activeElement)), true);
    await row.waitFor({ state: 'hidden' });
  },
);

pageTest(
  'the strip has one line, which covers no heading, leaves what is below in its place, and goes with its questions',
  {
    snapshot: {
      servers: many,
      prompts: [1, 2, 3, 4, 5].map((n) => ({ ...prompts.url, promptId: `p-${n}` })),
    },
    viewport: { width: 300, height: 500 },
  },
  async ({ by, hub, settle }) => {
    await by('prompt-p-5').waitFor();
    const last = by('server-server-40');
    await last.scrollIntoViewIfNeeded();
    await by('strip-p-1').waitFor();
    const before = await last.boundingBox();
    assert.deepEqual(await by('strip').locator('button').allInnerTexts(), [
      'Please pay for the booking.\nbooking',
      '4 more questions',
    ]);
    await by('strip-p-1').focus();
    for (const n of [1, 2]) await hub.say({ promptClosed: { promptId: `p-${n}`, cause: 'PROMPT_CAUSE_WITHDRAWN' } });
    await settle();
    assert.equal(await by('strip').locator('button').count(), 2);
    assert.equal(await by('strip-p-3').evaluate((row) => row === document.activeElement), true, 'the focus goes on');
    for (const n of [3, 4, 5]) await hub.say({ promptClosed: { promptId: `p-${n}`, cause: 'PROMPT_CAUSE_WITHDRAWN' } });
    await settle();
    await by('strip').waitFor({ state: 'hidden' });
    const moved = ((await last.boundingBox())?.y ?? NaN) - (before?.y ?? NaN);
    assert.ok(Math.abs(moved) < 2, `what is read has moved by ${moved} px`);
  },
);

pageTest(
  'a long question does not cut how many more there are',
  {
    snapshot: {
      servers: many,
      prompts: [1, 2, 3].map((n) => ({
        ...prompts.url,
        promptId: `p-${n}`,
        elicitationUrl: { ...prompts.url.elicitationUrl, message: 'Please pay for all of the booking. '.repeat(20) },
      })),
    },
    viewport: { width: 300, height: 500 },
  },
  async ({ by, page }) => {
    await by('server-server-79').waitFor();
    await page.evaluate(toEnd);
    const more = by('strip').getByText('2 more questions');
    await more.waitFor();
    assert.equal(await more.evaluate((text) => text.scrollWidth <= text.clientWidth), true);
    const [text, strip] = [await more.boundingBox(), await by('strip').boundingBox()];
    assert.ok(text && strip && text.x + text.width <= strip.x + strip.width, JSON.stringify([text, strip]));
  },
);

pageTest(
  'the host hears which questions are in view, once for each change',
  { snapshot: { servers: many, prompts: [prompts.approval] }, viewport: { width: 300, height: 500 } },
  async ({ by, hub, page, settle }) => {
    const said = () => hub.all('promptsInView').map((message) => message.promptsInView?.promptIds);
    await by('prompt-p-approval').waitFor();
    assert.deepEqual((await hub.next('promptsInView')).promptsInView, { promptIds: ['p-approval'] });
    await page.evaluate(toEnd);
    assert.deepEqual((await hub.next('promptsInView')).promptsInView, { promptIds: [] });
    await page.evaluate(() => scrollTo(0, 0));
    await hub.next('promptsInView');
    await hub.say({ promptClosed: { promptId: 'p-approval', cause: 'PROMPT_CAUSE_WITHDRAWN' } });
    await hub.next('promptsInView');
    await settle();
    assert.deepEqual(said(), [['p-approval'], [], ['p-approval'], []]);
  },
);

pageTest(
  'what a host reveals comes into view with the focus, even when it opens only later',
  { snapshot: { servers: many, prompts: [prompts.approval] }, viewport: { width: 300, height: 500 } },
  async ({ by, focused, hub, page, settle }) => {
    await by('prompt-p-approval').waitFor();
    const has = (/** @type {string} */ id) =>
      by(id).evaluate((card) => card.contains(document.activeElement) && card.getBoundingClientRect().top >= 0);
    await page.evaluate(toEnd);
    await hub.say({ revealPrompt: {} });
    await settle();
    assert.equal(await has('prompt-p-approval'), true, 'the oldest');
    await page.evaluate(toEnd);
    await hub.say({ revealPrompt: { promptId: 'p-form' } });
    await settle();
    assert.equal(await has('prompt-p-approval'), false);
    await hub.say({ promptOpened: { prompt: prompts.form } });
    await settle();
    assert.equal(await has('prompt-p-form'), true);
    for (const promptId of ['p-approval', 'p-form'])
      await hub.say({ promptClosed: { promptId, cause: 'PROMPT_CAUSE_WITHDRAWN' } });
    await hub.say({ revealPrompt: {} });
    await settle();
    assert.match(await focused(), /note-p-form|McpHub/, 'what became of the question');
  },
);

for (const theme of themeNames) {
  pageTest(
    `in ${theme} the strip covers what is behind it`,
    {
      snapshot: { ...busySnapshot(), servers: many, prompts: [prompts.form] },
      tools: { files: filesTools },
      viewport: { width: 300, height: 500 },
      theme,
    },
    async ({ by, page }) => {
      await by('prompt-p-form').waitFor();
      await page.evaluate(toEnd);
      const row = by('strip-p-form');
      await row.waitFor();
      const ground = await row.evaluate((button) => getComputedStyle(button).backgroundColor);
      assert.match(ground, /^rgb\(/, 'an opaque ground');
    },
  );
}

pageTest(
  'a long card whose end is read is in view, though its heading is not',
  { snapshot: { servers: many, prompts: [prompts.launch] }, viewport: { width: 300, height: 300 } },
  async ({ by, hub, settle }) => {
    const card = by('prompt-p-launch');
    await hub.next('promptsInView');
    await card.evaluate((element) => element.scrollIntoView({ block: 'end' }));
    const heading = await card.locator('h3').boundingBox();
    assert.ok(heading && heading.y + heading.height < 0, 'the heading is out of view');
    await settle();
    assert.deepEqual(
      hub.all('promptsInView').map((message) => message.promptsInView?.promptIds),
      [['p-launch']],
    );
    assert.equal(await by('strip').isVisible(), false);
  },
);
