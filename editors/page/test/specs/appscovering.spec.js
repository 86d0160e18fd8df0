// A view fills the page when the user wants that, and then covers no question.

import assert from 'node:assert/strict';
import { pageTest } from '../harness/pagetest.js';
import { inside, noted, notes, openTheView, resourceOf, viewOf, withView } from '../harness/views.js';
import { prompts } from '../harness/world.js';

/** @typedef {import('../harness/pagetest.js').Opened} Opened */

const asked = {
  ...withView,
  snapshot: { ...withView.snapshot, prompts: [prompts.approval] },
  viewport: { width: 800, height: 1400 },
};
const [whole, inline] = ['.view-of-call.whole', '.view-of-call:not(.whole)'];

/** The number of elements that get no clicks and keys, without views that nobody uses. @param {Opened} opened */
const inert = ({ page }) => page.locator('[inert]:not(iframe)').count();

/** @param {Opened} opened */
const inView = ({ hub }) => hub.all('promptsInView').at(-1)?.promptsInView?.promptIds ?? [];

/** Opens a view and lets it fill the page. @param {Opened} opened */
async function fill(opened) {
  await openTheView(opened, resourceOf(viewOf('')));
  await noted(opened, 'tool-input');
  await opened.by('view-grow').click();
  await opened.page.locator(whole).waitFor();
}

pageTest('a view does not fill the page by itself, and may always go back', withView, async (opened) => {
  const script = `
    const mode = async (mode) => JSON.stringify((await ask('ui/request-display-mode', { mode })).result);
    addEventListener('message', async ({ data }) => {
      if (data.params?.displayMode !== 'fullscreen') return;
      note('two ' + await mode('fullscreen'));
      note('three ' + await mode('inline'));
      note('four ' + await mode('fullscreen'));
    });
    note('one ' + await mode('fullscreen'));`;
  await openTheView(opened, resourceOf(viewOf(script)));
  await noted(opened, 'one {"mode":"inline"}');
  assert.equal(await opened.page.locator(whole).count(), 0);
  await opened.by('view-grow').click();
  await noted(opened, 'four {"mode":"inline"}');
  const said = (await notes(opened)).filter((text) => /^(two|three)/.test(text));
  assert.deepEqual(said, ['two {"mode":"fullscreen"}', 'three {"mode":"inline"}']);
  assert.equal(await inert(opened), 0);
});

pageTest('what a view covers takes no click, and what comes to light none for half a second', asked, async (opened) => {
  const { page, by, hub } = opened;
  const accept = by('prompt-p-approval').getByTestId('accept');
  await opened.pass(700);
  await page.locator('[data-testid="accept"]:not([aria-disabled])').waitFor();
  await fill(opened);
  assert.ok(await accept.evaluate((button) => button.closest('[inert]') !== null));
  assert.equal(await by('view-r-1').evaluate((view) => view.closest('[inert]')), null);
  await opened.pass(700);
  await page.locator('[data-testid="accept"]:not([aria-disabled])').waitFor();
  // Both clicks in one turn: a view may ask to fill the page just before a click that it expects.
  await page.evaluate(() => {
    const find = (/** @type {string} */ id) => document.querySelector(`[data-testid="${id}"]`);
    find('view-grow')?.dispatchEvent(new MouseEvent('click', { detail: 1 }));
    find('accept')?.dispatchEvent(new MouseEvent('click', { detail: 1 }));
  });
  await page.locator(inline).waitFor();
  assert.equal(await inert(opened), 0);
  await opened.settle();
  assert.deepEqual(hub.all('answerPrompt'), []);
  await opened.pass(700);
  await page.locator('[data-testid="accept"]:not([aria-disabled])').waitFor();
  await accept.click();
  await hub.next('answerPrompt');
});

pageTest('questions that a view covers are not told as in view', asked, async (opened) => {
  await fill(opened);
  await opened.settle();
  assert.deepEqual(inView(opened), []);
  await opened.by('view-grow').click();
  await opened.page.locator(inline).waitFor();
  await opened.settle();
  assert.deepEqual(inView(opened), ['p-approval']);
});

pageTest('a view makes room for a question that opens', withView, async (opened) => {
  await fill(opened);
  await opened.hub.say({ promptOpened: { prompt: prompts.approval } });
  await opened.page.locator(inline).waitFor();
  await noted(opened, 'host-context-changed {"displayMode":"inline"}');
  assert.equal(await inert(opened), 0);
  assert.ok(await opened.by('prompt-p-approval').isVisible());
});

pageTest('a view makes room for a question that is to be seen', asked, async (opened) => {
  await fill(opened);
  await opened.hub.say({ revealPrompt: { promptId: 'p-approval' } });
  await opened.page.locator(inline).waitFor();
  await opened.settle();
  assert.match(await opened.focused(), /^h3/);
});

pageTest('a view that ends while it fills the page leaves all of it usable', asked, async (opened) => {
  await fill(opened);
  await inside(opened).locator('body').evaluate(`say('ui/notifications/request-teardown')`);
  await opened.by('view-r-1').waitFor({ state: 'detached' });
  assert.equal(await inert(opened), 0);
  await opened.settle();
  assert.deepEqual(inView(opened), ['p-approval']);
});

pageTest('a view that is being closed cannot be made to fill the page', asked, async (opened) => {
  const { by, page } = opened;
  await openTheView(opened, resourceOf(viewOf('window.stubborn = true')));
  await noted(opened, 'tool-input');
  await by('view-close').click();
  await by('view-grow').click();
  assert.equal(await page.locator(whole).count(), 0);
  await opened.pass(2_000);
  await by('view-r-1').waitFor({ state: 'detached' });
  assert.equal(await inert(opened), 0);
});
