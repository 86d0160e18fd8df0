// Shows a JSON text as a tree. Only the rows in view are in the document. A search finds names and values.

import { h, setText, show } from '../elements/dom.js';
import { VirtualRows } from '../elements/virtuallist.js';
import { startOf, visible } from '../words/text.js';
import { t } from '../words/t.js';
import { jsonSearch } from './jsonsearch.js';
import type { JsonIndex } from '../words/jsonindex.js';

const rowHeight = 22; // the same value as in styles/results.css
const shownOfValue = 160;
const shownWhole = 16 * 1024;
const deepestIndent = 16;
const mostUnfolded = 40;
/** A shorter tree is seen at a glance, and has no search. */
const fewValues = 40;

let trees = 0;

export function jsonTree(index: JsonIndex, label: string) {
  const tree = h('div', {
    'class': 'virtual json-tree',
    'role': 'tree',
    'tabindex': 0,
    'aria-label': label,
    'dataset': { testid: 'json-tree' },
  });
  const details = valueDetails(index);
  const search = jsonSearch(index, label, (value) => reveal(value));
  const { reveal } = foldingRows(tree, index, (value) => search.found().has(value), details.show);
  show(search.element, index.length > fewValues);
  return h('div', { class: 'json' }, search.element, tree, ...details.elements);
}

/** @param moved is called with the value that is active now */
function foldingRows(
  tree: HTMLElement,
  index: JsonIndex,
  isFound: (value: number) => boolean,
  moved: (value: number) => void,
) {
  const prefix = `json-${++trees}`;
  const folds = foldsOf(index);
  const rows = new VirtualRows(tree, rowHeight, {
    keyOf: folds.valueAt,
    row: (at, kept) => {
      const value = folds.valueAt(at);
      const row = kept ?? rowOf(index, value, folds.isOpen(value));
      row.id = `${prefix}-${value}`;
      row.setAttribute('aria-selected', String(at === rows.active));
      row.classList.toggle('found', isFound(value));
      return row;
    },
    clicked: (at) => {
      if (opens(index, folds.valueAt(at))) turn(folds.valueAt(at));
      else move(at);
    },
  });

  /** Draws the tree anew, with this value as the active one. */
  function draw(value: number) {
    rows.count = folds.arrange();
    rows.stretch();
    rows.draw(true);
    move(folds.rowOf(value));
  }

  function move(at: number) {
    rows.move(at);
    moved(folds.valueAt(rows.active));
  }

  function turn(value: number) {
    folds.turn(value);
    draw(value);
  }

  tree.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const value = folds.valueAt(rows.active);
    const to = rows.target(event.key) ?? folds.target(event.key, value);
    if (folds.turns(event.key, value)) turn(value);
    else if (to !== undefined) move(to);
    else return;
    event.preventDefault();
  });
  draw(0);
  return {
    reveal: (value: number) => {
      folds.reveal(value);
      draw(value);
      tree.scrollIntoView({ block: 'nearest' });
    },
  };
}

/** Reports whether a value can be unfolded. */
const opens = (index: JsonIndex, value: number) => index.isContainer(value) && index.counts.at(value) > 0;

/** Which values are unfolded, and which have a row therefore. */
function foldsOf(index: JsonIndex) {
  const open = new Set([0]);
  let rows: number[] = [];
  if (index.counts.at(0) <= mostUnfolded)
    for (const child of index.children(0))
      if (index.isContainer(child) && index.counts.at(child) <= mostUnfolded) open.add(child);

  const rowOf = (value: number) => rows.indexOf(value);

  return {
    /** Finds the values that have a row, and returns their number. */
    arrange: () => {
      rows = [];
      for (let value = 0; value < index.length; value = open.has(value) ? value + 1 : index.behind.at(value))
        rows.push(value);
      return rows.length;
    },
    /** Returns the value of a row. */
    valueAt: (row: number) => rows[row] ?? 0,
    rowOf,
    isOpen: (value: number) => open.has(value),
    turn: (value: number) => {
      if (!open.delete(value)) open.add(value);
    },
    /** Reports whether a key folds or unfolds a value. */
    turns: (key: string, value: number) =>
      key === 'Enter'
        ? index.isContainer(value)
        : opens(index, value) && key === (open.has(value) ? 'ArrowLeft' : 'ArrowRight'),
    /** Returns the row that a key goes to from a value: out of what it is in, or into it. */
    target: (key: string, value: number) => {
      if (key === 'ArrowLeft') return rowOf(Math.max(0, index.parents.at(value)));
      return key === 'ArrowRight' ? rowOf(value) + Number(index.isContainer(value)) : undefined;
    },
    /** Unfolds all that a value is in. */
    reveal: (value: number) => {
      for (let at = index.parents.at(value); at >= 0; at = index.parents.at(at)) open.add(at);
    },
  };
}

