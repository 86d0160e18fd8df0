// One list of what a server offers: resources, templates or prompts. It is folded, and requested when it is opened. Of
// a long list the hub returns the first entries. A search covers all entries.

import { h, patchList, setText, show } from '../elements/dom.js';
import { roving } from '../elements/roving.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';

/**
 * @typedef {object} OfferView one entry
 * @property {HTMLElement} element
 * @property {HTMLElement} head opens the entry
 * @property {() => void} update is called after the subscriptions have changed
 * @property {() => void} requestsChanged
 */
/**
 * @template T of the entries
 * @template R of the response
 * @typedef {object} Kind
 * @property {string} title of the list
 * @property {string} testid
 * @property {(query: string, unwanted: AbortSignal) => Promise<import('../page.js').Reply & { response?: R }>} ask
 * @property {(response: R) => { entries: readonly T[], matched: number }} read
 * @property {(entry: T) => string} keyOf returns a key that stays the same as long as the entry has not changed
 * @property {(entry: T) => string} words returns the text that a search for the entry uses
 * @property {(entry: T) => OfferView} view
 * @property {(listed: readonly T[]) => T[]} [added] returns further entries that the list shows
 */

const few = 8;
const step = 20;
const pause = 300;

/**
 * @template T
 * @template R
 * @param {string} server
 * @param {Kind<T, R>} kind
 */
export function offerList(server, kind) {
  const of = t('{0} of {1}', kind.title, shortName(server));
  const count = h('span', { class: 'count' });
  const summary = h('summary', {}, `${kind.title} `, count);
  const filter = h('input', {
    'type': 'search',
    'aria-label': t('Filter: {0}', of),
    'placeholder': t('Filter'),
    'autocomplete': 'off',
    'hidden': true,
    'oninput': () => filtered(),
  });
  const note = h('p', { class: 'muted', role: 'status' });
  const list = h('ul', { 'class': 'offer-list', 'aria-label': of });
  const more = h('button', {
    class: 'link',
    hidden: true,
    onclick: () => {
      const before = shown.length;
      room += 5 * step;
      paint();
      views.get(shown[before] ?? '')?.head.focus();
    },
  });
  const element = h(
    'details',
    { class: 'offers', dataset: { testid: kind.testid } },
    summary,
    filter,
    note,
    list,
    more,
  );
  /** @type {readonly T[]} */
  let entries = [];
  let matched = 0; // how many entries of the server match the last query
  let total = 0; // how many entries there are, according to the last list without a query
  let queried = '';
  let stale = true;
  let room = step;
  /** @type {string[]} */
  let shown = [];
  /** @type {Map<string, OfferView>} */
  const views = new Map();
  /** @type {AbortController | undefined} */
  let asking;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const keys = roving(list, () => shown.flatMap((key) => views.get(key)?.head ?? []));
  element.addEventListener('toggle', () => load());

  /** @param {string} query */
  async function ask(query) {
    asking?.abort();
    const mine = (asking = new AbortController());
    stale = false;
    setText(note, entries.length === 0 ? t('Listing…') : '');
    const { error, response } = await kind.ask(query, mine.signal);
    if (mine.signal.aborted) return; // a later list was requested
    asking = undefined;
    stale = error?.code === 'UNAVAILABLE' || error?.code === 'CANCELLED';
    if (response) {
      ({ entries, matched } = kind.read(response));
      queried = query;
      if (query === '') total = matched;
    }
    paint();
    if (error) setText(note, visible(error.message));
  }

  // If the page has the whole list, it can search without the hub.
  const whole = () => queried === '' && matched <= entries.length;

  function filtered() {
    room = step;
    clearTimeout(timer);
    if (whole()) paint();
    else timer = setTimeout(() => void ask(filter.value.trim()), pause);
  }

  function paint() {
    show(filter, total > few);
    setText(count, total ? String(total) : '');
    const words = filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const all = [...(kind.added?.(entries) ?? []), ...entries];
    const found = all.filter((entry) => {
      const text = kind.words(entry).toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const some = found.slice(0, found.length <= room + few ? found.length : room);
    show(more, some.length < found.length);
    setText(more, t('Show more ({0})', found.length - some.length));
    const beyond = matched - entries.length;
    setText(
      note,
      found.length === 0
        ? total === 0
          ? t('There are none.')
          : t('None is found.')
        : beyond > 0
          ? t('These are the first {0} of {1}. Filter to find the others.', entries.length, matched)
          : '',
    );
    const held = list.contains(document.activeElement);
    /** Two entries that are the same in everything are one. @type {Map<string, T>} */
    const unique = new Map(some.map((entry) => [kind.keyOf(entry), entry]));
    shown = [...unique.keys()];
    patchList(
      list,
      unique,
      ([key]) => key,
      ([key, entry]) => {
        const view = views.get(key) ?? kind.view(entry);
        views.set(key, view);
        return view.element;
      },
    );
    for (const key of shown) views.get(key)?.update();
    keys.refresh();
    if (held && document.activeElement === document.body) summary.focus();
    const known = new Set(all.map(kind.keyOf));
    for (const key of views.keys()) if (!known.has(key) && !shown.includes(key)) views.delete(key);
  }

  function load() {
    if (element.open && stale) void ask(filter.value.trim());
  }

  return {
    element,
    load,
    /** @param {boolean} seen */
    changed: (seen) => {
      stale = true;
      if (seen) load();
    },
    subscribed: () => {
      if (!stale || entries.length > 0) paint();
    },
    requestsChanged: () => {
      for (const view of views.values()) view.requestsChanged();
    },
  };
}
