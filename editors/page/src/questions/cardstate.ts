// The state of a card, without the DOM. A card can be answered once, and ends with one note.
import { visible } from '../words/text.js';
import { t } from '../words/t.js';
import type {
  PromptCauseJson as PromptCause,
  PromptClosedJson as PromptClosed,
} from '../../../host/src/gen/mcphub/v1/prompt_pb.js';

export type Action = 'accept' | 'decline' | 'dismiss';

/**
 * open: the card waits for the user. sending: an answer was sent, and the end of the question is awaited. running: the
 * host's model works on the answer, and the user may still say no. closed: the question is over.
 */
export type CardState = { phase: 'open' | 'sending' | 'running' | 'closed'; sent?: Action; answers: number };

/** refused: the number of the answer that the hub has refused */
export type CardEvent = { answer: Action; runs?: boolean } | { refused: number } | 'closed';

export const opened: CardState = { phase: 'open', answers: 0 };

/** Returns the state after an event. It returns the same state if the event means nothing; then nothing may be sent. */
export function transition(state: CardState, event: CardEvent): CardState {
  if (state.phase === 'closed') return state;
  if (event === 'closed') return { ...state, phase: 'closed' };
  if ('answer' in event) {
    const free = state.phase === 'open' || (state.phase === 'running' && event.answer !== 'accept');
    return free ? { phase: event.runs ? 'running' : 'sending', sent: event.answer, answers: state.answers + 1 } : state;
  }
  return event.refused === state.answers && state.phase !== 'open' ? { phase: 'open', answers: state.answers } : state;
}

/** Reports whether it was the answer of this card that has closed the question. */
export const answeredHere = ({ cause }: PromptClosed, { sent }: CardState) =>
  sent !== undefined && sent === ends[cause ?? 'PROMPT_CAUSE_UNSPECIFIED'];

const ends: Partial<Record<PromptCause, Action>> = {
  PROMPT_CAUSE_ANSWERED: 'accept',
  PROMPT_CAUSE_DECLINED: 'decline',
  PROMPT_CAUSE_DISMISSED: 'dismiss',
};

/**
 * Returns what is to be said of a question that was not answered on this card, in one or two sentences.
 * @param server that asked
 * @param windowId of this window
 */
export function closingNote(
  { cause, reason, origin, windowId: by = '' }: PromptClosed,
  server: string,
  windowId: string = '',
) {
  const because = (text: string) => (reason ? t('{0}: {1}.', text, visible(reason).replace(/\.$/, '')) : `${text}.`);
  switch (cause) {
    case 'PROMPT_CAUSE_ANSWERED':
      return t('Answered in another window.');
    // When a server is silenced, its other questions are declined, too: by this window, or by none.
    case 'PROMPT_CAUSE_DECLINED':
      return because(by === '' || by === windowId ? t('Declined') : t('Declined in another window'));
    case 'PROMPT_CAUSE_DISMISSED':
      return t('Dismissed in another window.');
    case 'PROMPT_CAUSE_WITHDRAWN':
      return `${because(t('Withdrawn by {0}', server))} ${t('Nothing was sent.')}`;
    case 'PROMPT_CAUSE_PARENT':
      if (origin === 'ORIGIN_PARENT') return `${t('The call ended first')}.`; // by itself, and nobody cancelled anything
      return because(origin === 'ORIGIN_TIMEOUT' ? t('The call timed out') : t('The call was cancelled'));
    case 'PROMPT_CAUSE_TIMEOUT':
      return t('Timed out: nobody answered.');
    case 'PROMPT_CAUSE_SERVER_GONE':
      return because(t('The connection to the server ended'));
    case 'PROMPT_CAUSE_SHUTDOWN':
      return t('McpHub is shutting down.');
    case 'PROMPT_CAUSE_SUPERSEDED':
      return because(t('No longer needed'));
    default:
      return because(t('Closed'));
  }
}

/** Returns how long it is until the deadline, or '' if that is more than five minutes away. */
export function closesIn(deadline: string | undefined, now: number) {
  const s = deadline ? Math.max(0, Math.ceil((Date.parse(deadline) - now) / 1000)) : Infinity;
  if (s > 300) return '';
  return t('Closes in {0}', s >= 60 ? `${Math.ceil(s / 60)} min` : `${s} s`);
}
