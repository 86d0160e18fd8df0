// Tells the user, once for each trouble, that the hub has died or cannot be started.
import * as vscode from 'vscode';
import type { HubState } from '@mcphub/host';
import type { HubProcess } from './hubprocess.js';
import { inMessage } from './plaintext.js';

export function tellOfTrouble(process: HubProcess): vscode.Disposable {
  let told: HubState | undefined;
  return process.onDidChangeState(({ state, message }) => {
    if (state === 'ready' || state === 'stopped') {
      told = undefined;
      return;
    }
    // Dying, waiting and dying again is one trouble until the hub is ready; giving up is another.
    if (state === told || state === 'starting') {
      return;
    }
    if (state === 'restarting' && !process.restartedByUser) {
      told = state;
      void offer(`McpHub has ended and is being started anew. Calls that ran are lost. ${inMessage(message, 200)}`.trim(), vscode.window.showWarningMessage, 'Show Logs');
    } else if (state === 'failed') {
      told = state;
      void offer(`McpHub does not run. ${inMessage(message, 300)}`.trim(), vscode.window.showErrorMessage, 'Restart McpHub', 'Show Logs');
    }
  });
}

type Show = (message: string, ...items: string[]) => Thenable<string | undefined>;

async function offer(message: string, show: Show, ...items: string[]): Promise<void> {
  const choice = await show(message, ...items);
  if (choice === 'Restart McpHub') {
    await vscode.commands.executeCommand('mcphub.restartHub');
  } else if (choice === 'Show Logs') {
    await vscode.commands.executeCommand('mcphub.showLogs');
  }
}
