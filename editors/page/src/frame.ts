// Translates the English texts of page.html into the language of the page.

import { language } from './language.js';
import { byId } from './page.js';
import { t } from './words/t.js';

/**
 * Sets the language of the document, and translates its texts.
 * @param alone the host shows only what it opens
 */
export function translateFrame(alone: boolean) {
  document.documentElement.lang = language;
  byId('choose').textContent = alone
    ? t('What was opened here is gone, or not known yet.')
    : t('Select a server, or something that has ended.');
  byId('strip').setAttribute('aria-label', t('Questions out of view'));
  for (const [section, name] of [
    ['now', t('Now')],
    ['servers', t('Servers')],
    ['history', t('History')],
  ]) {
    const text = byId(`${section}-title`).firstChild;
    if (text) text.nodeValue = `${name} `;
  }
}
