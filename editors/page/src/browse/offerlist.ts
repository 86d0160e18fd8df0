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
import type { Opening, Page, Reply } from '../page.js';

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

/** What the page knows of a list. */
interface Known<T> {
  entries: readonly T[];
  /** how many entries of the server match the query */
  matched: number;
  /** how many entries there are, according to the last list without a query */
  total: number;
  query: string;
}

export function offerList<T, R>(page: Page, server: string, up: Opening['up'], kind: Kind<T, R>) {
  const keyFor = (entry: T) => keyOf('server', server, kind.testid, kind.idOf(entry));
  const opened = openedEntries(page, up, kind, keyFor);
  let known: Known<T> = { entries: [], matched: 0, total: 0, query: '' };
  let stale = true;
  let asking: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rows = offerRows(kind, t('{0} of {1}', kind.title, shortName(server)), keyFor, opened.open, () => {
    clearTimeout(timer);
    // If the page has the whole list, it can search without the hub.
    if (known.query === '' && known.matched <= known.entries.length) rows.paint(known);
    else timer = setTimeout(ask, pause);
  });

  async function ask() {
    const query = rows.typed();
    asking?.abort();
    const mine = (asking = new AbortController());
    stale = false;
    rows.say(known.entries.length === 0 ? t('Listing…') : '');
    const { error, response } = await kind.ask(query, mine.signal);
    if (mine.signal.aborted) return; // a later list was requested
    asking = undefined;
    stale = error?.code === 'UNAVAILABLE' || error?.code === 'CANCELLED';
    if (response) {
      const read = kind.read(response);
      known = { ...read, query, total: query === '' ? read.matched : known.total };
      opened.renew(known);
    }
    rows.paint(known);
    if (error) rows.say(visible(error.message));
  }

  return {
    element: rows.element,
    load: () => void (stale && ask()),
    /** Opens the entry with this id, once it is found. */
    open: async (id: string) => {
      const has = (entry: T) => kind.idOf(entry) === id;
      const listed = stale ? undefined : known.entries.find(has);
      const { error, response } = listed ? {} : await kind.ask(id, new AbortController().signal);
      const found = listed ?? (response && kind.read(response).entries.find(has));
      if (found) opened.open(found);
      else page.announce(visible(error?.message) || t('No results'), 'assertive');
    },
    changed: (seen: boolean) => {
      stale = true;
      const open = isWithin(page.openKey, keyOf('server', server, kind.testid));
      if ((seen && rows.element.getClientRects().length > 0) || open) void ask();
    },
    subscribed: () => {
      if (!stale || known.entries.length > 0) rows.paint(known);
      opened.each((view) => view.update());
    },
    requestsChanged: () => opened.each((view) => view.requestsChanged()),
  };
}

/** The entries that were opened. Each keeps what was filled in and what came of it, as long as it does not change. */
function openedEntries<T, R>(page: Page, up: Opening['up'], kind: Kind<T, R>, keyFor: (entry: T) => string) {
  const views: Map<string, OfferView> = new Map();

  function open(entry: T) {
    const version = kind.versionOf(entry);
    const view = views.get(version) ?? kind.view(entry);
    views.set(version, view);
    view.update();
    const { title } = kind.row(entry);
    page.open({ key: keyFor(entry), title: shortName(title), content: view.element, ...(up && { up }) });
  }

  return {
    open,
    /** An entry that has changed while it was open is opened anew. */
    renew: ({ entries, query }: Known<T>) => {
      const now = new Set(entries.map(kind.versionOf));
      for (const version of views.keys()) if (!now.has(version) && query === '') views.delete(version);
      const shown = entries.find((entry) => page.openKey === keyFor(entry));
      if (shown && !views.has(kind.versionOf(shown))) open(shown);
    },
    each: (act: (view: OfferView) => void) => views.forEach(act),
  };
}

/**
 * The rows of a list, with their filter.
 * @param filtered is called when the text of the filter has changed
 */
function offerRows<T, R>(
  kind: Kind<T, R>,
  label: string,
  keyFor: (entry: T) => string,
  open: (entry: T) => void,
  filtered: () => void,
) {
  const filter = h('input', {
    'type': 'search',
    'aria-label': t('Filter: {0}', label),
    'placeholder': kind.filter,
    'autocomplete': 'off',
    'oninput': () => {
      room = step;
      filtered();
    },
  });
  const search = h('div', { class: 'search', hidden: true }, filter);
  const note = h('p', { class: 'quiet', role: 'status' });
  const list = h('ul', { 'aria-label': label });
  const more = h('button', { class: 'plain', hidden: true });
  const rows = () => [...list.querySelectorAll<HTMLElement>('.open')];
  const keys = roving(list, rows);
  let room = step;

  function paint(known: Known<T>) {
    const found = matching(kind, known.entries, filter.value);
    const some = found.slice(0, found.length <= room + few ? found.length : room);
    const left = found.length - some.length;
    show(search, known.total > few);
    show(more, left > 0);
    setText(more, t('Show more ({0})', left));
    more.onclick = () => {
      const before = rows().length;
      room += 5 * step;
      paint(known);
      rows()[before]?.focus();
    };
    setText(note, noteOn(known, found.length));
    const held = list.contains(document.activeElement);
    /** Two entries that are the same in everything are one. */
    const unique = new Map(some.map((entry) => [kind.versionOf(entry), entry]));
    const row = ([, entry]: [string, T]) => rowOf(kind, entry, keyFor(entry), () => open(entry));
    render(html`${repeat(unique, ([version]) => version, row)}`, list);
    keys.refresh();
    if (held && document.activeElement === document.body) (rows()[0] ?? filter).focus();
  }

  return {
    element: h('div', { dataset: { testid: kind.testid } }, search, note, list, more),
    paint,
    typed: () => filter.value.trim(),
    say: (text: string) => setText(note, text),
  };
}

/** Returns the entries that have all words of a text. */
function matching<T, R>(kind: Kind<T, R>, entries: readonly T[], typed: string) {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean);
  return [...(kind.added?.(entries) ?? []), ...entries].filter((entry) => {
    const text = kind.words(entry).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Returns what is to be said of a list, '' for nothing. */
function noteOn({ entries, matched, total }: Known<unknown>, found: number) {
  if (found === 0) return total === 0 ? t('There are none.') : t('No results');
  if (matched <= entries.length) return '';
  return t('These are the first {0} of {1}. Filter to find the others.', entries.length, matched);
}

function rowOf<T, R>(kind: Kind<T, R>, entry: T, opens: string, open: () => void) {
  const { title, what, flag, icon } = kind.row(entry);
  return listRow({
    testid: kind.entryTestid(entry),
    opens,
    mark: icon,
    name: shortName(title),
    what: visible(startOf(what, 300).replace(/\s+/g, ' ')),
    flag: visible(flag),
    open,
  });
}
