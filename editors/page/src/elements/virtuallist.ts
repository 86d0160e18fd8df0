// A list of any length of which only the rows in view are in the document. All rows have the same height: their style
// sets it, and the list measures it.

import { h, setAttribute } from './dom.js';

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

export interface RowsOf<K> {
  keyOf: (index: number) => K;
  /** makes a row, or brings the one that is kept up to date */
  row: (index: number, kept: HTMLElement | undefined) => HTMLElement;
  clicked: (index: number) => void;
}

/** The rows of a list, one of which is active. A row is known by its key, and keeps its element while it is in view. */
export class VirtualRows<K> {
  readonly #space = h('div', { class: 'space', role: 'presentation' });
  count = 0;
  active = 0;
  #rowHeight: number;
  readonly #list: HTMLElement;
  readonly #of: RowsOf<K>;
  #drawn: Map<K, HTMLElement> = new Map();
  #sight = { first: 0, end: 0 };

  constructor(list: HTMLElement, rowHeight: number, of: RowsOf<K>) {
    this.#list = list;
    this.#rowHeight = rowHeight;
    this.#of = of;
    list.append(this.#space);
    list.addEventListener(
      'scroll',
      () => {
        const { first, end } = this.#inSight();
        if (first !== this.#sight.first || end !== this.#sight.end) this.draw();
      },
      { passive: true },
    );
    this.#space.addEventListener('click', ({ target }) => {
      const at = [...this.#drawn.values()].findIndex((row) => row.contains(target as Node));
      if (at >= 0) of.clicked(this.#sight.first + at);
    });
    new ResizeObserver(() => this.#measure()).observe(list);
  }

  /** Makes the list as high as its rows, up to the maximum of its style. */
  stretch() {
    const height = this.count * this.#rowHeight;
    this.#space.style.setProperty('height', `${height}px`);
    this.#list.style.setProperty('height', `${height + 2}px`);
  }

  /** @param anew no row is kept */
  draw(anew: boolean = false) {
    this.#sight = this.#inSight();
    const now: Map<K, HTMLElement> = new Map();
    let current: string | undefined;
    for (let index = this.#sight.first; index < this.#sight.end; index++) {
      const key = this.#of.keyOf(index);
      const row = this.#of.row(index, anew ? undefined : this.#drawn.get(key));
      row.style.setProperty('top', `${index * this.#rowHeight}px`);
      row.classList.toggle('active', index === this.active);
      if (index === this.active) current = row.id;
      now.set(key, row);
    }
    for (const [key, row] of this.#drawn) if (now.get(key) !== row) row.remove();
    this.#space.append(...[...now.values()].filter((row) => !row.parentNode));
    setAttribute(this.#list, 'aria-activedescendant', current);
    this.#drawn = now;
  }

  /** Scrolls by a number of rows. */
  scroll(by: number) {
    this.#list.scrollTop += by * this.#rowHeight;
  }

  /** Makes a row the active one, and brings it into view. */
  move(index: number) {
    const { scrollTop, clientHeight } = this.#list;
    this.active = Math.max(0, Math.min(this.count - 1, index));
    const top = this.active * this.#rowHeight;
    const bottom = top + this.#rowHeight;
    if (top < scrollTop) this.#list.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.#list.scrollTop = bottom - clientHeight;
    this.draw();
  }

  /** Returns the row that a key goes to, or undefined if it goes to none. */
  target(key: string): number | undefined {
    const page = Math.max(1, Math.floor(this.#list.clientHeight / this.#rowHeight) - 1);
    const moves: Record<string, number> = {
      ArrowDown: this.active + 1,
      ArrowUp: this.active - 1,
      Home: 0,
      End: this.count - 1,
      PageDown: this.active + page,
      PageUp: this.active - page,
    };
    return moves[key];
  }

  #measure() {
    const height = this.#space.firstElementChild?.getBoundingClientRect().height ?? 0;
    if (height > 0 && height !== this.#rowHeight) {
      this.#rowHeight = height;
      this.stretch();
    }
    this.draw();
  }

  #inSight() {
    const { scrollTop, clientHeight: height } = this.#list;
    return rowsInSight({ scrollTop, height, rowHeight: this.#rowHeight, count: this.count });
  }
}

export interface VirtualList<T> {
  element: HTMLElement;
  /** grown: how many rows are new at the top; the rows in view stay in their place */
  update: (count: number, at: (index: number) => T, grown: number) => void;
  /** marks the row that is open */
  select: (key: string | undefined) => void;
}

export interface ListOf<T> {
  label: string;
  testid: string;
  keyOf: (item: T) => string;
  row: (item: T) => HTMLElement;
  open: (item: T) => void;
}

/**
 * Returns a listbox that is one tab stop. The arrow keys, Home, End, Page Up and Page Down move in it. Enter, Space or
 * a click opens a row.
 */
export function virtualList<T>({ label, testid, keyOf, row, open }: ListOf<T>): VirtualList<T> {
  const element = h('div', {
    'class': 'virtual',
    'role': 'listbox',
    'tabindex': 0,
    'aria-label': label,
    'dataset': { testid },
  });
  let at: (index: number) => T = () => {
    throw new Error('an empty list has no rows');
  };
  let selected: string | undefined;
  const rows = new VirtualRows(element, 44, {
    keyOf: (index) => keyOf(at(index)),
    row: (index, kept) => {
      const item = at(index);
      const one = kept ?? row(item);
      one.id = `row-${keyOf(item)}`;
      setAttribute(one, 'role', 'option');
      setAttribute(one, 'aria-posinset', index + 1);
      setAttribute(one, 'aria-setsize', rows.count);
      setAttribute(one, 'aria-selected', String(keyOf(item) === selected));
      return one;
    },
    clicked: (index) => {
      rows.move(index);
      open(at(index));
    },
  });

  element.addEventListener('keydown', (event) => {
    const to = rows.target(event.key);
    if (to !== undefined) rows.move(to);
    else if ((event.key === 'Enter' || event.key === ' ') && rows.active < rows.count) open(at(rows.active));
    else return;
    event.preventDefault();
  });

  return {
    element,
    update: (count, newAt, grown) => {
      const held = element.scrollTop > 0;
      at = newAt;
      rows.count = count;
      rows.active = Math.max(0, Math.min(count - 1, rows.active + (rows.active > 0 || held ? grown : 0)));
      rows.stretch();
      if (held && grown > 0) rows.scroll(grown);
      rows.draw();
    },
    select: (key) => {
      selected = key;
      rows.draw();
    },
  };
}
