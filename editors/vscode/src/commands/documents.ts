// Read-only documents for results and traces. Short texts are virtual documents; the latest are kept, since the editor
// may ask for a text again. Long texts are files.
import * as vscode from 'vscode';
import { Indenter } from '../../../page/src/words/indenter.js';
import { TextFiles } from './textfiles.js';

const scheme = 'mcphub';
const mostKept = 30;
/** The total number of characters of the kept texts. A result has up to 32 MiB. */
const mostCharacters = 64 << 20;
/** The maximum number of characters of a text that is passed to the editor at once. */
const longest = 1 << 20;

export class Documents implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  readonly #files: TextFiles;
  #shown = 0;

  /** `folder` is for long texts. It is created when it is needed. */
  constructor(folder: string) {
    this.#files = new TextFiles(folder);
  }

  /** Opens a JSON document. Its address contains the name, in which unsafe characters are replaced. */
  async show(name: string, text: string): Promise<void> {
    const uri = this.#keep(name, text);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }

  /** Opens a JSON text that comes in pieces, and indents it. */
  async open(name: string, text: AsyncIterable<string>): Promise<void> {
    await vscode.commands.executeCommand('vscode.open', await this.put(name, text), { preview: true });
  }

  /** Stores such a text and returns its address. */
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

/** Indents a text in slices, one in each turn of the event loop, so that other work can run in between. */
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

/** Returns an end that does not split a surrogate pair: one half alone cannot be written as UTF-8. */
function wholeEnd(text: string, end: number): number {
  const last = end < text.length ? text.charCodeAt(end - 1) : 0;
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end;
}

async function* joined(head: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield head;
  yield* rest;
}
