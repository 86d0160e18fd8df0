// A field with proposals: the combobox of the ARIA Authoring Practices, with a list that depends on the text of the
// field. The typed text is the value. Only Enter or a click takes a proposal.

import { h, replace, setAttribute, setText, show } from './dom.js';
import { guardMs } from './guardtime.js';
import { visible } from '../words/text.js';
import { t } from '../words/t.js';

export interface Proposals {
  values: string[];
  /** says that there are more values, or why there are none */
  note: string;
}

export type Propose = (typed: string, unwanted: AbortSignal) => Promise<Proposals>;

/** How long after the last key the server is asked for proposals, in milliseconds. */
const pause = 200;
const mostShown = 100;
/** Maximum length of a proposal, in UTF-16 units: it goes into a field of one line. */
const longest = 1000;

let boxes = 0;

/** Returns the field with its list and the note. */
export function combobox(input: HTMLInputElement, label: string, propose: Propose): HTMLElement {
  const said = h('p', { class: 'muted', role: 'status' });
  const list = proposalList(input, label, take);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | undefined;

  /** Cancels the request for proposals. */
  function leave() {
    clearTimeout(timer);
    asking?.abort();
    asking = undefined;
  }

  function close() {
    leave();
    list.close();
  }

  function take(value: string) {
    input.value = value;
    close();
    setText(said, '');
    input.dispatchEvent(new Event('input', { bubbles: true }));
    close(); // the event has scheduled a request for proposals, which nobody needs now
  }

  async function ask() {
    leave();
    const mine = (asking = new AbortController());
    const { values, note } = await propose(input.value, mine.signal);
    if (mine.signal.aborted || asking !== mine) return;
    asking = undefined;
    setText(said, note);
    list.draw(showable(values));
  }

  input.addEventListener('input', () => {
    leave();
    timer = setTimeout(() => void ask(), pause);
  });
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.isComposing) return;
    const opened = !list.element.hidden;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const value = list.active();
    if (opened && by) list.move(by);
    else if (event.key === 'ArrowDown') void ask();
    else if (event.key === 'Enter' && opened && value !== undefined) take(value);
    else if (event.key === 'Escape' && opened) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return h('div', { class: 'combobox' }, input, list.element, said);
}

/**
 * Returns the values that the list can show in full: a person would send the others to the server without reading them
 * in full.
 */
const showable = (values: string[]) =>
  [...new Set(values)]
    .filter((value) => value !== '' && value.length <= longest && visible(value) === value && !/[\n\t]/.test(value))
    .slice(0, mostShown);

/** The list below a field, whose attributes say that it is open, and which proposal is active. */
function proposalList(input: HTMLInputElement, label: string, take: (value: string) => void) {
  const id = `box-${++boxes}`;
  const element = h('ul', {
    'class': 'proposals',
    id,
    'role': 'listbox',
    'aria-label': t('{0}: suggestions', label),
    'hidden': true,
  });
  let values: string[] = [];
  let active = -1;
  /** When the list was drawn last. A click soon after that was meant for what the list covers: it takes no proposal. */
  let shownAt = 0;
  const optionId = (at: number) => `${id}-${at}`;

  function go(at: number) {
    active = at;
    for (const [i, option] of [...element.children].entries()) option.setAttribute('aria-selected', String(i === at));
    setAttribute(input, 'aria-activedescendant', at < 0 ? undefined : optionId(at));
    element.children[at]?.scrollIntoView({ block: 'nearest' });
  }

  function open(yes: boolean) {
    show(element, yes);
    input.setAttribute('aria-expanded', String(yes));
    go(-1);
  }

  input.autocomplete = 'off';
  input.setAttribute('role', 'combobox');
  input.setAttribute('aria-autocomplete', 'list');
  input.setAttribute('aria-controls', id);
  open(false);
  // Not on a click: before a click the field loses the focus, which closes the list.
  element.addEventListener('pointerdown', (event) => {
    const option = event.target instanceof Element ? event.target.closest('[role=option]') : null;
    const value = values[[...element.children].findIndex((one) => one === option)];
    event.preventDefault();
    if (value !== undefined && performance.now() - shownAt >= guardMs) take(value);
  });
  return {
    element,
    close: () => open(false),
    active: () => values[active],
    /** Goes to the next proposal or the one before, and from the last one to the first. */
    move: (by: number) => go((Math.max(active, by < 0 ? 0 : -1) + by + values.length) % values.length),
    draw: (now: string[]) => {
      values = now;
      const option = (value: string, at: number) =>
        h('li', { id: optionId(at), role: 'option', dir: 'auto', text: visible(value) });
      replace(element, ...values.map(option));
      shownAt = performance.now();
      open(values.length > 0 && document.activeElement === input);
    },
  };
}
