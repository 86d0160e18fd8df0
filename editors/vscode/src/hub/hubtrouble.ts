// Tells the user, once for each problem, that the hub has died, cannot be started or does not answer.
import * as vscode from 'vscode';
import type { HubState } from '@mcphub/host/contract';
import { setting, type HubProcess } from './hubprocess.js';
import { inMessage } from '../plaintext.js';
import { actionLabel, failure, type TroubleAction } from './troubletext.js';

export function tellOfTrouble(process: HubProcess): vscode.Disposable {
  let told: HubState | undefined;
  const silence = process.onDidChangeResponsive((responsive) => {
    if (!responsive) {
      void tellOfSilence(process);
    }
  });
  const deaths = process.onDidChangeState(({ state, message, reason }) => {
    if (state === 'ready' || state === 'stopped' || (process.restartedByUser && state === 'restarting')) {
      told = undefined; // if a restart by the user fails as well, it is shown again
      return;
    }
    // Repeated deaths and restarts are one problem until the hub is ready. Giving up is another problem.
    if (state === told || state === 'starting') {
      return;
    }
    if (state === 'restarting') {
      told = state;
      void offer(
        vscode.l10n
          .t('McpHub ended unexpectedly and is restarting. Running calls are lost. {0}', inMessage(message, 200))
          .trim(),
        vscode.window.showWarningMessage,
        'Show Logs',
      );
    } else {
      told = state;
      const { text, actions } = failure(reason, message, setting('binaryPath', ''));
      void offer(text, vscode.window.showErrorMessage, ...actions);
    }
  });
  return vscode.Disposable.from(silence, deaths);
}

/**
 * Offers a restart. The hub may answer again before the user clicks; a restart would then end running work for no
 * reason.
 */
async function tellOfSilence(process: HubProcess): Promise<void> {
  const hub = process.hub;
  const choice = await choose(
    vscode.l10n.t('McpHub is not responding. Restarting it ends all that it runs.'),
    vscode.window.showWarningMessage,
    'Restart McpHub',
    'Show Logs',
  );
  if (choice === 'Restart McpHub' && (process.hub !== hub || hub.responsive)) {
    void vscode.window.showInformationMessage(vscode.l10n.t('McpHub is responding again. It was not restarted.'));
  } else {
    await act(choice);
  }
}

type Show = (message: string, ...items: string[]) => Thenable<string | undefined>;

async function offer(message: string, show: Show, ...items: TroubleAction[]): Promise<void> {
  await act(await choose(message, show, ...items));
}

async function choose(message: string, show: Show, ...items: TroubleAction[]): Promise<TroubleAction | undefined> {
  const label = await show(message, ...items.map(actionLabel));
  return items.find((item) => actionLabel(item) === label);
}

async function act(choice: TroubleAction | undefined): Promise<void> {
  if (choice === 'Restart McpHub') {
    await vscode.commands.executeCommand('mcphub.restartHub');
  } else if (choice === 'Show Logs') {
    await vscode.commands.executeCommand('mcphub.showLogs');
  } else if (choice === 'Open Settings') {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'mcphub.binaryPath');
  }
}
