// What has just been cancelled, or has ended without an answer: a note each, where the request stood a moment ago. It
// says what has become of it, changes when more is known, and goes after a while.

import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { h } from '../elements/dom.js';
import { icon } from '../elements/icon.js';
import { againButton } from '../results/endedparts.js';
import { isQuestion, ofWords, titleOf } from '../running/requestwords.js';
import { t } from '../words/t.js';
import { truthOf } from './truth.js';
import type { Ended } from '../hub/ended.js';
import type { Page, Section } from '../page.js';

/** How long a note is there after its last change, in milliseconds. */
const shownFor = 60_000;
/** How many notes there are at once. The oldest go first; all stand in the history. */
const mostNotes = 5;

interface Note {
  entry: Ended;
  since: number;
  again: HTMLElement | undefined;
  close: Element;
  problem: string;
}

/** Reports whether the end of a request leaves a note. A question leaves one of its own, and an answer is an answer. */
const leavesNote = ({ outcome, about }: Ended) =>
  !isQuestion(about) && (outcome === 'cancelled' || outcome === 'timed-out' || outcome === 'lost');

export function notesIn(place: HTMLElement, page: Page): Section {
  const list = h('ol', { 'class': 'notes', 'aria-label': t('What has just ended') });
  place.append(list);
  let notes: Note[] = [];

  function noteOf(entry: Ended): Note {
    const note: Note = { entry, since: Date.now(), again: undefined, close: icon('close'), problem: '' };
    note.again = againButton(page, entry, (text) => {
      note.problem = text;
      draw();
    });
    return note;
  }

  function drop(note: Note) {
    notes = notes.filter((one) => one !== note);
    draw();
  }

  const view = (note: Note) => {
    const { entry, again, close, problem } = note;
    const title = titleOf(entry.about);
    return html`<li class="note" data-testid="note-${entry.requestId}" data-state=${entry.outcome}>
      <div class="row-head">
        <p class="line">
          <button class="link name" @click=${() => page.openEnded(entry.requestId)}>${title}</button>
          <span class="of">${ofWords(entry.about)}</span>
        </p>
        <button
          class="icon"
          aria-label=${t('Dismiss the note on {0}', title)}
          title=${t('Dismiss')}
          @click=${() => drop(note)}
        >
          ${close}
        </button>
      </div>
      <p class="truth">${truthOf(entry)}</p>
      <p class="problem" role="alert">${problem}</p>
      ${again}
    </li>`;
  };

  const draw = () => render(html`${repeat(notes, (note) => note.entry.key, view)}`, list);

  return {
    paint: (changed) => {
      if (!changed.history) return;
      const fresh = page.state.endedNow.filter(leavesNote).slice(-mostNotes).map(noteOf).reverse();
      for (const note of notes) {
        const now = page.state.history.findLast(({ key }) => key === note.entry.key);
        if (now === undefined || now === note.entry) continue;
        note.entry = now;
        note.since = Date.now();
      }
      notes = [...fresh, ...notes].slice(0, mostNotes);
      draw();
    },
    ticks: () => notes.length > 0,
    tick: () => {
      if (list.matches(':hover, :focus-within')) return; // a person may be reading, or about to click
      const over = Date.now() - shownFor;
      const left = notes.filter(({ since }) => since > over);
      if (left.length === notes.length) return;
      notes = left;
      draw();
    },
  };
}
