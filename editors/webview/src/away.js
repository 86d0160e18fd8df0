// The banner about what the previous hub ended because no window came back to it in time. It stays until it is closed.

import { h, replace, show } from './elements/dom.js';
import { iconButton } from './elements/icon.js';
import { byId } from './page.js';
import { plural, t } from './words/t.js';

/** @param {import('./page.js').Page} page @returns {() => void} */
export function awayPainter({ state, drafts, announce }) {
  const banner = byId('away');
  let said = '';
  const dismiss = () => {
    drafts.dismissed(true);
    show(banner, false);
    byId('history-title').focus();
  };
  return () => {
    const ends = drafts.dismissed() ? [] : state.history.filter((entry) => entry.away);
    const questions = ends.filter(({ about }) => about.direction === 'REQUEST_DIRECTION_INCOMING').length;
    const calls = ends.length - questions;
    const what = [
      calls ? plural(calls, '{0} request', '{0} requests') : '',
      questions ? plural(questions, '{0} question', '{0} questions') : '',
    ].filter(Boolean);
    const text = ends.length
      ? t(
          'While this window was away, McpHub ended {0}: nobody came back in time. They are in the history.',
          what.join(t(' and ')),
        )
      : '';
    if (text === said) return;
    said = text;
    show(banner, text !== '');
    replace(
      banner,
      h('span', { 'class': 'icon', 'aria-hidden': 'true', 'text': '!' }),
      h('span', { class: 'grows-wide', text }),
      iconButton('close', t('Close, and go to the history'), { dataset: { testid: 'close-away' }, onclick: dismiss }),
    );
    announce(text);
  };
}
