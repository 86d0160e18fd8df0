/** Parses JSON that these tests have written. @type {(text: string) => unknown} */
export const readJson = JSON.parse;
