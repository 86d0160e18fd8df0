// The texts of the page in the language of the reader. A text is written in English where it is used, as a literal. It
// is also the key of its translation. A test checks that every language has all texts, and no others.

import { language, locale, texts } from '../language.js';

/** @param {string} text @param {readonly (string | number)[]} values */
const filled = (text, values) =>
  text.includes('{')
    ? text.replace(/\{(\d)\}/g, (whole, /** @type {string} */ n) => String(values[Number(n)] ?? whole))
    : text;

/**
 * Returns a text in the language of the page, with the values in the place of {0}, {1} and so on. Whole sentences are
 * translated: a sentence that is put together from parts fits no other language.
 * @param {string} text a literal
 * @param {...(string | number)} values
 */
export function t(text, ...values) {
  const found = texts[text];
  return filled(typeof found === 'string' ? found : text, values);
}

const forms = new Intl.PluralRules(language);

/**
 * Returns a text in the plural form for a count. The count is {0} of the text.
 * @param {number} count
 * @param {string} one a literal
 * @param {string} many a literal, and the key of its translation
 * @param {...(string | number)} values are {1} and so on
 */
export function plural(count, one, many, ...values) {
  const found = texts[many];
  const form = forms.select(count);
  const text = typeof found === 'object' ? (found[form] ?? found['other'] ?? many) : form === 'one' ? one : many;
  return filled(text, [count, ...values]);
}

const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, useGrouping: false });

/** Returns a number as people write it, with at most one digit after the decimal point. @param {number} value */
export const number = (value) => numbers.format(value);

const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });

/** Returns the date and the time. @param {number} at milliseconds since 1970 */
export const dateOf = (at) => dates.format(at);

const times = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** Returns the time of day. @param {Date} date */
export const timeOfDay = (date) => times.format(date);
