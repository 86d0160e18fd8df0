// What is said of an ended request: in its row only what is not the normal end, in its details the end itself first.

import { toldOf, truthOf } from '../hub/truth.js';
import { outcomeText } from '../hub/ended.js';
import { isStart } from '../hub/requestwords.js';
import { nativeParse } from '../words/jsontext.js';
import { dotted, duration, originWord, shortName, startOf, visible } from '../words/text.js';
import { number, t } from '../words/t.js';
import type { IconName } from '../elements/icon.js';
import type { Ended, Outcome } from '../hub/ended.js';

/** Reports whether an end is worth a row. That a session has started is not: it is a step of a call. */
export const isListed = ({ about, outcome }: Ended) => !(isStart(about) && outcome === 'done');

/** The icon of each outcome. Their shapes differ: colours alone would tell nothing to many people. */
export const outcomeIcons: Record<Outcome, IconName> = {
  'done': 'check',
  'tool-error': 'alert',
  'failed': 'error',
  'denied': 'denied',
  'cancelled': 'cancelled',
  'withdrawn': 'undo',
  'timed-out': 'clock',
  'lost': 'question',
};

/** A longer result is not searched for what it says. */
const mostSearched = 16 << 10;
const secondsOf = (time: string | undefined) => parseFloat(time ?? '0') || 0;

/** Returns how an ended request ended, in one line without a full stop. */
export function endWords(entry: Ended): string {
  const { outcome, cancelled, finished } = entry;
  const { origin, reason } = cancelled?.cancellation ?? {};
  const why = visible(reason);
  switch (outcome) {
    case 'done':
      return doneIn(secondsOf(finished?.timings?.active));
    case 'cancelled':
      if (origin === 'ORIGIN_PARENT') return t('The call ended first');
      return why ? t('Cancelled by {0}: {1}', originWord(origin), why) : t('Cancelled by {0}', originWord(origin));
    case 'withdrawn':
      return why ? t('Withdrawn by the server: {0}', why) : t('Withdrawn by the server');
    case 'timed-out':
      return timedOut(entry);
    case 'tool-error':
    case 'failed': {
      const said = visible(finished?.mcpError?.message) || saidIn(finished?.resultJson);
      return said ? t('The server said: {0}', said) : visible(finished?.hubError?.message) || outcomeText(entry);
    }
    default:
      return outcomeText(entry);
  }
}

function doneIn(seconds: number) {
  if (seconds < 0.05) return t('Done');
  return t('Done in {0}', seconds < 9.95 ? `${number(seconds)} s` : duration(seconds * 1000));
}

function timedOut({ about, endTime, cancelled }: Ended) {
  const { queued, active, human } = cancelled?.timings ?? {};
  const lasted = Date.parse(endTime) - Date.parse(about.startTime ?? '');
  const known = 1000 * (secondsOf(queued) + secondsOf(active) + secondsOf(human));
  const ms = Number.isFinite(lasted) ? lasted : known;
  return ms > 0 ? t('Timed out after {0}', duration(ms)) : t('Timed out');
}

/** Returns the first text of a result that is an error. */
function saidIn(json: string = '') {
  if (json === '' || json.length > mostSearched) return '';
  try {
    const { content } = nativeParse(json) as { content?: { text?: unknown }[] };
    const text = content?.find((block) => typeof block.text === 'string')?.text;
    return visible(typeof text === 'string' ? text : '').trim();
  } catch {
    return ''; // it is shown as it is in the details
  }
}

/** Returns what more is known of the end: whether the server knows of it, and what can be done. */
export function moreWords(entry: Ended): string {
  const { outcome, about, cancelled, finished } = entry;
  if (outcome === 'lost') return truthOf(entry);
  if (outcome === 'denied') return sentence(visible(finished?.hubError?.message));
  const told = about.direction === 'REQUEST_DIRECTION_INCOMING' ? '' : toldOf(cancelled);
  const goesOn =
    !cancelled && finished?.serverMayContinue
      ? t('It may go on all the same: work and side effects cannot be ruled out.')
      : '';
  return [told, sentence(visible(cancelled?.error?.message)), goesOn].filter(Boolean).join(' ');
}

/** Errors of the hub begin in lower case and have no full stop, as in Go. */
const sentence = (text: string) =>
  text && `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

/** No row shows more, in UTF-16 units. The details have all of it. */
const mostInRow = 300;
const onlyText = /^[^\s:]+: "([^"\\]*)"$/;

/** Returns the quiet line of a row: the server, for whom, and how it ended or, if that was normal, the arguments. */
export function rowWords(entry: Ended): string {
  const { server, caller, argumentsPreview } = entry.about;
  const given = visible(argumentsPreview);
  const what = startOf(entry.outcome === 'done' ? (onlyText.exec(given)?.[1] ?? given) : endWords(entry), mostInRow);
  return dotted(shortName(server), caller && shortName(caller), what);
}
