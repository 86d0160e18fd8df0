// What a language of the page has to say.

/** A text, or one for each form of plural that the language has. @typedef {string | Record<string, string>} Translation */
/** By the English text. @typedef {Readonly<Record<string, Translation>>} Texts */

export {};
