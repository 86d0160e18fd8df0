// Treats the side bar and the panel as one: whether a page is visible, and how to show one.
import * as vscode from 'vscode';
import type { Pages } from '../questions/notify.js';
import type { Panel } from './panel.js';
import type { Sidebar } from './sidebar.js';

export function allPages(sidebar: Sidebar, panel: Panel): Pages {
  return {
    get visible() {
      return sidebar.visible || panel.visible;
    },
    sees: (promptId) => sidebar.sees(promptId) || panel.sees(promptId),
    onDidChangeView: (listener, thisArgs, disposables) => {
      const both = vscode.Disposable.from(
        sidebar.onDidChangeView(listener, thisArgs),
        panel.onDidChangeView(listener, thisArgs),
      );
      disposables?.push(both);
      return both;
    },
    // If a page is open already, it is used, and no second one is opened.
    show: async (promptId) => {
      if (panel.visible && !sidebar.visible) {
        panel.open(promptId);
      } else {
        await sidebar.show(promptId);
      }
    },
  };
}
