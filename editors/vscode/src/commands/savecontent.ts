// Saves one content of a result as a file. The page passes the position of the content in the JSON text of the result.
// The text is read and written in pieces; it is never parsed as a whole.
import * as vscode from 'vscode';
import { RequestPart } from '@mcphub/host/contract';
import type { CommandWorld } from './commandworld.js';
import { pieces, save } from './requestparts.js';
import { withStop } from './stoppable.js';
import { fileNameOf } from '../resources/resourceuri.js';

/** The arguments of a link on the page. They are not trusted. */
export interface ContentLink {
  readonly requestId: string;
  /** The position of the JSON string in the result's text, in UTF-16 code units, without its quotes. */
  readonly from: number;
  readonly to: number;
  readonly base64: boolean;
  readonly uri: string;
  readonly mimeType: string;
}

export function contentLink(link: readonly unknown[]): ContentLink {
  const [requestId, from, to, kind, uri, mimeType] = link;
  if (
    typeof requestId !== 'string'
    || typeof from !== 'number'
    || typeof to !== 'number'
    || !Number.isSafeInteger(from)
    || !Number.isSafeInteger(to)
    || from < 0
    || to < from
    || (kind !== 'blob' && kind !== 'text')
  ) {
    throw new Error('This command is for the links of the page of McpHub: open a request in its history.');
  }
  return {
    requestId,
    from,
    to,
    base64: kind === 'blob',
    uri: typeof uri === 'string' ? uri : '',
    mimeType: typeof mimeType === 'string' ? mimeType : '',
  };
}

export async function saveContent(world: CommandWorld, link: ContentLink): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const name = fileNameOf(link.uri, link.mimeType);
  const to = await vscode.window.showSaveDialog(
    folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, name) },
  );
  if (to === undefined) {
    return;
  }
  await withStop(vscode.l10n.t('Saving…'), (signal) => {
    const part = { requestId: link.requestId, part: RequestPart.RESULT, name };
    const inside = unescaped(between(pieces(world, part, signal), link.from, link.to));
    return save(to, link.base64 ? decoded(inside) : inside);
  });
}

/** Yields the part of a text between two positions. @throws when the text is shorter */
export async function* between(text: AsyncIterable<string>, from: number, to: number): AsyncGenerator<string> {
  let at = 0;
  for await (const piece of text) {
    const part = piece.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += piece.length;
    if (part !== '') {
      yield part;
    }
    if (at >= to) {
      return;
    }
  }
  throw notThere();
}

const notThere = (): Error => new Error(vscode.l10n.t('The result has changed. Open the request in History again.'));

/**
 * Decodes the inside of a JSON string that comes in pieces. An escape or a character that is cut waits for the next
 * piece.
 */
export async function* unescaped(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of text) {
    const all = rest + piece;
    const whole = all.slice(0, wholeEnd(all));
    rest = all.slice(whole.length);
    yield read(whole);
  }
  yield read(rest);
}

function read(inside: string): string {
  try {
    return JSON.parse(`"${inside}"`) as string;
  } catch {
    throw notThere();
  }
}

/** Returns the largest end that cuts neither an escape nor a surrogate pair. */
function wholeEnd(text: string): number {
  const escape = /(?<!\\)(\\+)(?:u[\da-fA-F]{0,3})?$/u.exec(text);
  let end = text.length;
  if (escape !== null && (escape[1] ?? '').length % 2 === 1) {
    end -= escape[0].length - (escape[1] ?? '').length + 1;
  }
  const half = /(?:[\ud800-\udbff]|\\u[dD][89abAB][\da-fA-F]{2})$/.exec(text.slice(0, end));
  return half === null ? end : end - half[0].length;
}

/** Decodes base64 that comes in pieces. */
export async function* decoded(text: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let rest = '';
  for await (const piece of text) {
    const all = rest + piece.replace(/\s+/gu, '');
    if (!/^[\w+/-]*={0,2}$/u.test(all)) {
      throw new Error(vscode.l10n.t('The server sent data that is not base64.'));
    }
    const whole = all.length - (all.length % 4);
    rest = all.slice(whole);
    yield Buffer.from(all.slice(0, whole), 'base64');
  }
  yield Buffer.from(rest, 'base64');
}
