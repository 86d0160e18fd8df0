// The section of ended requests, the newest first: two lines each, and what came of one opens in the pane.

import { gathered } from '../elements/announce.js';
import { h, setAttribute, setText, show } from '../elements/dom.js';
import { icon, iconButton } from '../elements/icon.js';
import { outcomeText, outcomeWords } from '../hub/ended.js';
import { hubNow } from '../hub/state.js';
import { keyOf } from '../opened/opened.js';
import { endedView } from './endeddetails.js';
import { isListed, outcomeIcons, rowWords } from './endwords.js';
import { byId } from '../page.js';
import { titleOf } from '../hub/requestwords.js';
import { ago, exactTime } from '../words/ago.js';
import { shortName } from '../words/text.js';
import { virtualList } from '../elements/virtuallist.js';
import { plural, t } from '../words/t.js';
import type { EndedView } from './endeddetails.js';
import type { Ended } from '../hub/ended.js';
import type { VirtualList } from '../elements/virtuallist.js';
import type { Page, Section } from '../page.js';

const openingOf = (entry: Ended) => keyOf('ended', entry.key);

export function historySection(page: Page): Section & { open: (requestId: string) => void } {
  const { state } = page;
  const section = byId('history');
  const filter = filterOf(
    () => list.element,
    () => narrow(),
  );
  const nothing = h('p', { class: 'quiet none', text: t('Nothing like that has ended.') });
  const times = rowTimes(() => hubNow(state));
  /** The entries that are listed, oldest first. */
  let listed: readonly Ended[] = [];
  const opener = entryOpener(page);
  const list = virtualList({
    label: t('Ended requests, newest first'),
    testid: 'history-list',
    keyOf: (entry: Ended) => entry.key,
    row: (entry) => rowOf(entry, times.of(entry.endTime)),
    open: opener.open,
  });
  placeBesideTitle(filter.button);
  section.append(filter.element, nothing, list.element);
  findByKey(list.element, filter.open);
  const ended = gathered(announcement);

  function narrow(grown: number = 0) {
    const found = filter.applies() ? listed.filter(filter.takes) : listed;
    list.update(found.length, (index) => fromNewest(found, index), filter.applies() ? 0 : grown);
    show(nothing, found.length === 0);
    show(list.element, found.length > 0);
  }

  function paintHistory() {
    const newest = listed.at(-1)?.key;
    listed = state.history.filter(isListed);
    show(section, listed.length > 0);
    narrow(grownBy(listed, newest));
    opener.update(listed);
  }

  return {
    open: (requestId) => {
      const entry = state.history.findLast((one) => one.requestId === requestId);
      if (entry) opener.open(entry);
    },
    paint: (changed) => {
      state.endedNow.filter(isListed).forEach(ended);
      state.endedNow.length = 0;
      if (changed.history) paintHistory();
      if (changed.history || changed.opened) opener.mark(list);
    },
    ticks: () => listed.length > 0,
    tick: times.tick,
  };
}

/** Returns what opens an entry in the pane. */
function entryOpener(page: Page) {
  /** What is open, or was: a person may open it again, and finds it as it was. */
  let shown: { entry: Ended; view: EndedView } | undefined;
  return {
    open: (entry: Ended) => {
      if (shown?.entry.key !== entry.key) shown = { entry, view: endedView(page, entry) };
      page.open({ key: openingOf(entry), title: titleOf(entry.about), content: shown.view.element });
    },
    update: (entries: readonly Ended[]) => {
      const now = entries.find(({ key }) => key === shown?.entry.key);
      if (!shown || !now || now === shown.entry) return;
      shown.entry = now; // more is known of it: whether its server was told
      shown.view.update(now);
    },
    /** Marks the row of what is open, and leads the focus back to the list from there. */
    mark: ({ select, element }: VirtualList<Ended>) => {
      const opens = shown && openingOf(shown.entry);
      const isOpen = page.openKey === opens;
      select(isOpen ? shown?.entry.key : undefined);
      setAttribute(element, 'data-opens', isOpen ? opens : undefined);
    },
  };
}

/** Lets the keys that find in a page open the search of the list. */
function findByKey(list: HTMLElement, open: () => void) {
  list.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
}

/**
 * Returns how many entries are new after the one that was the newest. Entries are only added at the end: if it is
 * missing, a snapshot has replaced all, and none is new.
 */
function grownBy(listed: readonly Ended[], newest: string | undefined) {
  const at = listed.findLastIndex(({ key }) => key === newest);
  return at < 0 ? 0 : listed.length - 1 - at;
}

