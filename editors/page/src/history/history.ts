// The section of ended requests: newest first, with filters, and with the details of one of them below.

import { gathered } from '../elements/announce.js';
import { h, replace, setText, show } from '../elements/dom.js';
import { iconButton } from '../elements/icon.js';
import { outcomeText, outcomeWords } from '../hub/ended.js';
import { endedDetails } from './endeddetails.js';
import { byId, setCount } from '../page.js';
import { byWhom, ofWords, titleOf } from '../running/requestwords.js';
import { clockTime, durationOf, shortName, visible } from '../words/text.js';
import { virtualList } from '../elements/virtuallist.js';
import { plural, t } from '../words/t.js';
import type { Ended, Outcome } from '../hub/ended.js';
import type { Page, Section } from '../page.js';

/** The sign of each outcome, which stands beside its word. */
const icons: Record<Outcome, string> = {
  'done': '✓',
  'tool-error': '!',
  'failed': '✕',
  'denied': '⊖',
  'cancelled': '⊘',
  'withdrawn': '↩',
  'timed-out': '◷',
  'lost': '?',
};

export function historySection(page: Page): Section & { open: (requestId: string) => void } {
  const { state } = page;
  const title = byId('history-title');
  const words = h('input', {
    'type': 'search',
    'aria-label': t('Filter the history by text'),
    'placeholder': t('Filter'),
    'autocomplete': 'off',
    'oninput': () => filter(),
  });
  const outcome = h(
    'select',
    { 'aria-label': t('Filter the history by outcome'), 'onchange': () => filter() },
    h('option', { value: '', text: t('All outcomes') }),
    ...Object.entries(outcomeWords).map(([value, text]) => h('option', { value, text })),
  );
  const nothing = h('p', { class: 'muted', text: t('Nothing has ended yet.') });
  const filters = h('div', { class: 'filters' }, words, outcome);
  const details = h('div', {
    'class': 'details',
    'role': 'region',
    'aria-label': t('Details of the request'),
    'hidden': true,
  });
  let opened: string | undefined;
  /** The entries that pass the filter, newest first; undefined: all. */
  let found: Ended[] | undefined;
  let newest: string | undefined;
  /** The entry that the details show. */
  let filled: Ended | undefined;

  const list = virtualList({
    label: t('Ended requests, newest first'),
    testid: 'history-list',
    keyOf: (entry: Ended) => entry.key,
    row: rowOf,
    open: toggle,
  });
  byId('history').append(nothing, filters, list.element, details);

  const ended = gathered((entries: readonly Ended[]) => {
    const [only] = entries;
    if (entries.length === 1 && only)
      return t('{0} of {1}: {2}.', titleOf(only.about), shortName(only.about.server), outcomeWords[only.outcome]);
    const counts = Object.entries(outcomeWords).map(([value, word]) => [
      entries.filter((e) => e.outcome === value).length,
      word.toLowerCase(),
    ]);
    const what = counts
      .filter(([n]) => n)
      .map((pair) => pair.join(' '))
      .join(', ');
    return entries.every((e) => e.about.tool)
      ? plural(entries.length, '{0} call ended: {1}.', '{0} calls ended: {1}.', what)
      : plural(entries.length, '{0} request ended: {1}.', '{0} requests ended: {1}.', what);
  });

  function toggle(entry: Ended) {
    opened = opened === entry.key ? undefined : entry.key;
    fill(entry);
    list.select(opened);
    if (opened !== undefined) details.scrollIntoView({ block: 'nearest' });
  }

  function fill(entry: Ended) {
    filled = entry;
    show(details, opened !== undefined);
    const close = iconButton('close', t('Close the details'), {
      class: 'close',
      onclick: () => {
        toggle(entry);
        list.element.focus();
      },
    });
    replace(
      details,
      opened !== undefined && h('h3', { tabindex: -1, text: titleOf(entry.about) }),
      opened !== undefined && close,
      opened !== undefined && endedDetails(page, entry),
    );
  }

  function filter(grown: number = 0) {
    const { history } = state;
    const wanted = words.value.trim().toLowerCase();
    const all = wanted === '' && outcome.value === '';
    found = all
      ? undefined
      : history
          .filter((e) => (outcome.value === '' || e.outcome === outcome.value) && e.words.includes(wanted))
          .reverse();
    const shown = found;
    list.update(
      shown ? shown.length : history.length,
      (index) => {
        const entry = shown ? shown[index] : history[history.length - 1 - index];
        if (!entry) throw new Error(`the history has no row ${index}`);
        return entry;
      },
      all ? grown : 0,
    );
    show(nothing, (found ?? history).length === 0);
    show(list.element, (found ?? history).length > 0);
    setText(nothing, history.length === 0 ? t('Nothing has ended yet.') : t('Nothing like that has ended.'));
  }

  /** Opens the details of the latest end of a request. */
  function open(requestId: string) {
    const entry = state.history.findLast((e) => e.requestId === requestId);
    if (!entry) return;
    if (opened !== entry.key) toggle(entry);
    details.querySelector('h3')?.focus();
  }

  return {
    open,
    paint: (changed) => {
      for (const entry of state.endedNow) ended(entry);
      state.endedNow.length = 0;
      if (!changed.history) return;
      const { history } = state;
      setCount('history', history.length);
      show(filters, history.length > 0);
      // Entries are only added at the end. If the entry that was the newest is missing, a snapshot has replaced all.
      let grown = 0;
      while (grown < history.length && history[history.length - 1 - grown]?.key !== newest) grown++;
      filter(newest === undefined || grown === history.length ? 0 : grown);
      newest = history.at(-1)?.key;
      const now = opened === undefined ? undefined : history.find((e) => e.key === opened);
      if (now && now !== filled) fill(now); // the delivery of its cancellation is known now
      if (opened !== undefined && !history.some((e) => e.key === opened)) {
        const held = details.contains(document.activeElement);
        opened = undefined;
        replace(details);
        show(details, false);
        list.select(undefined);
        if (held) title.focus();
      }
    },
  };
}

function rowOf(entry: Ended) {
  const { about, outcome, cancelled, finished } = entry;
  const timings = (cancelled ?? finished)?.timings;
  const why =
    outcome === 'timed-out'
      ? visible(cancelled?.cancellation?.reason)
      : cancelled
        ? byWhom(cancelled.cancellation)
        : visible(finished?.hubError?.message ?? finished?.mcpError?.message);
  return h(
    'div',
    { class: 'ended', dataset: { testid: `ended-${entry.requestId}`, state: outcome } },
    h(
      'div',
      { class: 'line' },
      h('span', { 'class': 'icon', 'aria-hidden': 'true', 'text': icons[outcome] }),
      h('span', { class: 'name', text: titleOf(about) }),
    ),
    h(
      'div',
      { class: 'line muted' },
      h('span', { class: 'state', text: outcomeText(entry) }),
      h('span', { class: 'of', text: ofWords(about) }),
      h('span', {
        class: 'why',
        text: [why || durationOf(timings?.active), visible(about.argumentsPreview)].filter(Boolean).join(' · '),
      }),
      h('span', { class: 'time', text: clockTime(entry.endTime) }),
    ),
  );
}
