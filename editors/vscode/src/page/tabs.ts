// The editor tabs with one thing each: a server, something that it offers, a request that has ended, the form that adds
// a server. A tab comes back after a reload of the window, if its thing is still there.
import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import type { Known } from '../hub/known.js';
import { exists, keyOf, tabTitle, thingOf, type Thing } from '../views/thing.js';
import { PageView, type PageWorld, type Proposed } from './pageview.js';

const viewType = 'mcphub.opened';

/** The things of the tabs, by the id of their windows: all that a page remembers over a reload is that id. */
const keptKey = 'mcphub.tabs';

/** Maximum number of things that are kept, the latest. */
const mostKept = 100;

/** The form that adds a server. */
const adding = 'add';

interface Tab {
  readonly panel: vscode.WebviewPanel;
  readonly page: PageView;
}

export class Tabs implements vscode.Disposable {
  readonly #world: PageWorld;
  readonly #known: Known;
  readonly #kept: vscode.Memento;
  readonly #tabs = new Map<string, Tab>();
  readonly #subscriptions: vscode.Disposable;
  /** Tabs of before a reload, whose things are looked for once it is known what there is. */
  readonly #restored = new Map<string, Thing>();

  constructor(world: PageWorld, known: Known, kept: vscode.Memento) {
    this.#world = world;
    this.#known = known;
    this.#kept = kept;
    this.#subscriptions = vscode.Disposable.from(
      known.onDidChange(() => this.#look()),
      vscode.window.registerWebviewPanelSerializer(viewType, {
        deserializeWebviewPanel: (panel, state) => {
          this.#restore(panel, state);
          return Promise.resolve();
        },
      }),
    );
  }

  /** Opens the tab of a thing, or shows the one that it has. */
  open(thing: Thing): void {
    this.#show(keyOf(thing), tabTitle(this.#known, thing), (page) => page.open(thing), thing);
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

  #show(key: string, title: string, fill: (page: PageView) => void, thing?: Thing): void {
    const tab = this.#tabs.get(key);
    if (tab !== undefined) {
      tab.panel.reveal();
      return;
    }
    const panel = vscode.window.createWebviewPanel(viewType, title, vscode.ViewColumn.Active, {
      retainContextWhenHidden: true,
    });
    fill(this.#hold(key, panel));
    if (thing !== undefined) {
      const all = Object.entries({ ...this.#things(), [windowIdOf(key)]: thing });
      void this.#kept.update(keptKey, Object.fromEntries(all.slice(-mostKept)));
    }
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

  #things(): Record<string, unknown> {
    return this.#kept.get<Record<string, unknown>>(keptKey, {});
  }

  /** @param state what the page remembers; a page that was reloaded before it had its window remembers nothing */
  #restore(panel: vscode.WebviewPanel, state: unknown): void {
    const windowId = typeof state === 'object' && state !== null && 'windowId' in state ? state.windowId : '';
    const thing = typeof windowId === 'string' ? thingOf(this.#things()[windowId]) : undefined;
    const key = thing === undefined ? adding : keyOf(thing);
    if (this.#tabs.has(key) || (thing === undefined && windowId !== windowIdOf(adding))) {
      panel.dispose();
      return;
    }
    const page = this.#hold(key, panel);
    if (thing === undefined) {
      page.openAddServer();
      return;
    }
    page.open(thing);
    this.#restored.set(key, thing);
    this.#look();
  }

  /** Closes the restored tabs whose things are gone. The editor restores a tab only once it is shown. */
  #look(): void {
    if (!this.#known.ready || this.#restored.size === 0) {
      return;
    }
    for (const [key, thing] of this.#restored) {
      if (!exists(this.#known, thing)) {
        this.#tabs.get(key)?.panel.dispose();
      }
    }
    this.#restored.clear();
  }
}

/** The id of the window of a thing's page: the same after a reload, and with a name of any length below its bound. */
const windowIdOf = (key: string): string => `vscode-tab-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