function fromNewest(entries: readonly Ended[], index: number) {
  const entry = entries[entries.length - 1 - index];
  if (!entry) throw new Error(`the history has no row ${index}`);
  return entry;
}

function placeBesideTitle(button: HTMLElement) {
  const title = byId('history-title');
  const head = h('div', { class: 'list-head' });
  title.replaceWith(head);
  title.classList.add('grow');
  head.append(title, button);
}

/** Returns what is read out of requests that have ended since it was last said. */
function announcement(entries: readonly Ended[]) {
  const [only] = entries;
  if (entries.length === 1 && only)
    return t('{0} of {1}: {2}.', titleOf(only.about), shortName(only.about.server), outcomeWords[only.outcome]);
  const what = Object.entries(outcomeWords)
    .map(([value, word]) => [entries.filter((e) => e.outcome === value).length, word.toLowerCase()])
    .filter(([n]) => n)
    .map((pair) => pair.join(' '))
    .join(', ');
  return entries.every((e) => e.about.tool)
    ? plural(entries.length, '{0} call ended: {1}.', '{0} calls ended: {1}.', what)
    : plural(entries.length, '{0} request ended: {1}.', '{0} requests ended: {1}.', what);
}

/** Returns the search: a button that opens a field and a choice of outcomes. */
function filterOf(list: () => HTMLElement, changed: () => void) {
  const words = h('input', {
    'type': 'search',
    'aria-label': t('Filter the history by text'),
    'placeholder': t('Filter'),
    'autocomplete': 'off',
    'oninput': changed,
  });
  const outcome = h(
    'select',
    { 'aria-label': t('Filter the history by outcome'), 'onchange': changed },
    h('option', { value: '', text: t('All outcomes') }),
    ...Object.entries(outcomeWords).map(([value, text]) => h('option', { value, text })),
  );
  const element = h('div', { id: 'history-search', class: 'search', hidden: true }, words, outcome);
  const button = iconButton('search', t('Search the history'), {
    'aria-expanded': 'false',
    'aria-controls': 'history-search',
    'onclick': () => (element.hidden ? open() : close(button)),
  });

  function open() {
    show(element, true);
    button.setAttribute('aria-expanded', 'true');
    words.focus();
  }

  /** Closes the search: what it left out is listed again. */
  function close(heir: HTMLElement) {
    [words.value, outcome.value] = ['', ''];
    changed();
    heir.focus();
    show(element, false);
    button.setAttribute('aria-expanded', 'false');
  }

  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    close(list());
  });
  const wanted = () => words.value.trim().toLowerCase();
  return {
    button,
    element,
    open,
    applies: () => wanted() !== '' || outcome.value !== '',
    takes: (e: Ended) => (outcome.value === '' || e.outcome === outcome.value) && e.words.includes(wanted()),
  };
}

/** Returns the elements with the times of rows. A tick changes them only when one of them has to change. */
function rowTimes(now: () => number) {
  const shown: Set<HTMLTimeElement> = new Set();
  let due = Infinity;
  function write(time: HTMLTimeElement) {
    const { text, holds } = ago(new Date(time.dateTime), now());
    setText(time, text);
    due = Math.min(due, Date.now() + holds);
  }
  return {
    of: (timestamp: string) => {
      if (exactTime(timestamp) === '') return undefined;
      const time = h('time', { class: 'time', datetime: timestamp, title: exactTime(timestamp) });
      write(time);
      shown.add(time);
      return time;
    },
    tick: () => {
      if (Date.now() < due) return;
      due = Infinity;
      for (const time of shown)
        if (time.isConnected) write(time);
        else shown.delete(time);
    },
  };
}

function rowOf(entry: Ended, time: HTMLElement | undefined) {
  const { about, outcome } = entry;
  const title = titleOf(about);
  const words = rowWords(entry);
  return h(
    'div',
    {
      'class': 'ended',
      'title': [title, words].join('\n'),
      'aria-description': [outcome === 'done' && outcomeText(entry), exactTime(entry.endTime)]
        .filter(Boolean)
        .join(', '),
      'dataset': { testid: `ended-${entry.requestId}`, state: outcome },
    },
    icon(outcomeIcons[outcome]),
    h(
      'div',
      { class: 'grow' },
      h('div', { class: 'one-line', text: title }),
      h('div', { class: 'second one-line', dir: 'auto', text: words }),
    ),
    time,
  );
}
