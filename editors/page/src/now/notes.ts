// What has just been cancelled, withdrawn, or has ended without an answer: a note each, below what is live. It says
// what has become of it, changes when more is known, and goes after a while.

import { html, nothing, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { h } from '../elements/dom.js';
import { glyph } from '../elements/icon.js';
import { holdsFocus } from '../elements/keepfocus.js';
import { canAgain, requestAgain } from '../results/again.js';
import { duration, shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import { isQuestion, ofWords, titleOf } from '../hub/requestwords.js';
import { truthOf } from '../hub/truth.js';
import type { Ended } from '../hub/ended.js';
import type { Closing } from '../questions/cards.js';
import type { IconName } from '../elements/icon.js';
import type { Page, Section } from '../page.js';

/** How long a note is there after its last change, in milliseconds. */
const shownFor = 60_000;
/** How many notes there are at once. The oldest go first; all stand in the history. What somebody typed stays. */
const mostNotes = 5;

interface Note {
  key: string;
  testid: string;
  mark: IconName;
  title: string;
  of: string;
  truth: string;
  since: number;
  problem: string;
  /** of a request: its end, as it is known now */
  entry?: Ended;
  /** of a question: what somebody had typed */
  typed?: string;
  copied?: string;
}

const marks: Partial<Record<Ended['outcome'], IconName>> = { 'timed-out': 'clock', 'lost': 'question' };

/** Reports whether the end of a request leaves a note. A question leaves one of its own, and an answer is an answer. */
const leavesNote = ({ outcome, about }: Ended) =>
  !isQuestion(about) && (outcome === 'cancelled' || outcome === 'timed-out' || outcome === 'lost');

const ofRequest = (entry: Ended): Note => ({
  key: entry.key,
  testid: `note-${entry.requestId}`,
  mark: marks[entry.outcome] ?? 'cancelled',
  title: titleOf(entry.about),
  of: ofWords(entry.about),
  truth: truthOf(entry),
  since: Date.now(),
  problem: '',
  entry,
});

const ofQuestion = ({ promptId, title, server, truth, withdrawn, typed }: Closing): Note => ({
  key: `prompt ${promptId}`,
  testid: `note-${promptId}`,
  mark: withdrawn ? 'undo' : 'question',
  title,
  of: server,
  truth,
  since: Date.now(),
  problem: '',
  typed,
});

export interface Notes extends Section {
  /** takes the end of a question that was not answered here */
  closed: (closing: Closing) => void;
}

export function notesSection(page: Page, place: HTMLElement): Notes {
  const list = h('ol', { 'class': 'notes', 'aria-label': t('What has just ended') });
  place.append(list);
  let notes: Note[] = [];

  function add(fresh: Note[]) {
    notes = [...fresh, ...notes];
    let room = mostNotes;
    notes = notes.filter(({ typed }) => typed || room-- > 0);
    draw();
  }

  function drop(note: Note) {
    const held = holdsFocus(elementOf(note));
    const next = notes[notes.indexOf(note) + 1] ?? notes.at(-2);
    notes = notes.filter((one) => one !== note);
    draw();
    if (held && next) elementOf(next)?.focus();
  }

  const elementOf = ({ testid }: Note) => list.querySelector<HTMLElement>(`[data-testid="${CSS.escape(testid)}"]`);

  async function copy(note: Note) {
    await copyTyped(note);
    draw();
  }

  async function again(note: Note, entry: Ended) {
    await callAgain(page, note, entry, () => drop(note));
    if (note.problem !== '' && !notes.includes(note)) add([note]);
    else draw();
  }

  const row = (note: Note) => noteView(page, note, { drop, again, copy });
  const draw = () => render(html`${repeat(notes, ({ key }) => key, row)}`, list);

  return {
    closed: (closing) => {
      const note = ofQuestion(closing);
      add([note]);
      if (closing.held) elementOf(note)?.focus({ preventScroll: true });
    },
    paint: (changed) => {
      if (!changed.history) return;
      for (const note of notes) {
        const now = note.entry && page.state.history.findLast(({ key }) => key === note.key);
        if (now && now !== note.entry) Object.assign(note, { ...ofRequest(now), problem: note.problem });
      }
      add(page.state.endedNow.filter(leavesNote).slice(-mostNotes).map(ofRequest).reverse());
    },
    ticks: () => notes.length > 0,
    tick: () => {
      // A person may be reading, or about to click.
      const over = list.matches(':hover, :focus-within') ? -Infinity : Date.now() - shownFor;
      notes = notes.filter(({ since, typed }) => typed || since > over);
      draw();
    },
  };
}

async function copyTyped(note: Note) {
  await navigator.clipboard.writeText(note.typed ?? '').then(
    () => (note.copied = t('Copied')),
    () => (note.copied = t('Copying failed')),
  );
}

/** @param sent is called when the new request is on its way */
async function callAgain(page: Page, note: Note, entry: Ended, sent: () => void) {
  note.problem = '';
  try {
    const { error } = await requestAgain(page, entry, sent);
    note.problem = visible(error?.message);
  } catch (error) {
    note.problem = error instanceof Error ? visible(error.message) : t('It could not be read.');
  }
}

interface NoteActs {
  drop: (note: Note) => void;
  again: (note: Note, entry: Ended) => Promise<void>;
  copy: (note: Note) => Promise<void>;
}

/**
 * The card of a question had the focus, and its note has it now. Keys that were meant for a field that is gone must do
 * nothing: a blank would scroll the page, and Enter would press what has come into its place. Other keys, F1 say, are
 * not typing: the host has commands on them.
 */
function ignoreTyping(event: KeyboardEvent) {
  const typing = /^(.|Enter|Backspace|Delete|Page(Up|Down))$/u.test(event.key);
  if (event.target !== event.currentTarget || !typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
}

function noteView(page: Page, note: Note, { drop, again, copy }: NoteActs) {
  const { entry, title, of, truth, typed, problem, copied } = note;
  return html`<li
    class="card note"
    tabindex="-1"
    data-testid=${note.testid}
    data-state=${entry?.outcome ?? 'closed'}
    aria-label=${`${title}: ${truth}`}
    @keydown=${ignoreTyping}
  >
    <div class="card-head">
      ${glyph(note.mark)}
      <h3 class="grow one-line" title=${`${title} · ${of}`}>
        ${
          entry
            ? html`<button class="plain name" @click=${() => page.openEnded(entry.requestId)}>${title}</button>`
            : html`<span class="name" dir="auto">${title}</span>`
        }
        <span class="of quiet">${of}</span>
      </h3>
      <span class="time quiet">${agoOf(note.since)}</span>
      <span class="acts">
        ${
          entry && entry.about.method === 'tools/call' && canAgain(page, entry)
            ? act('restart', t('Call again'), t('Call {0} again', title), () => void again(note, entry), 'call-again')
            : nothing
        }
        ${act('close', t('Dismiss'), t('Dismiss the note on {0}', shortName(title)), () => drop(note), 'dismiss-note')}
      </span>
    </div>
    <p class="truth quiet">${truth}</p>
    ${
      typed
        ? html`<p class="truth">
            <button class="plain" data-testid="copy-typed" @click=${() => void copy(note)}>
              ${copied ?? t('Copy what you typed')}
            </button>
          </p>`
        : nothing
    }
    <p class="problem" role="alert">${problem}</p>
  </li>`;
}

const act = (mark: IconName, label: string, about: string, onclick: () => void, testid: string) =>
  html`<button class="icon" aria-label=${about} title=${label} data-testid=${testid} @click=${onclick}>
    ${glyph(mark)}
  </button>`;

function agoOf(since: number) {
  const seconds = Math.floor((Date.now() - since) / 1000);
  return seconds < 1 ? t('now') : t('{0} ago', duration(seconds * 1000));
}
