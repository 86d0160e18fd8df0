// What only the person decides about a view, one question at a time: whether it is shown although it reaches places
// outside, and whether an address is opened.

import { h, replace, show } from '../elements/dom.js';
import { aboutUrl } from '../questions/cardurl.js';
import { visible } from '../words/text.js';
import { t } from '../words/t.js';
import { guarded } from './guarded.js';

export type Moves = Pick<typeof import('../elements/moves.js'), 'watchMoves' | 'forgetMoves'>;

/** @param label says what the text means where the view is not seen */
export const button = (text: string, label: string, testid: string, onclick: (event: MouseEvent) => void) =>
  h('button', { 'class': 'secondary', text, 'aria-label': label, 'dataset': { testid }, onclick });

export class ViewAsks {
  readonly element = h('div', { class: 'view-asks', role: 'group', hidden: true });
  readonly #about: string;
  readonly #moves: Moves;

  /** @param about names the view */
  constructor(about: string, moves: Moves) {
    this.#about = about;
    this.#moves = moves;
  }

  /** @param agreed is called when the person wants to see a view that reaches places outside */
  consent(agreed: () => void) {
    const label = t('Show anyway: {0}', this.#about);
    const go = button(t('Show anyway'), label, 'view-consent', (event) => {
      if (!meant(event)) return;
      show(this.element, false);
      agreed();
    });
    const meant = guarded(go, this.#moves);
    replace(this.element, h('span', { text: t('Data of this call can be sent there.') }), go);
    show(this.element, true);
  }

  /** Asks whether an address is opened. Returns undefined if another question is open. */
  link(url: string): Promise<boolean> | undefined {
    if (!this.element.hidden) return undefined;
    return new Promise((resolve) => {
      const done = (yes: boolean) => {
        show(this.element, false);
        replace(this.element);
        resolve(yes);
      };
      replace(
        this.element,
        h('span', { dir: 'auto', text: t('The view wants to open {0}', visible(new URL(url).href)) }),
        ...aboutUrl(url).warnings.map((text) => h('span', { class: 'warning', text: visible(text) })),
        this.#opener(url, () => done(true)),
        button(t('Do not open'), t('Do not open the address'), 'view-refuse-link', () => done(false)),
      );
      show(this.element, true);
    });
  }

  #opener(url: string, opened: () => void) {
    const click = (event: MouseEvent) => {
      if (meant(event))
        setTimeout(opened); // after the browser has followed the link
      else event.preventDefault();
    };
    const link = h('a', {
      href: url,
      target: '_blank',
      rel: 'noopener noreferrer',
      text: t('Open it'),
      dataset: { testid: 'view-open-link' },
      onclick: click,
      onauxclick: click,
    });
    const meant = guarded(link, this.#moves);
    return link;
  }
}
