// Chooses the open prompts that the editor itself may show: those that are not seen and that the user has not put off.
// It has no side effects.
import type { Prompt } from '@mcphub/host/contract';

export interface Surroundings {
  readonly seen: (prompt: Prompt) => boolean; // the card is in view, and the window has the focus
  readonly pageVisible: boolean;
  readonly now: number; // milliseconds
}

/** What is remembered about a prompt while it is open. */
export interface Noticed {
  readonly prompt: Prompt;
  readonly since: number;
  readonly later: boolean; // the user has put it off
}

// After a reload the prompts are there before the page is. The page gets this time in milliseconds to appear, before
// anything is shown over the user's work.
export const patienceMs = 800;
// A visible page reports by itself what is in view, but a busy page reports late. It already shows that there is a
// prompt.
export const visiblePatienceMs = 2_500;

/** Returns all prompts that could be shown now, the oldest first, and the time until there may be more. */
export function waiting(
  noticed: Iterable<Noticed>,
  { seen, pageVisible, now }: Surroundings,
  busy: (prompt: Prompt) => boolean,
): { readonly due: readonly Prompt[]; readonly lookAgainInMs?: number } {
  const due: Prompt[] = [];
  let wait: number | undefined;
  for (const { prompt, since, later } of noticed) {
    if (later || seen(prompt) || busy(prompt)) {
      continue;
    }
    const left = since + (pageVisible ? visiblePatienceMs : patienceMs) - now;
    if (left <= 0) {
      due.push(prompt);
    } else {
      wait = Math.min(wait ?? left, left);
    }
  }
  return wait === undefined ? { due } : { due, lookAgainInMs: wait };
}
