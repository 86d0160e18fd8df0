// One list of what a server offers: resources, templates or prompts. It is folded, and requested when it is opened. Of
// a long list the hub returns the first entries. A search covers all entries.

import { h, patchList, setText, show } from '../elements/dom.js';
import { roving } from '../elements/roving.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Reply } from '../page.js';

/** one entry */
export interface OfferView {
  element: HTMLElement;
  /** opens the entry */
  head: HTMLElement;
  /** is called after the subscriptions have changed */
  update: () => void;
  requestsChanged: () => void;
}

export interface Kind<T, R> {
  /** of the list */
  title: string;
  testid: string;
  ask: (query: string, unwanted: AbortSignal) => Promise<Reply & { response?: R }>;
  read: (response: R) => { entries: readonly T[]; matched: number };
  /** returns a key that stays the same as long as the entry has not changed */
  keyOf: (entry: T) => string;
  /** returns the text that a search for the entry uses */
  words: (entry: T) => string;
  view: (entry: T) => OfferView;
  /** returns further entries that the list shows */
  added?: (listed: readonly T[]) => T[];
}

const few = 8;
const step = 20;
const pause = 300;

export function offerList<T, R>(server: string, kind: Kind<T, R>) {
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
  let entries: readonly T[] = [];
  let matched = 0; // how many entries of the server match the last query
  let total = 0; // how many entries there are, according to the last list without a query
  let queried = '';
  let stale = true;
  let room = step;
  let shown: string[] = [];
  const views: Map<string, OfferView> = new Map();
  let asking: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const keys = roving(list, () => shown.flatMap((key) => views.get(key)?.head ?? []));
  element.addEventListener('toggle', () => load());

  async function ask(query: string) {
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
    /** Two entries that are the same in everything are one. */
    const unique: Map<string, T> = new Map(some.map((entry) => [kind.keyOf(entry), entry]));
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
    changed: (seen: boolean) => {
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
