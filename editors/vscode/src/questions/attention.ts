// Which open question the editor itself shows, if any. Pure: at most one at a time, the oldest that nobody sees and
// nobody has put off.
import type { Prompt } from '@mcphub/host';

export interface Surroundings {
  readonly seen: (prompt: Prompt) => boolean; // its card is in view, and the window has the focus
  readonly pageVisible: boolean;
  readonly now: number; // milliseconds
}

/** What is remembered of a prompt while it is open. */
export interface Noticed {
  readonly prompt: Prompt;
  readonly since: number;
  readonly later: boolean; // the user has put it off
}

// After a reload the prompts are there before the page is: it gets this long to come up before anything pops up over
// the user's work.
export const patienceMs = 800;
// A page that can be seen says by itself what is in view, a busy one late; and it has told of the question already.
export const visiblePatienceMs = 2_500;

/** The prompt to show now; or when to look again; or neither. */
export function nextToShow(
  noticed: Iterable<Noticed>,
  surroundings: Surroundings,
  busy: (prompt: Prompt) => boolean,
): { readonly show?: Prompt; readonly lookAgainInMs?: number } {
  const { due, lookAgainInMs } = waiting(noticed, surroundings, busy);
  const [show] = due;
  return show !== undefined ? { show } : lookAgainInMs === undefined ? {} : { lookAgainInMs };
}

/** All that could be shown now, the oldest first, and when there may be more of them. */
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
