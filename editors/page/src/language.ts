// The language of the page: the language that the host names, or else the first language of the browser that the page
// has. Its texts are loaded before any module that uses them runs, so that texts that are made only once, at the start,
// are translated, too.

import type { Texts } from './texts.js';

/** The languages of the page other than English. */
const others: Record<string, () => Promise<{ default: Texts }>> = {
  de: () => import('./l10n/de.js'),
};

/**
 * Returns the language of a tag, without its region.
 * @param tag of BCP 47
 */
const primary = (tag: string) => tag.split('-')[0]?.toLowerCase() ?? '';

/**
 * Returns the first of the wanted languages that the page has, or 'en'.
 * @param wanted tags of BCP 47, the preferred language first
 */
export const languageOf = (wanted: readonly string[]) =>
  wanted.map(primary).find((one) => one === 'en' || Object.hasOwn(others, one)) ?? 'en';

/** Returns the language that the host names, or else the languages of the browser. */
function wantedHere(): readonly string[] {
  if (typeof document === 'undefined') return []; // a test, without a page
  const surface: unknown = JSON.parse(document.documentElement.dataset['surface'] ?? '{}');
  const { language } = surface as { language?: string };
  return language ? [language] : navigator.languages;
}

const wanted = wantedHere();

/** The language of the page. */
export const language = languageOf(wanted);

/** Returns a language with the region that the reader has set for it, or `of` if there is none. */
const withRegion = (of: string) =>
  [...wanted, ...(typeof document === 'undefined' ? [] : navigator.languages)].find(
    (one) => primary(one) === primary(of) && one.includes('-'),
  ) ?? of;

/** The locale of numbers and times: the language of the page, with the reader's region if that is known. */
export const locale = withRegion(language);

/** The locale that the reader prefers, whether the page has its language or not. */
export const wantedLocale = withRegion(wanted[0] ?? language);

async function load(): Promise<Texts> {
  try {
    return (await others[language]?.())?.default ?? {};
  } catch (error) {
    reportError(error); // the page can still be used in English
    return {};
  }
}

/** The texts in the language of the page. There are none for English. */
export const texts = await load();
