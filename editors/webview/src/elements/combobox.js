// A field with proposals: the combobox of ARIA's Authoring Practices with a list that the field's text filters. What is
// typed counts; a proposal is taken by Enter or a click alone.

import { h, replace, setText, show } from './dom.js';
import { guardMs } from './guardtime.js';
import { visible } from '../words/text.js';
import { t } from '../words/t.js';

/**
 * @typedef {object} Proposals
 * @property {string[]} values
 * @property {string} note what there is to say of them: that there are more, or why there are none
 */
/**
 * @typedef {object} Combobox
 * @property {HTMLInputElement} input
 * @property {HTMLElement} element the field, its list and what is said of it
 * @property {() => void} leave nobody waits for proposals any more
 */

/** So long nobody has typed, before a server is asked. */
const pause = 200;
const mostShown = 100;
/** Characters of a proposal that can be taken: it goes into a field of one line. */
const longest = 1000;

let boxes = 0;

/**
 * @param {{ input: HTMLInputElement, label: string, propose: (typed: string, unwanted: AbortSignal) => Promise<Proposals>
 * }} of
 * @returns {Combobox}
 */
export function combobox({ input, label, propose }) {
  const id = `box-${++boxes}`;
  const list = h('ul', {
    'class': 'proposals',
    'id': id,
    'role': 'listbox',
    'aria-label': t('{0}: proposals', label),
    'hidden': true,
  });
  const said = h('p', { class: 'muted', role: 'status' });
  /** @type {string[]} */
  let values = [];
  let active = -1;
  /** When the list came up: a click that was meant for what it covers takes no proposal. */
  let shownAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {AbortController | undefined} */
  let asking;
  for (const [name, value] of Object.entries({
    'role': 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': id,
    'autocomplete': 'off',
  }))
    input.setAttribute(name, value);

  const optionId = (/** @type {number} */ at) => `${id}-${at}`;

  function leave() {
    clearTimeout(timer);
    asking?.abort();
    asking = undefined;
  }

  function close() {
    leave();
    active = -1;
    show(list, false);
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  }

  /** @param {number} at */
  function move(at) {
    active = at;
    for (const [i, option] of [...list.children].entries()) option.setAttribute('aria-selected', String(i === at));
    if (at < 0) input.removeAttribute('aria-activedescendant');
    else {
      input.setAttribute('aria-activedescendant', optionId(at));
      list.children[at]?.scrollIntoView({ block: 'nearest' });
    }
  }

  /** @param {number} at */
  function take(at) {
    const value = values[at];
    if (value === undefined) return;
    input.value = value;
    close();
    setText(said, '');
    input.dispatchEvent(new Event('input', { bubbles: true }));
    close(); // one that is taken wants no proposals
  }

  function draw() {
    replace(
      list,
      ...values.map((value, at) =>
        h('li', {
          'id': optionId(at),
          'role': 'option',
          'aria-selected': 'false',
          'dir': 'auto',
          'text': visible(value),
        }),
      ),
    );
    const open = values.length > 0 && document.activeElement === input;
    show(list, open);
    shownAt = performance.now();
    input.setAttribute('aria-expanded', String(open));
    move(-1);
  }

  async function ask() {
    leave();
    const mine = (asking = new AbortController());
    const { values: found, note } = await propose(input.value, mine.signal);
    if (mine.signal.aborted || asking !== mine) return;
    asking = undefined;
    // What a person could not see in the list would go to the server unseen.
    values = [...new Set(found)]
      .filter((value) => value !== '' && value.length <= longest && visible(value) === value && !/[\n\t]/.test(value))
      .slice(0, mostShown);
    setText(said, note);
    draw();
  }

  const soon = () => {
    leave();
    timer = setTimeout(() => void ask(), pause);
  };
  input.addEventListener('input', soon);
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.isComposing) return;
    const opened = !list.hidden;
    if (event.key === 'ArrowDown' && opened) move(active + 1 < values.length ? active + 1 : 0);
    else if (event.key === 'ArrowDown') void ask();
    else if (event.key === 'ArrowUp' && opened) move(active > 0 ? active - 1 : values.length - 1);
    else if (event.key === 'Enter' && opened && active >= 0) take(active);
    else if (event.key === 'Escape' && opened) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  // Not on a click: the field would have lost the focus by then, and closed the list.
  list.addEventListener('pointerdown', (event) => {
    const option = event.target instanceof Element ? event.target.closest('[role=option]') : null;
    event.preventDefault();
    if (option && performance.now() - shownAt >= guardMs) take([...list.children].indexOf(option));
  });
  return { input, element: h('div', { class: 'combobox' }, input, list, said), leave };
}
