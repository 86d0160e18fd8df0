// The search in a tree of JSON: a field, and buttons that go from one value that is found to the next.

import { h, setText, show } from '../elements/dom.js';
import { pacer } from '../words/jsonindex.js';
import { t } from '../words/t.js';
import type { JsonIndex } from '../words/jsonindex.js';

const mostFound = 10_000;

/**
 * @param label of the tree
 * @param go shows a value
 */
export function jsonSearch(index: JsonIndex, label: string, go: (value: number) => void) {
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
    h('button', { 'class': 'icon', 'aria-label': label, 'title': label, text, 'onclick': () => step(by) });
  const buttons = h('span', { class: 'pair' }, button(t('Previous match'), '↑', -1), button(t('Next match'), '↓', 1));
  show(buttons, false);

  function step(by: number) {
    if (found.length === 0) return;
    at = (at + by + found.length) % found.length;
    tell();
  }

  function tell() {
    const [place, count] = [at + 1, found.length];
    setText(said, count === mostFound ? t('{0} of {1} or more', place, count) : t('{0} of {1}', place, count));
    go(found[at] ?? 0);
  }

  async function find() {
    const mine = ++searches;
    const wanted = input.value.toLowerCase();
    const hits = await valuesWith(index, wanted, () => mine !== searches);
    if (mine !== searches) return; // something else was typed
    [found, all, at] = [hits, new Set(hits), 0];
    show(buttons, found.length > 1);
    if (found.length) tell();
    else {
      setText(said, wanted === '' ? '' : t('No results'));
      go(0);
    }
  }

  return { element: h('div', { class: 'filters find' }, input, said, buttons), found: () => all };
}

/**
 * Returns the values that have a text in their name or, unless they contain others, in themselves.
 * @param wanted in lower case; '' finds nothing
 * @param unwanted ends the search
 */
async function valuesWith(index: JsonIndex, wanted: string, unwanted: () => boolean) {
  const pace = pacer();
  const hits: number[] = [];
  for (let value = 0; wanted !== '' && value < index.length && hits.length < mostFound; value++) {
    if (value % 256 === 0) await pace();
    if (unwanted()) break;
    const of = index.isContainer(value) ? '' : index.string(value).toLowerCase();
    if (of.includes(wanted) || index.name(value).toLowerCase().includes(wanted)) hits.push(value);
  }
  return hits;
}
