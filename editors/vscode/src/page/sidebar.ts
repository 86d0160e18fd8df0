// The page in the side bar.
import * as vscode from 'vscode';
import { PageView, type PageWorld } from './pageview.js';

export const viewId = 'mcphub.view';

export class Sidebar implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #world: PageWorld;
  readonly #viewChanged = new vscode.EventEmitter<void>();
  readonly #registration: vscode.Disposable;
  readonly onDidChangeView = this.#viewChanged.event;
  #view: vscode.WebviewView | undefined;
  #page: PageView | undefined;
  #resolved = 0;
  #questions = 0;
  #toReveal: string | undefined; // until there is a view
  #toAdd = false; // the same
  #bundle: string | undefined; // what it is to be opened with

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
    this.#paintBadge();
    if (this.#toReveal !== undefined) {
      page.reveal(this.#toReveal);
      this.#toReveal = undefined;
    }
    if (this.#toAdd) {
      page.openAddServer(this.#bundle);
      this.#toAdd = false;
    }
    page.onDidChangeInView(() => this.#viewChanged.fire());
    view.onDidChangeVisibility(() => this.#viewChanged.fire());
    view.onDidDispose(() => {
      page.webviewGone();
      if (this.#view === view) {
        this.#view = undefined;
        this.#page = undefined;
      }
      this.#viewChanged.fire();
    });
    this.#viewChanged.fire();
  }

  rootsChanged(): void {
    this.#page?.rootsChanged();
  }

  sees(promptId: string): boolean {
    return this.visible && this.#page?.inView.has(promptId) === true;
  }

  /** With a question, its card is brought into view. */
  async show(promptId?: string): Promise<void> {
    if (promptId !== undefined && this.#page === undefined) {
      this.#toReveal = promptId;
    }
    const page = this.#page;
    await vscode.commands.executeCommand(`${viewId}.focus`);
    if (promptId !== undefined) {
      page?.reveal(promptId);
    }
  }

  /** Shows the view with the form that adds a server, that of a bundle if one is named. */
  async addServer(bundle?: string): Promise<void> {
    const page = this.#page;
    this.#toAdd = page === undefined;
    this.#bundle = bundle;
    await vscode.commands.executeCommand(`${viewId}.focus`);
    page?.openAddServer(bundle);
  }

  /** How many questions are open: the number on the view's icon. */
  count(questions: number): void {
    if (questions !== this.#questions) {
      this.#questions = questions;
      this.#paintBadge();
    }
  }

  #paintBadge(): void {
    if (this.#view !== undefined) {
      const value = this.#questions;
      const tooltip =
        value === 1 ? vscode.l10n.t('1 question waits for you') : vscode.l10n.t('{0} questions wait for you', value);
      this.#view.badge = value === 0 ? undefined : { value, tooltip };
    }
  }

  dispose(): void {
    this.#registration.dispose();
    this.#page?.dispose();
    this.#viewChanged.dispose();
  }
}
