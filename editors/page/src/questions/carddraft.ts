// Drafts: what is typed into a card survives a reload of the page, if the hub and the question are still the same.

import type { Kind } from './cardparts.js';
import type { Page } from '../page.js';

/** How long typing goes on, in milliseconds, before the draft is kept again. The first letter is kept at once. */
const pauseMs = 50;

/**
 * Restores what was typed before the reload, and keeps what is typed from now on. A secret is never kept: the kind of
 * its card has no draft.
 */
export function keepDrafts(article: HTMLElement, promptId: string, kind: Kind, drafts: Page['drafts'] | undefined) {
  const { draft, restore, edited } = kind;
  if (!drafts || !draft || !restore) return;
  const before = drafts.draft(promptId);
  if (before !== undefined) restore(before);
  let due: ReturnType<typeof setTimeout> | undefined;
  let fresh = false;
  const keep = () => {
    clearTimeout(due);
    due = undefined;
    if (!fresh || article.dataset['phase'] === 'closed') return;
    fresh = false;
    drafts.keepDraft(promptId, edited?.() === false ? '' : draft());
  };
  article.addEventListener('input', () => {
    fresh = true;
    if (due !== undefined) return;
    keep();
    due = setTimeout(() => {
      fresh = true; // a choice is known only after the event that reports it
      keep();
    }, pauseMs);
  });
  article.addEventListener('focusout', keep);
}
