// Side bar and panel as one: whether a page can be seen, and how to bring one up.
import * as vscode from 'vscode';
import type { Pages } from '../questions/notify.js';
import type { Panel } from './panel.js';
import type { Sidebar } from './sidebar.js';

export function allPages(sidebar: Sidebar, panel: Panel): Pages {
  return {
    get visible() {
      return sidebar.visible || panel.visible;
    },
    onDidChangeVisibility: (listener, thisArgs, disposables) => {
      const both = vscode.Disposable.from(
        sidebar.onDidChangeVisibility(listener, thisArgs),
        panel.onDidChangeVisibility(listener, thisArgs),
      );
      disposables?.push(both);
      return both;
    },
    show: () => sidebar.show(),
  };
}
