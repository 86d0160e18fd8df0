// Drafts: what is typed into a card survives a reload of the page, if the hub and the question are still the same.

import type { Kind } from './cardparts.js';
import type { Page } from '../page.js';

const delayMs = 200;

/**
 * Restores what was typed before the reload, and keeps what is typed from now on. A secret is never kept: the kind of
 * its card has no draft.
 */
export function keepDrafts(article: HTMLElement, promptId: string, kind: Kind, drafts: Page['drafts'] | undefined) {
  const { draft, restore, edited } = kind;
  if (!drafts || !draft || !restore) return;
  const before = drafts.draft(promptId);
  if (before !== undefined) restore(before);
  let due = false;
  article.addEventListener('input', () => {
    if (due) return;
    due = true;
    setTimeout(() => {
      due = false;
      if (article.dataset['phase'] !== 'closed') drafts.keepDraft(promptId, edited?.() === false ? '' : draft());
    }, delayMs);
  });
}
