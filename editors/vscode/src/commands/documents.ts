// Texts that are shown and not edited: results and traces. The latest are kept, since the editor may ask for a text
// again.
import * as vscode from 'vscode';

const scheme = 'mcphub';
const mostKept = 30;
/** Characters of all of them: a result has up to 32 MiB. */
const mostCharacters = 64 << 20;

export class Documents implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  #shown = 0;

  /** Opens a JSON document. The name is part of its address, so it is made of harmless characters. */
  async show(name: string, text: string): Promise<void> {
    this.#shown++;
    const uri = vscode.Uri.from({
      scheme,
      path: `/${this.#shown}/${name.replace(/[^\w.-]+/gu, '_').slice(0, 80)}.json`,
    });
    this.#texts.set(uri.path, text);
    let characters = 0;
    for (const [index, [kept, { length }]] of [...this.#texts].reverse().entries()) {
      characters += length;
      if (index >= mostKept || (index > 0 && characters > mostCharacters)) {
        this.#texts.delete(kept);
      }
    }
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.path) ?? '"This text is no longer kept."\n';
  }

  dispose(): void {
    this.#registration.dispose();
    this.#texts.clear();
  }
}
