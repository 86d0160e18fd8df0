// The texts of the page in the language of the reader. A text is written in English where it is used, as a literal. It
// is also the key of its translation. A test checks that every language has all texts, and no others.

import { language, locale, texts } from '#language'; // the extension for VS Code has another one

const filled = (text: string, values: readonly (string | number)[]) =>
  text.includes('{') ? text.replace(/\{(\d)\}/g, (whole, n: string) => String(values[Number(n)] ?? whole)) : text;

/**
 * Returns a text in the language of the page, with the values in the place of {0}, {1} and so on. Whole sentences are
 * translated: a sentence that is put together from parts fits no other language.
 * @param text a literal
 */
export function t(text: string, ...values: (string | number)[]) {
  const found = texts[text];
  return filled(typeof found === 'string' ? found : text, values);
}

const forms = new Intl.PluralRules(language);

/**
 * Returns a text in the plural form for a count. The count is {0} of the text.
 * @param one a literal
 * @param many a literal, and the key of its translation
 * @param values are {1} and so on
 */
export function plural(count: number, one: string, many: string, ...values: (string | number)[]) {
  const found = texts[many];
  const form = forms.select(count);
  const text = typeof found === 'object' ? (found[form] ?? found['other'] ?? many) : form === 'one' ? one : many;
  return filled(text, [count, ...values]);
}

const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, useGrouping: false });

/** Returns a number as people write it, with at most one digit after the decimal point. */
export const number = (value: number) => numbers.format(value);

const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });

/**
 * Returns the date and the time.
 * @param at milliseconds since 1970
 */
export const dateOf = (at: number) => dates.format(at);

const exactDates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });

/** Returns the date and the time to the second. */
export const exactDateOf = (at: Date) => exactDates.format(at);

const days = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });

/** Returns the day, without the year. */
export const dayOf = (at: Date) => days.format(at);

const times = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** Returns the time of day. */
export const timeOfDay = (date: Date) => times.format(date);
