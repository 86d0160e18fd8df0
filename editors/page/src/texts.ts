// The types of the texts of a language.

/** A text, or one text for each plural form of the language. */
export type Translation = string | Record<string, string>;

/** The translations by the English text. */
export type Texts = Readonly<Record<string, Translation>>;

export {};
