// Makes texts of servers and config files safe for the editor's own messages: what cannot be seen is spelled out, and
// no part can become a link. VS Code turns [label](command:...) in notifications into a link that runs the command on
// a click.
import { visible } from '@mcphub/host/contract';

export { visible };

/** Cuts a text to a number of characters (code points), and marks the cut with an ellipsis. */
export function brief(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

/** Returns a text for one line of a message: visible, short, and without the sequence ]( that VS Code's links need. */
export function inMessage(text: string, most = 120): string {
  // A blank more must not make it longer than it may be, so it is cut last.
  return brief(visible(text.replace(/\s*\n\s*/gu, ' ')).replace(/\](?=\()/gu, '] '), most);
}

/**
 * Returns a text for a row of a pick list. VS Code draws $(name) there as an icon, with which a server could give
 * itself a shield or a tick. A backslash prevents that.
 */
export function inPick(text: string, most = 200): string {
  return inMessage(text, most).replace(/\$(?=\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\))/gu, '\\$');
}

/** Returns a foreign text in quotes, for the middle of a sentence. */
export function quoted(text: string, most?: number): string {
  return `“${inMessage(text, most)}”`;
}
