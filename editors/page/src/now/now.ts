// The part of the page that is live: what is asked, what runs, and below them what has just ended. It takes no room
// while there is nothing of the kind.

import { h } from '../elements/dom.js';
import { holdsFocus, noneFocused } from '../elements/keepfocus.js';
import { byId } from '../page.js';
import { questionsSection } from '../questions/questions.js';
import { callsSection } from './calls.js';
import { notesSection } from './notes.js';
import type { Page, Section } from '../page.js';
import type { Questions } from '../questions/questions.js';

/** @param views the open views of calls, which stand below the questions */
export function nowSection(page: Page, views: Section): Section & Pick<Questions, 'askHere'> {
  const section = byId('now');
  const [calls, ended] = [h('div', { id: 'running' }), h('div', { id: 'notes' })];
  section.append(calls, ended);
  const notes = notesSection(page, ended);
  const questions = questionsSection(page, notes.closed);
  // The views are painted first: they uncover what they cover before another part moves the focus there.
  const parts: Section[] = [views, questions, callsSection(page, calls), notes];

  function paint(changed: Parameters<Section['paint']>[0]) {
    const held = holdsFocus(section);
    for (const part of parts) part.paint(changed);
    settle(held);
  }

  function settle(held: boolean) {
    // The note of what has ended gets the focus, not the next card: a second press of Enter would cancel that.
    if (!held || !noneFocused()) return;
    const heir = [...section.querySelectorAll<HTMLElement>('.note'), byId('title')].find((one) => one.isConnected);
    heir?.focus({ preventScroll: true });
  }

  return {
    askHere: questions.askHere,
    paint,
    ticks: () => parts.some((part) => part.ticks?.()),
    tick: () => {
      const held = holdsFocus(section);
      for (const part of parts) part.tick?.();
      settle(held);
    },
  };
}
