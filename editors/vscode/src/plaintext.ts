// Makes texts of servers and config files safe for the editor's own messages. Characters that are invisible or change
// the direction of writing are spelled out, and no part can become a link. VS Code turns [label](command:...) in
// notifications into a link that runs the command on a click.

// C0 and C1 controls except the newline, soft hyphen, combining grapheme joiner, Arabic letter mark, Hangul and Khmer
// fillers, zero width and bidi marks, line and paragraph separators, invisible operators, variation selectors, byte
// order mark, annotations, tags, lone surrogates.
const unseen =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}\ud800-\udfff]/gu;

/** Replaces each invisible character by its code point, as in ⟨U+202E⟩. */
export function visible(text: string): string {
  return text.replace(unseen, (c) => `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** Cuts a text to a number of characters (code points), and marks the cut with an ellipsis. */
export function brief(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** Returns a text for one line of a message: visible, short, and without the sequence ]( that VS Code's links need. */
export function inMessage(text: string, most = 120): string {
  return brief(visible(text.replace(/\s*\n\s*/gu, ' ')), most).replace(/\](?=\()/gu, '] ');
}

/**
 * Returns a text for a row of a pick list. VS Code draws $(name) there as an icon, with which a server could give
 * itself a shield or a tick. A backslash prevents that.
 */
export function inPick(text: string, most = 200): string {
  return inMessage(text, most).replace(/\$(?=\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\))/gu, '\\$');
}

/** Returns a foreign text in quotes, for the middle of a sentence. */
export function quoted(text: string): string {
  return `“${inMessage(text)}”`;
}

/** Returns a link for a notification that runs a command of this extension with these arguments. */
export function commandLink(label: string, command: string, ...args: readonly unknown[]): string {
  const query = encodeURIComponent(JSON.stringify(args)).replace(
    /[()'!*~]/gu,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `[${label}](command:${command}?${query})`;
}
