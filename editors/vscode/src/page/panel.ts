// The page as an editor tab. There is at most one, and it is restored with the window.
import * as vscode from 'vscode';
import { PageView, type PageWorld, type Proposed } from './pageview.js';

const viewType = 'mcphub.panel';

export class Panel implements vscode.Disposable {
  readonly #world: PageWorld;
  readonly #viewChanged = new vscode.EventEmitter<void>();
  readonly #registration: vscode.Disposable;
  readonly onDidChangeView = this.#viewChanged.event;
  #panel: vscode.WebviewPanel | undefined;
  #page: PageView | undefined;
  #opened = 0;

  constructor(world: PageWorld) {
    this.#world = world;
    this.#registration = vscode.window.registerWebviewPanelSerializer(viewType, {
      deserializeWebviewPanel: (panel) => {
        this.#hold(panel);
        return Promise.resolve();
      },
    });
  }

  get visible(): boolean {
    return this.#panel?.visible === true;
  }

  sees(promptId: string): boolean {
    return this.visible && this.#page?.inView.has(promptId) === true;
  }

  /** Opens the panel. If promptId is given, the card of that prompt is brought into view. */
  open(promptId?: string): void {
    this.#openPanel();
    if (promptId !== undefined) {
      this.#page?.reveal(promptId);
    }
  }

  /** Shows the panel with the form that adds a server, with what is proposed. */
  addServer(proposed?: Proposed): void {
    this.#openPanel();
    this.#page?.openAddServer(proposed);
  }

  #openPanel(): void {
    if (this.#panel !== undefined) {
      this.#panel.reveal();
      return;
    }
    this.#hold(
      vscode.window.createWebviewPanel(viewType, 'McpHub', vscode.ViewColumn.Active, { retainContextWhenHidden: true }),
    );
  }

  rootsChanged(): void {
    this.#page?.rootsChanged();
  }

  dispose(): void {
    this.#registration.dispose();
    this.#page?.dispose();
    this.#viewChanged.dispose();
  }

  #hold(panel: vscode.WebviewPanel): void {
    this.#opened++;
    panel.iconPath = vscode.Uri.joinPath(this.#world.extensionUri, 'media', 'icon.png');
    const page = new PageView(
      this.#world,
      panel.webview,
      this.#opened === 1 ? 'vscode-panel' : `vscode-panel-${this.#opened}`,
    );
    this.#panel = panel;
    this.#page = page;
    page.onDidChangeInView(() => this.#viewChanged.fire());
    panel.onDidChangeViewState(() => this.#viewChanged.fire());
    panel.onDidDispose(() => {
      page.webviewGone();
      if (this.#panel === panel) {
        this.#panel = undefined;
        this.#page = undefined;
      }
      this.#viewChanged.fire();
    });
    this.#viewChanged.fire();
  }
}
