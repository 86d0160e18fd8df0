// A field with proposals: the combobox of the ARIA Authoring Practices, with a list that depends on the text of the
// field. The typed text is the value. Only Enter or a click takes a proposal.

import { h, replace, setText, show } from './dom.js';
import { guardMs } from './guardtime.js';
import { visible } from '../words/text.js';
import { t } from '../words/t.js';

export interface Proposals {
  values: string[];
  /** says that there are more values, or why there are none */
  note: string;
}

export type Propose = (typed: string, unwanted: AbortSignal) => Promise<Proposals>;

export interface Combobox {
  input: HTMLInputElement;
  /** contains the field, its list and the note */
  element: HTMLElement;
  /** cancels the request for proposals */
  leave: () => void;
}

/** How long after the last key the server is asked for proposals, in milliseconds. */
const pause = 200;
const mostShown = 100;
/** Maximum length of a proposal, in UTF-16 units: it goes into a field of one line. */
const longest = 1000;

let boxes = 0;

export function combobox({
  input,
  label,
  propose,
}: {
  input: HTMLInputElement;
  label: string;
  propose: (typed: string, unwanted: AbortSignal) => Promise<Proposals>;
}): Combobox {
  const id = `box-${++boxes}`;
  const list = h('ul', {
    'class': 'proposals',
    'id': id,
    'role': 'listbox',
    'aria-label': t('{0}: proposals', label),
    'hidden': true,
  });
  const said = h('p', { class: 'muted', role: 'status' });
  let values: string[] = [];
  let active = -1;
  /** When the list was drawn last. A click soon after that was meant for what the list covers: it takes no proposal. */
  let shownAt = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | undefined;
  for (const [name, value] of Object.entries({
    'role': 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': id,
    'autocomplete': 'off',
  }))
    input.setAttribute(name, value);

  const optionId = (at: number) => `${id}-${at}`;

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

  function move(at: number) {
    active = at;
    for (const [i, option] of [...list.children].entries()) option.setAttribute('aria-selected', String(i === at));
    if (at < 0) input.removeAttribute('aria-activedescendant');
    else {
      input.setAttribute('aria-activedescendant', optionId(at));
      list.children[at]?.scrollIntoView({ block: 'nearest' });
    }
  }

  function take(at: number) {
    const value = values[at];
    if (value === undefined) return;
    input.value = value;
    close();
    setText(said, '');
    input.dispatchEvent(new Event('input', { bubbles: true }));
    close(); // the event has scheduled a request for proposals, which nobody needs now
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
    // Values that the list cannot show in full are left out: a person would send them to the server without reading
    // them in full.
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
  // Not on a click: before a click the field loses the focus, which closes the list.
  list.addEventListener('pointerdown', (event) => {
    const option = event.target instanceof Element ? event.target.closest('[role=option]') : null;
    event.preventDefault();
    if (option && performance.now() - shownAt >= guardMs) take([...list.children].indexOf(option));
  });
  return { input, element: h('div', { class: 'combobox' }, input, list, said), leave };
}
