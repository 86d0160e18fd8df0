// Texts of servers and config files, made fit for the editor's own messages: what cannot be seen, or turns the
// direction of writing, is spelled out, and nothing of it can become a link. VS Code makes links of
// [label](command:...) in notifications and runs the command on a click.

// C0 and C1 controls but for the newline, soft hyphen, combining grapheme joiner, Arabic letter mark, Hangul and Khmer
// fillers, zero width and bidi marks, line and paragraph separators, invisible operators, variation selectors, byte
// order mark, annotations, tags, lone surrogates.
const unseen =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}\ud800-\udfff]/gu;

/** Shows each character that cannot be seen as ⟨U+202E⟩. */
export function visible(text: string): string {
  return text.replace(unseen, (c) => `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** At most so many characters (code points), with a mark where the rest was. */
export function brief(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** One line of a message: visible, short, and without the two signs in a row that VS Code's links need. */
export function inMessage(text: string, most = 120): string {
  return brief(visible(text.replace(/\s*\n\s*/gu, ' ')), most).replace(/\](?=\()/gu, '] ');
}

/**
 * A part of a pick list's row, in which VS Code draws $(name) as an icon: a server could so give itself a shield or a
 * tick. A backslash stops that.
 */
export function inPick(text: string, most = 200): string {
  return inMessage(text, most).replace(/\$(?=\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\))/gu, '\\$');
}

/** A word of somebody else in the middle of a sentence of ours. */
export function quoted(text: string): string {
  return `“${inMessage(text)}”`;
}

/** A link of a notification that runs one of our commands with these arguments. */
export function commandLink(label: string, command: string, ...args: readonly unknown[]): string {
  const query = encodeURIComponent(JSON.stringify(args)).replace(
    /[()'!*~]/gu,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `[${label}](command:${command}?${query})`;
}
