// The types of the texts of a language.

/** A text, or one text for each plural form of the language. @typedef {string | Record<string, string>} Translation */
/** The translations by the English text. @typedef {Readonly<Record<string, Translation>>} Texts */

export {};
