// The texts that tell the user why the hub cannot be started, and what to do about it.
import * as vscode from 'vscode';
import { inMessage } from '../plaintext.js';

export type TroubleAction = 'Restart McpHub' | 'Open Settings' | 'Show Logs';

/** Returns the label of the button. */
export function actionLabel(action: TroubleAction): string {
  switch (action) {
    case 'Restart McpHub':
      return vscode.l10n.t('Restart McpHub');
    case 'Open Settings':
      return vscode.l10n.t('Open Settings');
    case 'Show Logs':
      return vscode.l10n.t('Show Logs');
  }
}

export interface Trouble {
  readonly text: string;
  readonly actions: readonly TroubleAction[];
}

/**
 * Returns text and actions for a failed start. `reason` is that of the HubError. `named` is the setting
 * mcphub.binaryPath; it is empty for the program of the extension.
 */
export function failure(reason: string, message: string, named: string): Trouble {
  const ofProgram = reason === 'BINARY_NOT_FOUND' || reason === 'BINARY_NOT_STARTED';
  if (ofProgram && named.trim() !== '') {
    const path = inMessage(named, 200);
    return {
      text:
        reason === 'BINARY_NOT_FOUND'
          ? vscode.l10n.t(
              'McpHub does not run. The setting mcphub.binaryPath names {0}, and there is no such file. Change or clear it, then restart McpHub.',
              path,
            )
          : vscode.l10n.t(
              'McpHub does not run. The setting mcphub.binaryPath names {0}, and it cannot be run: check that it may be executed and was built for this machine. Change or clear it, then restart McpHub.',
              path,
            ),
      actions: ['Open Settings', 'Restart McpHub', 'Show Logs'],
    };
  }
  if (ofProgram) {
    return {
      text:
        reason === 'BINARY_NOT_FOUND'
          ? vscode.l10n.t(
              'McpHub does not run. Its program is missing: install the extension for this platform again, or name a program in the setting mcphub.binaryPath.',
            )
          : vscode.l10n.t(
              'McpHub does not run. Its program cannot be run on this machine: install the extension for this platform again, or name a program in the setting mcphub.binaryPath.',
            ),
      actions: ['Open Settings', 'Show Logs'],
    };
  }
  return {
    text: vscode.l10n.t('McpHub does not run. {0}', inMessage(message, 300)).trim(),
    actions: ['Restart McpHub', 'Show Logs'],
  };
}
