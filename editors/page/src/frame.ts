// Translates the English texts of page.html into the language of the page.

import { language } from './language.js';
import { byId } from './page.js';
import { t } from './words/t.js';

/** Sets the language of the document, and translates its texts. */
export function translateFrame() {
  document.documentElement.lang = language;
  byId('choose').textContent = t('Select a server, or something that has ended.');
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
