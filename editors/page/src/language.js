// The language of the page: the language that the host names, or else the first language of the browser that the page
// has. Its texts are loaded before any module that uses them runs, so that texts that are made only once, at the start,
// are translated, too.

/** @typedef {import('./texts.js').Texts} Texts */

/** The languages of the page other than English. @type {Record<string, () => Promise<{ default: Texts }>>} */
const others = {
  de: () => import('./l10n/de.js'),
};

/** Returns the language of a tag, without its region. @param {string} tag of BCP 47 */
const primary = (tag) => tag.split('-')[0]?.toLowerCase() ?? '';

/**
 * Returns the first of the wanted languages that the page has, or 'en'.
 * @param {readonly string[]} wanted tags of BCP 47, the preferred language first
 */
export const languageOf = (wanted) =>
  wanted.map(primary).find((one) => one === 'en' || Object.hasOwn(others, one)) ?? 'en';

/** Returns the language that the host names, or else the languages of the browser. @returns {readonly string[]} */
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

/** Returns a language with the region that the reader has set for it, or `of` if there is none. @param {string} of */
const withRegion = (of) =>
  [...wanted, ...(typeof document === 'undefined' ? [] : navigator.languages)].find(
    (one) => primary(one) === primary(of) && one.includes('-'),
  ) ?? of;

/** The locale of numbers and times: the language of the page, with the reader's region if that is known. */
export const locale = withRegion(language);

/** The locale that the reader prefers, whether the page has its language or not. */
export const wantedLocale = withRegion(wanted[0] ?? language);

/** @returns {Promise<Texts>} */
async function load() {
  try {
    return (await others[language]?.())?.default ?? {};
  } catch (error) {
    reportError(error); // the page can still be used in English
    return {};
  }
}

/** The texts in the language of the page. There are none for English. */
export const texts = await load();
