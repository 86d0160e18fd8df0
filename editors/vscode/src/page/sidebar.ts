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
  #questions: readonly string[] = []; // open ones
  #led = 0; // times that it is being opened for something that is to be seen
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
    view.onDidChangeVisibility(() => {
      this.#revealQuestion();
      this.#viewChanged.fire();
    });
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

  /** Who opens it by its icon, with the number of questions on it, wants to see one of them. */
  #revealQuestion(): void {
    if (this.visible && this.#led === 0 && this.#questions.length > 0 && !this.#questions.some((id) => this.sees(id))) {
      this.#page?.reveal('');
    }
  }

  /** With a question, its card is brought into view. */
  async show(promptId?: string): Promise<void> {
    if (promptId !== undefined && this.#page === undefined) {
      this.#toReveal = promptId;
    }
    const page = this.#page;
    await this.#focus();
    if (promptId !== undefined) {
      page?.reveal(promptId);
    }
  }

  /** Shows the view with the form that adds a server, that of a bundle if one is named. */
  async addServer(bundle?: string): Promise<void> {
    const page = this.#page;
    this.#toAdd = page === undefined;
    this.#bundle = bundle;
    await this.#focus();
    page?.openAddServer(bundle);
  }

  /** For what its caller wants to be seen then. */
  async #focus(): Promise<void> {
    this.#led++;
    try {
      await vscode.commands.executeCommand(`${viewId}.focus`);
    } finally {
      this.#led--;
    }
  }

  /** The questions that are open: how many is the number on the view's icon. */
  asks(promptIds: readonly string[]): void {
    const before = this.#questions.length;
    this.#questions = promptIds;
    if (promptIds.length !== before) {
      this.#paintBadge();
    }
  }

  #paintBadge(): void {
    if (this.#view !== undefined) {
      const value = this.#questions.length;
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
