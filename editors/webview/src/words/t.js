// The texts of the page in the language of its reader. A text is written in English where it is used, as a literal, and
// is its own key: a test sees to it that every language has all of them, and nothing else.

import { language, locale, texts } from '../language.js';

/** @param {string} text @param {readonly (string | number)[]} values */
const filled = (text, values) =>
  text.includes('{')
    ? text.replace(/\{(\d)\}/g, (whole, /** @type {string} */ n) => String(values[Number(n)] ?? whole))
    : text;

/**
 * A text; {0}, {1} and so on are the values. What is translated with its values is a sentence: one that is put together
 * from parts fits no other language.
 * @param {string} text a literal
 * @param {...(string | number)} values
 */
export function t(text, ...values) {
  const found = texts[text];
  return filled(typeof found === 'string' ? found : text, values);
}

const forms = new Intl.PluralRules(language);

/**
 * A text in the form that goes with a count, which is its {0}.
 * @param {number} count
 * @param {string} one a literal
 * @param {string} many a literal, and the key of its translation
 * @param {...(string | number)} values {1} and so on
 */
export function plural(count, one, many, ...values) {
  const found = texts[many];
  const form = forms.select(count);
  const text = typeof found === 'object' ? (found[form] ?? found['other'] ?? many) : form === 'one' ? one : many;
  return filled(text, [count, ...values]);
}

const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, useGrouping: false });

/** A number with one digit after the point at most, as people write it. @param {number} value */
export const number = (value) => numbers.format(value);

const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });

/** A day with its time. @param {number} at milliseconds since 1970 */
export const dateOf = (at) => dates.format(at);

const times = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** The time of a day. @param {Date} date */
export const timeOfDay = (date) => times.format(date);
