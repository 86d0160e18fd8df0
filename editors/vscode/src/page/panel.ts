// The page as an editor tab: one at most, and it comes back with the window.
import * as vscode from 'vscode';
import { PageView, type PageWorld } from './pageview.js';

const viewType = 'mcphub.panel';

export class Panel implements vscode.Disposable {
  readonly #world: PageWorld;
  readonly #visibility = new vscode.EventEmitter<void>();
  readonly #registration: vscode.Disposable;
  readonly onDidChangeVisibility = this.#visibility.event;
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

  open(): void {
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
    this.#visibility.dispose();
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
    panel.onDidChangeViewState(() => this.#visibility.fire());
    panel.onDidDispose(() => {
      page.dispose();
      if (this.#panel === panel) {
        this.#panel = undefined;
        this.#page = undefined;
      }
      this.#visibility.fire();
    });
    this.#visibility.fire();
  }
}
