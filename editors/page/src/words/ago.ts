// How long ago something was, in as few words as a row has room for.

import { dayOf, exactDateOf, t } from './t.js';

const minute = 60_000;
const hour = 60 * minute;

/** Returns the words for a past time, and after how many milliseconds they are others. */
export function ago(then: Date, now: number): { text: string; holds: number } {
  const since = Math.max(0, now - then.getTime());
  const holds = minute - (since % minute);
  if (since < minute) return { text: t('now'), holds };
  if (since < hour) return { text: t('{0} min', Math.floor(since / minute)), holds };
  const today = new Date(now);
  const sameDay = then.toDateString() === today.toDateString();
  if (sameDay || since < 12 * hour) return { text: t('{0} h', Math.floor(since / hour)), holds };
  today.setDate(today.getDate() - 1);
  return { text: then.toDateString() === today.toDateString() ? t('yesterday') : dayOf(then), holds };
}

/** Returns the exact time, or '' for what is no time. */
export const exactTime = (timestamp: string) =>
  Number.isNaN(Date.parse(timestamp)) ? '' : exactDateOf(new Date(timestamp));
