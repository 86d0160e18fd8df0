// The two native views beside the page: the servers and the history, as trees.
import * as vscode from 'vscode';
import type { Known } from '../hub/known.js';
import type { HubProcess } from '../hub/hubprocess.js';
import { HistoryTree } from './historytree.js';
import { ServerTree } from './servertree.js';

/** Shows the trees until the result is disposed. */
export function showTrees(known: Known, process: HubProcess): vscode.Disposable {
  const servers = new ServerTree(known, () => process.hub.servers);
  const history = new HistoryTree(known);
  const serverView = vscode.window.createTreeView('mcphub.servers', {
    treeDataProvider: servers,
    showCollapseAll: true,
  });
  const historyView = vscode.window.createTreeView('mcphub.history', { treeDataProvider: history });
  historyView.message = vscode.l10n.t('Nothing has ended yet.');
  let told = -1;
  const tell = (): void => {
    const { servers: all, history: ended } = known.state;
    historyView.message = ended.length === 0 ? vscode.l10n.t('Nothing has ended yet.') : '';
    if (known.ready && all.size !== told) {
      told = all.size; // each setContext is a message to the editor
      void vscode.commands.executeCommand('setContext', 'mcphub.servers', told);
    }
  };
  return vscode.Disposable.from(known.onDidChange(tell), serverView, historyView, servers, history);
}
