// What is live, in the side bar: the view Now, which shows that part of the page.
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
  #questions: readonly string[] = []; // ids of the open prompts
  #led = 0; // number of calls of #focus in progress, whose caller shows something specific
  #toReveal: string | undefined; // kept until there is a view
  #awaited = false; // the view is to be shown, and the editor has not made it yet

  constructor(world: PageWorld) {
    this.#world = world;
    // The page is kept while another view covers it, so that a half-filled form survives a look at the files.
    this.#registration = vscode.window.registerWebviewViewProvider(viewId, this, {
      webviewOptions: { retainContextWhenHidden: true },
    });
  }

  /** A view that the editor is about to show for the first time counts: after a moment it has the questions. */
  get visible(): boolean {
    return this.#view?.visible ?? this.#awaited;
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    // The editor resolves the view again when it is moved. The first view of each session has the same id, so that it
    // can resume after a reload.
    this.#resolved++;
    const page = new PageView(
      this.#world,
      view.webview,
      this.#resolved === 1 ? 'vscode-sidebar' : `vscode-sidebar-${this.#resolved}`,
      'now',
    );
    this.#view = view;
    this.#page = page;
    this.#awaited = false;
    this.#paintBadge();
    if (this.#toReveal !== undefined) {
      page.reveal(this.#toReveal);
      this.#toReveal = undefined;
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

  /** Reveals a prompt when the user opens the view by its icon, which shows the number of prompts. */
  #revealQuestion(): void {
    if (this.visible && this.#led === 0 && this.#questions.length > 0 && !this.#questions.some((id) => this.sees(id))) {
      this.#page?.reveal('');
    }
  }

  /** Shows the view. If promptId is given, the card of that prompt is brought into view. */
  async show(promptId?: string): Promise<void> {
    if (promptId !== undefined && this.#page === undefined) {
      this.#toReveal = promptId;
    }
    const page = this.#page;
    if (this.#view === undefined) {
      this.#awaited = true;
      this.#viewChanged.fire();
    }
    try {
      await this.#focus();
    } catch (error) {
      this.#awaited = false; // nothing is to be seen, so questions are told elsewhere
      this.#viewChanged.fire();
      throw error;
    }
    if (promptId !== undefined) {
      page?.reveal(promptId);
    }
  }

  /** Focuses the view for a caller that then shows something specific in it. */
  async #focus(): Promise<void> {
    this.#led++;
    try {
      await vscode.commands.executeCommand(`${viewId}.focus`);
    } finally {
      this.#led--;
    }
  }

  /** Sets the open prompts. The badge on the view's icon shows their number. */
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
