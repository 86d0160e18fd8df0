// Spells out the characters of untrusted texts that a person cannot see. The page, the extension's dialogs and other
// hosts use this one function, so that a server cannot hide in one place what another place shows. It has no imports:
// it is part of the page, too.

// By the classes of Unicode instead of a list of known tricks: controls, format characters (they can change the
// direction of writing), characters that a font draws as nothing, halves of surrogate pairs, separators that break
// lines, and the blank Braille pattern.
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;
// Line breaks and tabs can be seen.
const harmless = /^[\n\t]$/;
// Characters that join several emojis into one are harmless: they can hide nothing between two pictures.
const joinsEmoji =
  /\p{Extended_Pictographic}(?:[\p{Emoji_Modifier}\ufe0f]?\u200d(?=\p{Extended_Pictographic})|\ufe0f)/gu;

/**
 * Returns a text in which characters that cannot be seen, or that change the direction of writing, are replaced by
 * their code, as in ⟨U+202E⟩. With such characters a server could hide what it really says.
 */
export function visible(text: string | undefined): string {
  const source = (text ?? '').replace(/\r\n/g, '\n');
  if (source.search(unseen) < 0) return source;
  const joins = new Set(
    [...source.matchAll(joinsEmoji)].flatMap(({ index, 0: { length } }) => [index + length - 1, index + length - 2]),
  );
  return source.replace(unseen, (char, at: number) => {
    if (harmless.test(char) || joins.has(at)) return char;
    return `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
