// The language of the page: the one that its host names, else the first of the browser's that the page has. Its texts
// are loaded before any other module runs, so that what is written once, at the start, is in it too.

/** @typedef {import('./texts.js').Texts} Texts */

/** The languages that the page has beside English. @type {Record<string, () => Promise<{ default: Texts }>>} */
const others = {
  de: () => import('./l10n/de.js'),
};

/** @param {string} tag as BCP 47 has it */
const primary = (tag) => tag.split('-')[0]?.toLowerCase() ?? '';

/**
 * Of the languages that somebody reads, the first that the page has.
 * @param {readonly string[]} wanted the best first
 */
export const languageOf = (wanted) =>
  wanted.map(primary).find((one) => one === 'en' || Object.hasOwn(others, one)) ?? 'en';

/** What the host has said, or else the browser says. @returns {readonly string[]} */
function wantedHere() {
  if (typeof document === 'undefined') return []; // a test, without a page
  /** @type {unknown} */
  const surface = JSON.parse(document.documentElement.dataset['surface'] ?? '{}');
  const { language } = /** @type {{ language?: string }} */ (surface);
  return language ? [language] : navigator.languages;
}

const wanted = wantedHere();

/** The language of the page. */
export const language = languageOf(wanted);

/** A language with the region of its readers, as far as it is known. @param {string} of */
const withRegion = (of) =>
  [...wanted, ...(typeof document === 'undefined' ? [] : navigator.languages)].find(
    (one) => primary(one) === primary(of) && one.includes('-'),
  ) ?? of;

/** Where the numbers and times of its readers are written so. */
export const locale = withRegion(language);

/** What its readers would have first, whether the page has it or not. */
export const wantedLocale = withRegion(wanted[0] ?? language);

/** @returns {Promise<Texts>} */
async function load() {
  try {
    return (await others[language]?.())?.default ?? {};
  } catch (error) {
    reportError(error); // in English it can be used all the same
    return {};
  }
}

/** What the texts are in the language of the page; none for English. */
export const texts = await load();
