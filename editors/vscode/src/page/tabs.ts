// The editor tabs with one thing each: a server, something that it offers, a request that has ended, the form that adds
// a server. A tab comes back after a reload of the window; its page remembers what it showed.
import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import type { Known } from '../hub/known.js';
import { keyOf, tabTitle, thingOf, type Thing } from '../views/thing.js';
import { PageView, type PageWorld, type Proposed } from './pageview.js';

const viewType = 'mcphub.opened';

/** The form that adds a server. */
const adding = 'add';

interface Tab {
  readonly panel: vscode.WebviewPanel;
  readonly page: PageView;
}

export class Tabs implements vscode.Disposable {
  readonly #world: PageWorld;
  readonly #known: Known;
  readonly #tabs = new Map<string, Tab>();
  readonly #subscriptions: vscode.Disposable;

  constructor(world: PageWorld, known: Known) {
    this.#world = world;
    this.#known = known;
    this.#subscriptions = vscode.window.registerWebviewPanelSerializer(viewType, {
      deserializeWebviewPanel: (panel, state) => {
        this.#restore(panel, state);
        return Promise.resolve();
      },
    });
  }

  /** Opens the tab of a thing, or shows the one that it has. */
  open(thing: Thing): void {
    this.#show(keyOf(thing), tabTitle(this.#known, thing), (page) => page.open(thing));
  }

  /** Opens the tab with the form that adds a server, with what is proposed. */
  addServer(proposed?: Proposed): void {
    const tab = this.#tabs.get(adding);
    this.#show(adding, vscode.l10n.t('Add Server'), (page) => page.openAddServer(proposed));
    if (tab !== undefined) {
      tab.page.openAddServer(proposed); // the form may have been closed, or was for something else
    }
  }

  rootsChanged(): void {
    this.#tabs.forEach(({ page }) => page.rootsChanged());
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#tabs.forEach(({ page }) => page.dispose());
  }

  #show(key: string, title: string, fill: (page: PageView) => void): void {
    const tab = this.#tabs.get(key);
    if (tab !== undefined) {
      tab.panel.reveal();
      return;
    }
    const panel = vscode.window.createWebviewPanel(viewType, title, vscode.ViewColumn.Active, {
      retainContextWhenHidden: true,
    });
    fill(this.#hold(key, panel));
  }

  #hold(key: string, panel: vscode.WebviewPanel): PageView {
    panel.iconPath = vscode.Uri.joinPath(this.#world.extensionUri, 'media', 'icon.png');
    const page = new PageView(this.#world, panel.webview, windowIdOf(key), 'opened');
    this.#tabs.set(key, { panel, page });
    panel.onDidDispose(() => {
      page.webviewGone();
      if (this.#tabs.get(key)?.panel === panel) {
        this.#tabs.delete(key);
      }
    });
    return page;
  }

  /** @param state what the page remembers; a page that was reloaded before it had its window remembers nothing */
  #restore(panel: vscode.WebviewPanel, state: unknown): void {
    const { windowId, opens } = (typeof state === 'object' && state !== null ? state : {}) as Record<string, unknown>;
    const thing = thingOf(opens);
    const key = thing === undefined ? adding : keyOf(thing);
    if (this.#tabs.has(key) || windowId !== windowIdOf(key)) {
      panel.dispose();
      return;
    }
    const page = this.#hold(key, panel);
    if (thing === undefined) {
      page.openAddServer();
    } else {
      page.open(thing);
    }
  }
}

/** The id of the window of a thing's page: the same after a reload, and with a name of any length below its bound. */
const windowIdOf = (key: string): string => `vscode-tab-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
