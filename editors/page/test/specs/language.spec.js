// The page uses the language of its host, or of its browser.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { noted, openTheView, resourceOf, viewOf, withView } from '../harness/views.js';
import { busySnapshot, filesTools, prompts, server } from '../harness/world.js';

mainTest(
  'an editor in German has the page in German, down to its frame',
  {
    surface: { language: 'de' },
    snapshot: { ...busySnapshot(), prompts: [prompts.approval] },
    tools: { files: filesTools },
  },
  async ({ page, by }) => {
    assert.equal(await page.getAttribute('html', 'lang'), 'de');
    assert.equal((await page.locator('#now-title').textContent())?.trim(), 'Jetzt');
    assert.equal(await page.getAttribute('#strip', 'aria-label'), 'Fragen außer Sicht');
    assert.equal(await by('accept').first().textContent(), 'Einmal erlauben');
    assert.equal(await by('cancel').first().textContent(), 'Abbrechen');
    await by('show-keys').click();
    assert.match((await by('keys').textContent()) ?? '', /Eine Frage verwerfen/);
  },
);

for (const language of ['de', 'fr-CA'])
  pageTest(
    `a view is told ${language}, and its frame is in the page's language`,
    {
      ...withView,
      surface: { language },
    },
    async (opened) => {
      const { page, by } = opened;
      await openTheView(opened, resourceOf(viewOf('note(hello.result.hostContext.locale)')));
      await noted(opened, language);
      assert.equal(await page.getAttribute('html', 'lang'), language === 'de' ? 'de' : 'en');
      const close =
        language === 'de' ? 'Ansicht von Draw a chart von charts schließen' : 'Close the view of Draw a chart';
      assert.match((await by('view-close').getAttribute('aria-label')) ?? '', new RegExp(`^${close}`));
    },
  );

pageTest('a text with a count has the form that goes with it', { surface: { language: 'de' } }, async (opened) => {
  const { page, hub, pass } = opened;
  await hub.say({ dropped: { logMessages: '1', notices: '2' } });
  await pass(100);
  assert.match((await page.locator('#servers').textContent()) ?? '', /1 Protokollmeldung, 2 Hinweise auf Änderungen/);
});

pageTest(
  'a language that the page has not is English, and it says so',
  { surface: { language: 'fr' }, snapshot: { servers: [server('files')] } },
  async ({ page }) => {
    assert.equal(await page.getAttribute('html', 'lang'), 'en');
    assert.match((await page.locator('#history-title').textContent()) ?? '', /^History/);
  },
);
