// A list of any length of which only the rows in view are in the document. All rows have the same height: their style
// sets it, and the list measures it.

import { h } from './dom.js';

const spare = 6; // rows above and below those in view

/**
 * Returns which rows a list of this height has in the document. It is pure, so that it can be tested without a browser.
 */
export function rowsInSight({
  scrollTop,
  height,
  rowHeight,
  count,
}: {
  scrollTop: number;
  height: number;
  rowHeight: number;
  count: number;
}): { first: number; end: number } {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight)) - spare);
  return { first, end: Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + spare) };
}

export interface VirtualList<T> {
  element: HTMLElement;
  /** grown: how many rows are new at the top; the rows in view stay in their place */
  update: (count: number, at: (index: number) => T, grown: number) => void;
  /** marks the row that is open */
  select: (key: string | undefined) => void;
}

/**
 * Returns a listbox that is one tab stop. The arrow keys, Home, End, Page Up and Page Down move in it. Enter, Space or
 * a click opens a row.
 */
export function virtualList<T>({
  label,
  testid,
  keyOf,
  row,
  open,
}: {
  label: string;
  testid: string;
  keyOf: (item: T) => string;
  row: (item: T) => HTMLElement;
  open: (item: T) => void;
}): VirtualList<T> {
  const space = h('div', { class: 'space', role: 'presentation' });
  const element = h(
    'div',
    { 'class': 'virtual', 'role': 'listbox', 'tabindex': 0, 'aria-label': label, 'dataset': { testid } },
    space,
  );
  let rows: Map<string, HTMLElement> = new Map();
  let count = 0;
  let at: (index: number) => T = () => {
    throw new Error('an empty list has no rows');
  };
  let rowHeight = 44;
  let active = 0;
  let selected: string | undefined;
  let rendered = '';

  function render() {
    const { first, end } = rowsInSight({
      scrollTop: element.scrollTop,
      height: element.clientHeight,
      rowHeight,
      count,
    });
    const now: Map<string, HTMLElement> = new Map();
    const missing = document.createDocumentFragment();
    for (let index = first; index < end; index++) {
      const item = at(index);
      const key = keyOf(item);
      const kept = rows.get(key);
      const one = kept ?? row(item);
      if (!kept) {
        one.id = `row-${key}`;
        one.setAttribute('role', 'option');
        missing.append(one);
      }
      one.style.setProperty('top', `${index * rowHeight}px`);
      one.setAttribute('aria-posinset', String(index + 1));
      one.setAttribute('aria-setsize', String(count));
      one.setAttribute('aria-selected', String(key === selected));
      one.classList.toggle('active', index === active);
      if (index === active) element.setAttribute('aria-activedescendant', one.id);
      now.set(key, one);
    }
    for (const [key, one] of rows) if (!now.has(key)) one.remove();
    if (active < first || active >= end) element.removeAttribute('aria-activedescendant');
    space.append(missing);
    rows = now;
    rendered = `${first}-${end}`;
  }

  // The list is as high as its rows, up to the maximum of its style.
  function stretch() {
    space.style.setProperty('height', `${count * rowHeight}px`);
    element.style.setProperty('height', `${count * rowHeight + 2}px`);
  }

  function measure() {
    const height = space.firstElementChild?.getBoundingClientRect().height ?? 0;
    if (height > 0 && height !== rowHeight) {
      rowHeight = height;
      stretch();
    }
    render();
  }

  function move(index: number) {
    active = Math.max(0, Math.min(count - 1, index));
    const top = active * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight;
    render();
  }

  element.addEventListener(
    'scroll',
    () => {
      const { first, end } = rowsInSight({
        scrollTop: element.scrollTop,
        height: element.clientHeight,
        rowHeight,
        count,
      });
      if (rendered !== `${first}-${end}`) render();
    },
    { passive: true },
  );
  element.addEventListener('keydown', (event) => {
    const page = Math.max(1, Math.floor(element.clientHeight / rowHeight) - 1);
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      Home: 0,
      End: count - 1,
      PageDown: active + page,
      PageUp: active - page,
    };
    const to = moves[event.key];
    if (to !== undefined) move(to);
    else if ((event.key === 'Enter' || event.key === ' ') && active < count) open(at(active));
    else return;
    event.preventDefault();
  });
  space.addEventListener('click', (event) => {
    const one = event.target instanceof Element ? event.target.closest('[role=option]') : null;
    const index = Number(one?.getAttribute('aria-posinset') ?? 0) - 1;
    if (index < 0 || index >= count) return;
    move(index);
    open(at(index));
  });
  new ResizeObserver(measure).observe(element);

  return {
    element,
    update: (newCount, newAt, grown) => {
      const held = element.scrollTop > 0;
      count = newCount;
      at = newAt;
      active = Math.max(0, Math.min(count - 1, active + (active > 0 || held ? grown : 0)));
      stretch();
      if (held && grown > 0) element.scrollTop += grown * rowHeight;
      render();
    },
    select: (key) => {
      selected = key;
      render();
    },
  };
}
