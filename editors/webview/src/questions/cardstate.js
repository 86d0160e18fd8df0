// The life of a card, free of the DOM: it can be answered once, and it ends with one note.
import { visible } from '../words/text.js';
import { t } from '../words/t.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').PromptClosedJson} PromptClosed */
/** @typedef {'accept' | 'decline' | 'dismiss'} Action */
/**
 * open: waits for the user. sending: an answer is on its way, or has arrived and the end is awaited. running: the
 * host's model works on the answer, and the user may still say no. closed: over.
 * @typedef {{ phase: 'open' | 'sending' | 'running' | 'closed', sent?: Action, answers: number }} CardState
 */
/**
 * @typedef {{ answer: Action, runs?: boolean } | { refused: number } | 'closed'} CardEvent refused: the number of the
 * answer that was
 */

/** @type {CardState} */
export const opened = { phase: 'open', answers: 0 };

/**
 * The same state comes back when the event means nothing: then nothing may be sent.
 * @param {CardState} state @param {CardEvent} event
 * @returns {CardState}
 */
export function transition(state, event) {
  if (state.phase === 'closed') return state;
  if (event === 'closed') return { ...state, phase: 'closed' };
  if ('answer' in event) {
    const free = state.phase === 'open' || (state.phase === 'running' && event.answer !== 'accept');
    return free ? { phase: event.runs ? 'running' : 'sending', sent: event.answer, answers: state.answers + 1 } : state;
  }
  return event.refused === state.answers && state.phase !== 'open' ? { phase: 'open', answers: state.answers } : state;
}

/**
 * @param {PromptClosed} closed
 * @param {string | undefined} here what this card calls its own answer, undefined when another window gave it
 * @param {string} [windowId] this window's
 */
export function closingNote({ cause, reason, origin, windowId: by = '' }, here, windowId = '') {
  const why = reason ? `: ${visible(reason)}` : '';
  switch (cause) {
    case 'PROMPT_CAUSE_ANSWERED':
      return here ?? t('Answered in another window');
    // A server that is silenced has its other questions declined, here or by no window.
    case 'PROMPT_CAUSE_DECLINED':
      return (here ?? (by === '' || by === windowId ? t('Declined') : t('Declined in another window'))) + why;
    case 'PROMPT_CAUSE_DISMISSED':
      return here ?? t('Dismissed in another window');
    case 'PROMPT_CAUSE_WITHDRAWN':
      return t('Withdrawn by server') + why;
    case 'PROMPT_CAUSE_PARENT':
      return (origin === 'ORIGIN_TIMEOUT' ? t('The call timed out') : t('The call was cancelled')) + why;
    case 'PROMPT_CAUSE_TIMEOUT':
      return t('Timed out: nobody answered');
    case 'PROMPT_CAUSE_SERVER_GONE':
      return t('The connection to the server ended') + why;
    case 'PROMPT_CAUSE_SHUTDOWN':
      return t('The hub is shutting down');
    case 'PROMPT_CAUSE_SUPERSEDED':
      return t('No longer needed') + why;
    default:
      return t('Closed') + why;
  }
}

/** How long until the deadline, '' when there is none soon. @param {string | undefined} deadline @param {number} now */
export function closesIn(deadline, now) {
  const s = deadline ? Math.max(0, Math.ceil((Date.parse(deadline) - now) / 1000)) : Infinity;
  if (s > 300) return '';
  return t('Closes in {0}', s >= 60 ? `${Math.ceil(s / 60)} min` : `${s} s`);
}
