// The strip of the open questions whose cards are out of view. It stays at the top of the page while that is scrolled.

import { h, patchList, setText, show } from '../elements/dom.js';
import { holdsFocus } from '../elements/keepfocus.js';
import { byId } from '../page.js';
import { plural } from '../words/t.js';

const most = 2; // in one line: the strip stands in the place of the page's title

export interface Row {
  promptId: string;
  title: string;
  server: string;
}

/** @returns shows the rows, oldest first */
export function questionStrip(reveal: (promptId: string) => void): (rows: readonly Row[]) => void {
  const list = h('ol', { dataset: { testid: 'strip' } });
  byId('strip').append(list);
  return (rows) => {
    const shown = rows.length > most ? rows.slice(0, most - 1) : rows;
    const beyond = rows[shown.length];
    const more: Row[] = beyond
      ? [
          {
            promptId: beyond.promptId,
            title: plural(rows.length - shown.length, '{0} more question', '{0} more questions'),
            server: '',
          },
        ]
      : [];
    const had = holdsFocus(list);
    patchList(
      list,
      [...shown, ...more],
      ({ promptId, title }) => `${promptId} ${title}`,
      ({ promptId }) =>
        h(
          'li',
          {},
          h(
            'button',
            { dataset: { testid: `strip-${promptId}` }, onclick: () => reveal(promptId) },
            h('span', { class: 'name' }),
            h('span', { class: 'of' }),
          ),
        ),
      (element, { title, server }) => {
        const [name, of] = element.querySelectorAll('span');
        if (name) setText(name, title);
        if (of) setText(of, server);
      },
    );
    show(list, rows.length > 0);
    // When a question closes, its row disappears. The focus must not get lost, and the page must not move.
    if (had && !holdsFocus(list)) (list.querySelector('button') ?? byId('title')).focus({ preventScroll: true });
  };
}
