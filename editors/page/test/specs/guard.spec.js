// A click counts as a yes only if the button was there before the user began to aim.

import assert from 'node:assert/strict';
import { mainTest } from '../harness/pagetest.js';
import { prompts } from '../harness/world.js';

mainTest(
  'a card that has moved under a pointer that stands still takes no yes for half a second, and then does',
  { snapshot: { prompts: [prompts.approval] } },
  async ({ by, hub, page }) => {
    const accept = by('prompt-p-approval').locator('[data-testid="accept"]');
    await accept.waitFor();
    await page.clock.pauseAt(new Date('2027-01-01T00:00:00Z'));
    const click = async () => {
      await page.mouse.down();
      await page.mouse.up();
      await page.evaluate(() => 0); // the click's message arrives before this returns
      return hub.all('answerPrompt').length;
    };
    /** Shifts the page, and waits until all observers were called. @param {number} height */
    const shift = (height) =>
      page.evaluate(
        (to) =>
          new Promise((done) => {
            let told = false;
            new ResizeObserver((_, observer) => {
              if (told) {
                observer.disconnect();
                done(undefined);
                return;
              }
              told = true;
              const above =
                document.getElementById('above') ?? Object.assign(document.createElement('div'), { id: 'above' });
              above.style.setProperty('height', `${to}px`);
              document.querySelector('main')?.prepend(above);
            }).observe(document.body);
          }),
        height,
      );
    await accept.hover();
    await shift(40);
    await page.clock.runFor(600);
    await shift(0.5);
    assert.equal(await click(), 0, 'the button has just moved back under the pointer');
    await page.clock.runFor(490);
    assert.equal(await click(), 0);
    assert.equal(await accept.getAttribute('aria-disabled'), 'true', 'aria-disabled shows the guard');
    await page.clock.runFor(20);
    assert.equal(await accept.getAttribute('aria-disabled'), null);
    assert.equal(await click(), 1);
    assert.deepEqual(hub.all('answerPrompt')[0]?.answerPrompt?.accept, { scope: 'APPROVAL_SCOPE_ONCE' });
    await page.clock.resume();
  },
);
