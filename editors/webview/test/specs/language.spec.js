// The page speaks the language of its host, or of its browser.

import assert from 'node:assert/strict';
import { pageTest } from '../harness/pagetest.js';
import { busySnapshot, filesTools, prompts, server } from '../harness/world.js';

pageTest(
  'an editor in German has the page in German, down to its frame',
  {
    surface: { language: 'de' },
    snapshot: { ...busySnapshot(), prompts: [prompts.approval] },
    tools: { files: filesTools },
  },
  async ({ page, by }) => {
    assert.equal(await page.getAttribute('html', 'lang'), 'de');
    assert.match((await page.locator('#questions-title').textContent()) ?? '', /^Fragen 1$/);
    assert.equal(await page.getAttribute('#strip', 'aria-label'), 'Fragen außer Sicht');
    assert.equal(await by('accept').first().textContent(), 'Einmal erlauben');
    assert.match((await page.locator('#running').textContent()) ?? '', /Läuft/);
    await by('show-keys').click();
    assert.match((await by('keys').textContent()) ?? '', /Eine Frage verwerfen/);
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
