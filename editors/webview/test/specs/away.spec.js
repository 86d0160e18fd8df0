// The next hub reports what an earlier hub ended because no window came back in time.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { at, cancelled, finished, server } from '../harness/world.js';

const shutdown = { origin: 'ORIGIN_SHUTDOWN', reason: 'nobody came back to the hub in time', time: at(-60) };
const left = (/** @type {string} */ id, /** @type {object} */ more = {}) => ({
  ...cancelled(id, { cancellation: /** @type {object} */ (shutdown), ...more }, -60),
  earlierHub: true,
});
const question = { direction: 'REQUEST_DIRECTION_INCOMING', method: 'elicitation/create', tool: '' };
const snapshot = {
  servers: [server('files')],
  history: [left('h-1'), left('h-2', question), left('h-3', question), finished('h-4')],
};

mainTest(
  'what ended while the window was away is told once, and stands in the history',
  { snapshot },
  async (opened) => {
    const { by, hub, page, settle } = opened;
    const banner = page.locator('#away');
    assert.match(await banner.innerText(), /ended 1 request and 2 questions: nobody came back in time/);
    await by('history').getByText('index_folder').first().click();
    await settle();
    assert.match(await by('history').locator('.details').innerText(), /nobody came back to it in time/);
    assert.equal(await by('history').getByText('Show the timeline').count(), 0, 'this hub has none of it');
    await by('close-away').click();
    assert.equal(await banner.isVisible(), false);
    assert.match(await opened.focused(), /History/);
    await page.reload();
    await hub.next('hello');
    await settle();
    assert.equal(await by('ended-h-1').count(), 1);
    assert.equal(await banner.isVisible(), false, 'it was read');
    hub.hubId = 'hub-2';
    await page.reload();
    await hub.next('hello');
    await settle();
    assert.equal(await banner.isVisible(), true, 'another hub tells of another end');
  },
);

pageTest(
  'an end that was told of by this hub makes no banner',
  { snapshot: { servers: [server('files')], history: [finished('h-1'), cancelled('h-2')] } },
  async ({ by, page }) => {
    await by('ended-h-1').waitFor();
    assert.equal(await page.locator('#away').isVisible(), false);
  },
);
