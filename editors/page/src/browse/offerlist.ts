// One list of what a server offers: resources, templates or prompts. It is requested when it comes into view. Of a long
// list the hub returns the first entries. A search covers all entries. A row opens its entry.

import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { h, setText, show } from '../elements/dom.js';
import { listRow } from '../elements/listrow.js';
import { roving } from '../elements/roving.js';
import { isWithin, keyOf } from '../opened/opened.js';
import { shortName, startOf, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Opening } from '../page.js';
import type { Page, Reply } from '../page.js';

/** one entry, opened */
export interface OfferView {
  element: HTMLElement;
  /** is called after the subscriptions have changed */
  update: () => void;
  requestsChanged: () => void;
}

/** what a row shows of an entry */
export interface OfferRow {
  title: string;
  what: string;
  flag: string;
  icon: Node | undefined;
}

export interface Kind<T, R> {
  /** of the list */
  title: string;
  /** the text of the filter */
  filter: string;
  testid: string;
  /** of one entry */
  entryTestid: (entry: T) => string;
  ask: (query: string, unwanted: AbortSignal) => Promise<Reply & { response?: R }>;
  read: (response: R) => { entries: readonly T[]; matched: number };
  /** returns what no other entry has, and what stays when the entry changes */
  idOf: (entry: T) => string;
  /** returns a key that stays the same as long as the entry has not changed */
  versionOf: (entry: T) => string;
  /** returns the text that a search for the entry uses */
  words: (entry: T) => string;
  row: (entry: T) => OfferRow;
  view: (entry: T) => OfferView;
  /** returns further entries that the list shows */
  added?: (listed: readonly T[]) => T[];
}

const few = 8;
const step = 100;
const pause = 300;

export function offerList<T, R>(page: Page, server: string, up: Opening['up'], kind: Kind<T, R>) {
  const of = t('{0} of {1}', kind.title, shortName(server));
  const filter = h('input', {
    'type': 'search',
    'aria-label': t('Filter: {0}', of),
    'placeholder': kind.filter,
    'autocomplete': 'off',
    'oninput': () => filtered(),
  });
  const search = h('div', { class: 'search', hidden: true }, filter);
  const note = h('p', { class: 'quiet', role: 'status' });
  const list = h('ul', { 'aria-label': of });
  const more = h('button', {
    class: 'plain',
    hidden: true,
    onclick: () => {
      const before = rows().length;
      room += 5 * step;
      paint();
      rows()[before]?.focus();
    },
  });
  const element = h('div', { dataset: { testid: kind.testid } }, search, note, list, more);
  const rows = () => [...list.querySelectorAll<HTMLElement>('.open')];
  const keys = roving(list, rows);
  let entries: readonly T[] = [];
  let matched = 0; // how many entries of the server match the last query
  let total = 0; // how many entries there are, according to the last list without a query
  let queried = '';
  let stale = true;
  let room = step;
  const views: Map<string, OfferView> = new Map();
  let asking: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const keyFor = (entry: T) => keyOf('server', server, kind.testid, kind.idOf(entry));

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
      renew();
    }
    paint();
    if (error) setText(note, visible(error.message));
  }

  /** An entry that has changed while it was open is opened anew. */
  function renew() {
    const now = new Map(entries.map((entry) => [kind.versionOf(entry), entry]));
    for (const version of views.keys()) if (!now.has(version) && queried === '') views.delete(version);
    const open = entries.find((entry) => page.openKey === keyFor(entry));
    if (open && !views.has(kind.versionOf(open))) openEntry(open);
  }

  // If the page has the whole list, it can search without the hub.
  const whole = () => queried === '' && matched <= entries.length;

  function filtered() {
    room = step;
    clearTimeout(timer);
    if (whole()) paint();
    else timer = setTimeout(() => void ask(filter.value.trim()), pause);
  }

  function openEntry(entry: T) {
    const version = kind.versionOf(entry);
    const view = views.get(version) ?? kind.view(entry);
    views.set(version, view);
    view.update();
    const { title } = kind.row(entry);
    page.open({ key: keyFor(entry), title: shortName(title), content: view.element, ...(up && { up }) });
  }

  function paint() {
    show(search, total > few);
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
    const none = total === 0 ? t('There are none.') : t('None is found.');
    const first = t('These are the first {0} of {1}. Filter to find the others.', entries.length, matched);
    setText(note, found.length === 0 ? none : beyond > 0 ? first : '');
    const held = list.contains(document.activeElement);
    /** Two entries that are the same in everything are one. */
    const unique: Map<string, T> = new Map(some.map((entry) => [kind.versionOf(entry), entry]));
    render(
      html`${repeat(
        unique,
        ([version]) => version,
        ([, entry]) => {
          const { title, what, flag, icon } = kind.row(entry);
          return listRow({
            testid: kind.entryTestid(entry),
            opens: keyFor(entry),
            mark: icon,
            name: shortName(title),
            what: visible(startOf(what, 300).replace(/\s+/g, ' ')),
            flag: visible(flag),
            open: () => openEntry(entry),
          });
        },
      )}`,
      list,
    );
    keys.refresh();
    if (held && document.activeElement === document.body) (rows()[0] ?? filter).focus();
  }

  return {
    element,
    load: () => void (stale && ask(filter.value.trim())),
    /** Opens the entry with this id, once it is found. */
    open: async (id: string) => {
      const known = entries.find((entry) => kind.idOf(entry) === id);
      if (known && !stale) {
        openEntry(known);
        return;
      }
      const { error, response } = await kind.ask(id, new AbortController().signal);
      const found = response && kind.read(response).entries.find((entry) => kind.idOf(entry) === id);
      if (found) openEntry(found);
      else page.announce(visible(error?.message) || t('None is found.'), 'assertive');
    },
    changed: (seen: boolean) => {
      stale = true;
      const open = isWithin(page.openKey, keyOf('server', server, kind.testid));
      if ((seen && element.getClientRects().length > 0) || open) void ask(filter.value.trim());
    },
    subscribed: () => {
      if (!stale || entries.length > 0) paint();
      for (const view of views.values()) view.update();
    },
    requestsChanged: () => {
      for (const view of views.values()) view.requestsChanged();
    },
  };
}
