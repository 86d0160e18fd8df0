// The status bar item, and the context keys that menus use.
import * as vscode from 'vscode';
import type { HubProcess } from '../hub/hubprocess.js';
import { runningRequests } from '@mcphub/host/contract';
import type { WatcherWindow } from '@mcphub/host/contract';
import { statusWords } from './statustext.js';

export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem('mcphub.status', vscode.StatusBarAlignment.Left, 10);
  readonly #process: HubProcess;
  readonly #watcher: WatcherWindow;
  readonly #disposables: { dispose(): void }[];
  #told = { running: -1, prompts: -1 };

  constructor(process: HubProcess, watcher: WatcherWindow) {
    this.#process = process;
    this.#watcher = watcher;
    this.#item.name = 'McpHub';
    const stop = watcher.listen({ changed: () => this.#paint() });
    this.#disposables = [
      this.#item,
      { dispose: stop },
      process.onDidChangeState(() => this.#paint()),
      process.onDidChangeResponsive(() => this.#paint()),
    ];
    this.#paint();
    this.#item.show();
  }

  dispose(): void {
    vscode.Disposable.from(...this.#disposables).dispose();
  }

  #paint(): void {
    const { standing } = this.#watcher;
    const { state, message } = this.#process.standing;
    const running = runningRequests(standing).length;
    const prompts = standing.prompts.size;
    this.#item.command = prompts > 0 ? 'mcphub.showQuestion' : 'mcphub.focusView';
    const { responsive } = this.#process;
    const { text, tooltip, label, prominence } = statusWords({ hub: state, responsive, message, running, prompts });
    if (text !== this.#item.text || tooltip !== this.#item.tooltip) {
      this.#item.text = text;
      this.#item.tooltip = tooltip;
      this.#item.accessibilityInformation = { label };
      this.#item.backgroundColor =
        prominence === 'plain' ? undefined : new vscode.ThemeColor(`statusBarItem.${prominence}Background`);
    }
    // Each setContext is a message to the editor, so only changes are sent.
    if (running !== this.#told.running) {
      void vscode.commands.executeCommand('setContext', 'mcphub.runningRequests', running);
    }
    if (prompts !== this.#told.prompts) {
      void vscode.commands.executeCommand('setContext', 'mcphub.openPrompts', prompts);
    }
    this.#told = { running, prompts };
  }
}
