// Shows a JSON text as a tree. Only the rows in view are in the document. A search finds names and values.

import { h, setText, show } from '../elements/dom.js';
import { rowsInSight } from '../elements/virtuallist.js';
import { pacer } from '../words/jsonindex.js';
import { startOf, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { JsonIndex } from '../words/jsonindex.js';

const rowHeight = 22; // the same value as in styles/results.css
const shownOfValue = 160;
const shownWhole = 16 * 1024;
const mostFound = 10_000;
const deepestIndent = 16;
const unfoldedAtFirst = 40;
/** A shorter tree is seen at a glance, and has no search. */
const fewValues = 40;

let trees = 0;

export function jsonTree(index: JsonIndex, label: string) {
  const prefix = `json-${++trees}`;
  const unfolded: Set<number> = new Set([0]);
  /** The values that have a row. */
  let rows: number[] = [];
  let active = 0;
  let drawn: Map<number, HTMLElement> = new Map();

  const space = h('div', { class: 'space', role: 'presentation' });
  const tree = h(
    'div',
    {
      'class': 'virtual json-tree',
      'role': 'tree',
      'tabindex': 0,
      'aria-label': label,
      'dataset': { testid: 'json-tree' },
    },
    space,
  );
  const place = h('p', { class: 'muted code', dataset: { testid: 'json-path' } });
  const whole = h('pre', { 'class': 'code exact', 'tabindex': 0, 'role': 'group', 'aria-label': t('Whole value') });
  const { element: search, matches } = searchBox(index, label, (value) => {
    reveal(value);
    tree.scrollIntoView({ block: 'nearest' });
  });

  function arrange() {
    rows = [];
    for (let value = 0; value < index.length;) {
      rows.push(value);
      value = unfolded.has(value) ? value + 1 : index.behind.at(value);
    }
    space.style.setProperty('height', `${rows.length * rowHeight}px`);
    tree.style.setProperty('height', `${rows.length * rowHeight + 2}px`);
  }

  function draw(anew = false) {
    const { first, end } = rowsInSight({
      scrollTop: tree.scrollTop,
      height: tree.clientHeight,
      rowHeight,
      count: rows.length,
    });
    const now: Map<number, HTMLElement> = new Map();
    for (let at = first; at < end; at++) {
      const value = rows[at] ?? 0;
      const row = (anew ? undefined : drawn.get(value)) ?? rowOf(value);
      row.style.setProperty('top', `${at * rowHeight}px`);
      row.classList.toggle('active', at === active);
      row.setAttribute('aria-selected', String(at === active));
      now.set(value, row);
    }
    for (const [value, row] of drawn) if (now.get(value) !== row) row.remove();
    space.append(...[...now].filter(([value, row]) => drawn.get(value) !== row).map(([, row]) => row));
    drawn = now;
    const current = now.get(rows[active] ?? -1);
    if (current) tree.setAttribute('aria-activedescendant', current.id);
    else tree.removeAttribute('aria-activedescendant');
  }

  function rowOf(value: number) {
    const container = index.isContainer(value);
    const count = index.counts.at(value);
    const parent = index.parents.at(value);
    const named = index.names.at(value) >= 0;
    const name = named
      ? visible(startOf(index.name(value, shownOfValue), 80))
      : parent < 0
        ? ''
        : String(index.places.at(value));
    const kind = index.kind(value);
    const text = container
      ? kind === 'object'
        ? `{${count}}`
        : `[${count}]`
      : kind === 'string'
        ? JSON.stringify(visible(index.string(value, shownOfValue)))
        : visible(index.source(value, shownOfValue));
    const more = !container && index.ends.at(value) - index.starts.at(value) > shownOfValue ? '…' : '';
    const row = h(
      'div',
      {
        'id': `${prefix}-${value}`,
        'class': 'json-row',
        'role': 'treeitem',
        'aria-level': index.depths.at(value) + 1,
        'aria-posinset': index.places.at(value) + 1,
        'aria-setsize': parent < 0 ? 1 : index.counts.at(parent),
        'aria-expanded': container && count > 0 && String(unfolded.has(value)),
        'dataset': { value: String(value) },
      },
      h('span', {
        'class': 'twisty',
        'aria-hidden': 'true',
        'text': container && count > 0 ? (unfolded.has(value) ? '▾' : '▸') : '',
      }),
      name !== '' && h('span', { class: named ? 'json-name' : 'json-name muted', text: name }),
      name !== '' && h('span', { text: ': ' }),
      h('span', { class: container ? 'muted' : 'json-value', text: text + more }),
    );
    row.style.setProperty('padding-left', `${4 + 12 * Math.min(index.depths.at(value), deepestIndent)}px`);
    row.classList.toggle('found', matches().has(value));
    return row;
  }

  function move(at: number) {
    active = Math.max(0, Math.min(rows.length - 1, at));
    const top = active * rowHeight;
    if (top < tree.scrollTop) tree.scrollTop = top;
    else if (top + rowHeight > tree.scrollTop + tree.clientHeight) tree.scrollTop = top + rowHeight - tree.clientHeight;
    draw();
    const value = rows[active] ?? 0;
    setText(place, pathOf(index, value));
    show(place, value > 0);
    const long = !index.isContainer(value) && index.ends.at(value) - index.starts.at(value) > shownOfValue / 2;
    show(whole, long);
    setText(whole, long ? visible(startOf(index.string(value, shownWhole + 1), shownWhole)) : '');
  }

  function fold(value: number, open: boolean) {
    if (open) unfolded.add(value);
    else unfolded.delete(value);
    arrange();
    draw(true);
    move(rows.indexOf(value));
  }

  function reveal(value: number) {
    for (let at = index.parents.at(value); at >= 0; at = index.parents.at(at)) unfolded.add(at);
    arrange();
    draw(true);
    move(rows.indexOf(value));
  }

  /** Reports whether a value can be folded or unfolded and is not so already. */
  const turns = (value: number, open: boolean) =>
    index.isContainer(value) && index.counts.at(value) > 0 && unfolded.has(value) !== open;

  tree.addEventListener('keydown', (event) => {
    const value = rows[active] ?? 0;
    const page = Math.max(1, Math.floor(tree.clientHeight / rowHeight) - 1);
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(active + 1),
      ArrowUp: () => move(active - 1),
      PageDown: () => move(active + page),
      PageUp: () => move(active - page),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      ArrowRight: () => (turns(value, true) ? fold(value, true) : index.isContainer(value) && move(active + 1)),
      ArrowLeft: () =>
        turns(value, false) ? fold(value, false) : move(rows.indexOf(Math.max(0, index.parents.at(value)))),
      Enter: () => index.isContainer(value) && fold(value, !unfolded.has(value)),
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  space.addEventListener('click', (event) => {
    const row = event.target instanceof Element ? event.target.closest('[role=treeitem]') : null;
    const value = row instanceof HTMLElement ? Number(row.dataset['value']) : -1;
    if (value < 0) return;
    move(rows.indexOf(value));
    if (index.isContainer(value) && index.counts.at(value) > 0) fold(value, !unfolded.has(value));
  });
  tree.addEventListener('scroll', () => draw(), { passive: true });
  new ResizeObserver(() => draw()).observe(tree);

  if (index.counts.at(0) <= unfoldedAtFirst)
    for (const child of index.children(0))
      if (index.isContainer(child) && index.counts.at(child) <= unfoldedAtFirst) unfolded.add(child);
  show(search, index.length > fewValues);
  arrange();
  draw();
  move(0);
  return h('div', { class: 'json' }, search, tree, place, whole);
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

/** @param label of the tree */
function searchBox(index: JsonIndex, label: string, go: (value: number) => void) {
  let found: number[] = [];
  let all: ReadonlySet<number> = new Set();
  let at = 0;
  let searches = 0;
  const said = h('span', { class: 'muted', role: 'status' });
  const input = h('input', {
    'type': 'search',
    'aria-label': t('Find in {0}', label),
    'placeholder': t('Find'),
    'autocomplete': 'off',
    'spellcheck': 'false',
    'oninput': () => void find(),
    'onkeydown': (event: KeyboardEvent) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    },
  });
  const button = (label: string, text: string, by: number) =>
    h('button', {
      'class': 'icon',
      'aria-label': label,
      'title': label,
      text,
      'onclick': () => step(by),
    });
  const buttons = h('span', { class: 'pair' }, button(t('Previous Match'), '↑', -1), button(t('Next Match'), '↓', 1));
  show(buttons, false);

  function step(by: number) {
    if (found.length === 0) return;
    at = (at + by + found.length) % found.length;
    tell();
  }

  function tell() {
    setText(
      said,
      found.length === mostFound
        ? t('{0} of {1} or more', at + 1, found.length)
        : t('{0} of {1}', at + 1, found.length),
    );
    go(found[at] ?? 0);
  }

  async function find() {
    const mine = ++searches;
    const wanted = input.value.toLowerCase();
    const pace = pacer();
    const hits: number[] = [];
    for (let value = 0; wanted !== '' && value < index.length && hits.length < mostFound; value++) {
      if (value % 256 === 0) await pace();
      if (mine !== searches) return; // something else was typed
      const of = index.isContainer(value) ? '' : index.string(value).toLowerCase();
      if (of.includes(wanted) || index.name(value).toLowerCase().includes(wanted)) hits.push(value);
    }
    [found, all, at] = [hits, new Set(hits), 0];
    show(buttons, found.length > 1);
    if (found.length) tell();
    else {
      setText(said, wanted === '' ? '' : t('No results'));
      go(0);
    }
  }

  const element = h('div', { class: 'filters find' }, input, said, buttons);
  return { element, matches: () => all };
}