function rowOf(index: JsonIndex, value: number, unfolded: boolean) {
  const container = index.isContainer(value);
  const foldable = opens(index, value);
  const parent = index.parents.at(value);
  const depth = index.depths.at(value);
  const named = index.names.at(value) >= 0;
  const name = named
    ? visible(startOf(index.name(value, shownOfValue), 80))
    : parent < 0
      ? ''
      : String(index.places.at(value));
  const row = h(
    'div',
    {
      'class': 'json-row',
      'role': 'treeitem',
      'aria-level': depth + 1,
      'aria-posinset': index.places.at(value) + 1,
      'aria-setsize': parent < 0 ? 1 : index.counts.at(parent),
      'aria-expanded': foldable && String(unfolded),
      'dataset': { value: String(value) },
    },
    h('span', { 'class': 'twisty', 'aria-hidden': 'true', 'text': foldable ? (unfolded ? '▾' : '▸') : '' }),
    name !== '' && h('span', { class: named ? 'json-name' : 'json-name muted', text: name }),
    name !== '' && h('span', { text: ': ' }),
    h('span', { class: container ? 'muted' : 'json-value', text: textOf(index, value) }),
  );
  row.style.setProperty('padding-left', `${4 + 12 * Math.min(depth, deepestIndent)}px`);
  return row;
}

/** Returns what a row shows of a value: its beginning, or how much is in it. */
function textOf(index: JsonIndex, value: number) {
  const kind = index.kind(value);
  if (kind === 'object') return `{${index.counts.at(value)}}`;
  if (kind === 'array') return `[${index.counts.at(value)}]`;
  const text =
    kind === 'string'
      ? JSON.stringify(visible(index.string(value, shownOfValue)))
      : visible(index.source(value, shownOfValue));
  return lengthOf(index, value) > shownOfValue ? `${text}…` : text;
}

/** Returns the length of a value as it is spelled. */
const lengthOf = (index: JsonIndex, value: number) => index.ends.at(value) - index.starts.at(value);

/** What is shown of the active value below the tree: its path, and all of a text that its row does not show in full. */
function valueDetails(index: JsonIndex) {
  const path = h('p', { class: 'muted code', dataset: { testid: 'json-path' } });
  const whole = h('pre', { 'class': 'code exact', 'tabindex': 0, 'role': 'group', 'aria-label': t('Whole value') });
  return {
    elements: [path, whole],
    show: (value: number) => {
      setText(path, pathOf(index, value));
      show(path, value > 0);
      const long = !index.isContainer(value) && lengthOf(index, value) > shownOfValue / 2;
      show(whole, long);
      setText(whole, long ? visible(startOf(index.string(value, shownWhole + 1), shownWhole)) : '');
    },
  };
}

/** Returns the path of a value, as a program would write it. */
function pathOf(index: JsonIndex, value: number) {
  const steps: string[] = [];
  for (let at = value; index.parents.at(at) >= 0 && steps.length < 64; at = index.parents.at(at)) {
    if (index.names.at(at) < 0) steps.unshift(`[${index.places.at(at)}]`);
    else {
      const name = index.name(at, shownOfValue);
      steps.unshift(/^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(visible(name))}]`);
    }
  }
  const deep = index.depths.at(value) > steps.length;
  return `${deep ? '…' : '$'}${steps.join('')}`;
}
