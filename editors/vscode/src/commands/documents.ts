// Texts that are shown and not edited: results and traces. Short ones are virtual documents, of which the latest are
// kept, since the editor may ask for a text again; long ones are files.
import * as vscode from 'vscode';
import { Indenter } from './indenter.js';
import { TextFiles } from './textfiles.js';

const scheme = 'mcphub';
const mostKept = 30;
/** Characters of all of them: a result has up to 32 MiB. */
const mostCharacters = 64 << 20;
/** Characters of a text that is handed to the editor in one. */
const longest = 1 << 20;

export class Documents implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  readonly #files: TextFiles;
  #shown = 0;

  /** The folder is for long texts; it is made when there is one. */
  constructor(folder: string) {
    this.#files = new TextFiles(folder);
  }

  /** Opens a JSON document. The name is part of its address, so it is made of harmless characters. */
  async show(name: string, text: string): Promise<void> {
    const uri = this.#keep(name, text);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }

  /** Opens a JSON text that comes in pieces, indented. */
  async open(name: string, text: AsyncIterable<string>): Promise<void> {
    await vscode.commands.executeCommand('vscode.open', await this.put(name, text), { preview: true });
  }

  /** Gives the address of such a text. */
  async put(name: string, text: AsyncIterable<string>): Promise<vscode.Uri> {
    const indented = inSlices(text);
    let head = '';
    for (;;) {
      const { value, done } = await indented.next();
      if (done === true) {
        return this.#keep(name, `${head}\n`);
      }
      head += value;
      if (head.length > longest) {
        return vscode.Uri.file(await this.#files.put(fileName(name), joined(head, indented)));
      }
    }
  }

  #keep(name: string, text: string): vscode.Uri {
    this.#shown++;
    const uri = vscode.Uri.from({ scheme, path: `/${this.#shown}/${fileName(name)}` });
    this.#texts.set(uri.path, text);
    let characters = 0;
    for (const [index, [kept, { length }]] of [...this.#texts].reverse().entries()) {
      characters += length;
      if (index >= mostKept || (index > 0 && characters > mostCharacters)) {
        this.#texts.delete(kept);
      }
    }
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.path) ?? '"This text is no longer kept."\n';
  }

  dispose(): void {
    this.#registration.dispose();
    this.#texts.clear();
  }
}

const fileName = (name: string): string => `${name.replace(/[^\w.-]+/gu, '_').slice(0, 80)}.json`;

const slice = 128 << 10;

/** Indents a text, a little in each turn of the event loop: others have theirs in between. */
async function* inSlices(text: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  const indenter = new Indenter();
  for await (const piece of text) {
    for (let from = 0; from < piece.length;) {
      const end = wholeEnd(piece, from + slice);
      yield indenter.add(piece.slice(from, end));
      from = end;
      await new Promise((resume) => setImmediate(resume));
    }
  }
  return undefined;
}

/** Not within a character of two units: a half is no text that can be written. */
function wholeEnd(text: string, end: number): number {
  const last = end < text.length ? text.charCodeAt(end - 1) : 0;
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

async function* joined(head: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield head;
  yield* rest;
}
