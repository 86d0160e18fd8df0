// A button that opens a menu of further actions below it. The menu follows the pattern of ARIA: arrows move in it,
// Enter acts, Escape and Tab close it, and the focus goes back to the button.

import { h, replace, show } from './dom.js';
import { iconButton } from './icon.js';
import type { IconName } from './icon.js';

export interface MenuItem {
  text: string;
  act?: () => void;
  /** the item is a link, for example to a command of the editor */
  href?: string;
  testid?: string;
  /** the item is one of several choices, of which one applies */
  checked?: boolean;
}

let ids = 0;

/**
 * Returns a button with an icon, and the menu that it opens.
 * @param label of the button, for its tooltip and for screen readers
 * @param items returns what the menu offers at the moment it opens; without any it does not open
 */
export function menuButton(glyph: IconName, label: string, items: () => readonly MenuItem[], testid?: string) {
  const id = `menu-${++ids}`;
  const list = h('ul', { id, 'class': 'menu', 'role': 'menu', 'aria-label': label, 'hidden': true });
  const button = iconButton(glyph, label, {
    'aria-haspopup': 'menu',
    'aria-expanded': 'false',
    'aria-controls': id,
    'dataset': testid ? { testid } : {},
    'onclick': () => (list.hidden ? open('first') : close()),
  });
  const element = h('span', { class: 'menu-of' }, button, list);
  const entries = () => [...list.querySelectorAll<HTMLElement>('[role^=menuitem]')];

  function open(at: 'first' | 'last') {
    const offered = items();
    if (offered.length === 0 || button.getAttribute('aria-disabled') === 'true') return;
    replace(list, ...offered.map((item) => entryOf(item, close)));
    show(list, true);
    button.setAttribute('aria-expanded', 'true');
    const all = entries();
    (all.find((one) => one.getAttribute('aria-checked') === 'true') ?? all.at(at === 'first' ? 0 : -1))?.focus();
  }

  function close() {
    if (list.hidden) return;
    if (list.contains(document.activeElement)) button.focus();
    show(list, false);
    button.setAttribute('aria-expanded', 'false');
  }

  button.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    open(event.key === 'ArrowDown' ? 'first' : 'last');
    event.preventDefault();
    event.stopPropagation();
  });
  list.addEventListener('keydown', (event) => {
    // The repeats of a key that is held down were meant for the button: in the menu they would choose.
    if (event.repeat && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      return;
    }
    const all = entries();
    const at = all.findIndex((one) => one === event.target);
    const { key } = event;
    const to = { ArrowDown: all[at + 1] ?? all[0], ArrowUp: all.at(at - 1), Home: all[0], End: all.at(-1) }[key];
    if (to) to.focus();
    else if (key === 'Escape' || key === 'Tab') close();
    else return;
    // Tab goes on from the button, which has the focus now.
    if (key !== 'Tab') event.preventDefault();
    event.stopPropagation();
  });
  element.addEventListener('focusout', ({ relatedTarget: to }) => {
    // Another window of the desktop may take the focus for a moment: the menu stays.
    if (document.hasFocus() && !(to instanceof Node && element.contains(to))) close();
  });

  return { element, button, close };
}

/** @param close closes the menu */
const entryOf = ({ text, act, href, testid, checked }: MenuItem, close: () => void) =>
  h(
    'li',
    { role: 'none' },
    h(href ? 'a' : 'button', {
      href,
      'class': href ? 'button' : '',
      'role': checked === undefined ? 'menuitem' : 'menuitemradio',
      'aria-checked': checked === undefined ? undefined : String(checked),
      'tabindex': -1,
      'dataset': testid ? { testid } : {},
      'text': text,
      // The second click of a double click on the button is meant for the button.
      'onclick': ({ detail: clicks }: MouseEvent) => {
        if (clicks > 1) return;
        close();
        act?.();
      },
    }),
  );
