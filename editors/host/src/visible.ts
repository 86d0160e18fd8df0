// Spells out the characters of untrusted texts that a person cannot see. The page, the extension's dialogs and other
// hosts use this one function, so that a server cannot hide in one place what another place shows. It has no imports:
// it is part of the page, too. What such a text may cost is bounded here, too.

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
 * their code, as in ⟨U+202E⟩. With such characters a server could hide what it really says. What a browser could not
 * lay out in reasonable time is broken up.
 */
export function visible(text: string | undefined): string {
  const source = (text ?? '').replace(/\r\n/g, '\n');
  return layable(source.search(unseen) < 0 ? source : spelledOut(source));
}

function spelledOut(source: string): string {
  const joins = new Set(
    [...source.matchAll(joinsEmoji)].flatMap(({ index, 0: { length } }) => [index + length - 1, index + length - 2]),
  );
  return source.replace(unseen, (char, at: number) => {
    if (harmless.test(char) || joins.has(at)) return char;
    return `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

// The time that Chromium (156) takes for a line grows with the square of its length where letters depend on each other:
// 64,000 letters of Arabic without a space or mixed with Latin ones, as many of Thai, or as many accents on one letter
// held up a page for 6 to 20 s. The scripts that are named here cost nothing.
const dependent =
  /[^\p{sc=Common}\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u;
// No text needs so many: Unicode's Stream-Safe Text Format (UAX #15, section 13) has at most 30 in a row.
const tooManyMarks = /(\p{M}{30})(\p{M}+)/gu;
const longLine = 512;
// At the last space or, in a line without one, where neither a letter nor an emoji is parted.
const partOfLine = /(?:.{256,511}\s|.{450,512}(?<!\u200d)(?![\p{M}\u200d\p{Emoji_Modifier}])|.{512})(?=.)/gu;

/** Returns a text whose long lines are broken where that is needed, without the marks that no text needs. */
function layable(text: string): string {
  if (text.length <= longLine || !dependent.test(text)) return text;
  return text
    .replace(tooManyMarks, (_, kept: string, more: string) => `${kept}⟨+${Array.from(more).length}⟩`)
    .replace(/.+/g, (line) =>
      line.length > longLine && dependent.test(line) ? line.replace(partOfLine, '$&\n') : line,
    );
}

/**
 * Reports whether a field can show a text that nobody has typed. A field shows a text as it is, so it cannot be broken
 * up there.
 */
export function fitsField(text: string): boolean {
  if (text.length <= longLine || !dependent.test(text)) return true;
  return (
    !/\p{M}{31}/u.test(text) && !text.split('\n').some((line) => line.length > 2 * longLine && dependent.test(line))
  );
}
