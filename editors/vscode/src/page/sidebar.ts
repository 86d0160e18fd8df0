// The page in the side bar.
import * as vscode from 'vscode';
import { PageView, type PageWorld } from './pageview.js';

export const viewId = 'mcphub.view';

export class Sidebar implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #world: PageWorld;
  readonly #visibility = new vscode.EventEmitter<void>();
  readonly #registration: vscode.Disposable;
  readonly onDidChangeVisibility = this.#visibility.event;
  #view: vscode.WebviewView | undefined;
  #page: PageView | undefined;
  #resolved = 0;

  constructor(world: PageWorld) {
    this.#world = world;
    // Kept while another view covers it: a form that is half filled in must not be lost by a look at the files.
    this.#registration = vscode.window.registerWebviewViewProvider(viewId, this, {
      webviewOptions: { retainContextWhenHidden: true },
    });
  }

  get visible(): boolean {
    return this.#view?.visible === true;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    // The editor resolves it anew when the view is moved. The first one of each session has the same id, so that it is
    // known again after a reload.
    this.#resolved++;
    const page = new PageView(
      this.#world,
      view.webview,
      this.#resolved === 1 ? 'vscode-sidebar' : `vscode-sidebar-${this.#resolved}`,
    );
    this.#view = view;
    this.#page = page;
    view.onDidChangeVisibility(() => this.#visibility.fire());
    view.onDidDispose(() => {
      page.dispose();
      if (this.#view === view) {
        this.#view = undefined;
        this.#page = undefined;
      }
      this.#visibility.fire();
    });
    this.#visibility.fire();
  }

  rootsChanged(): void {
    this.#page?.rootsChanged();
  }

  async show(): Promise<void> {
    await vscode.commands.executeCommand(`${viewId}.focus`);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#page?.dispose();
    this.#visibility.dispose();
  }
}
