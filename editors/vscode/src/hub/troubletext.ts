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
              'McpHub is not running. The setting mcphub.binaryPath names {0}, which does not exist. Change or clear it, then restart McpHub.',
              path,
            )
          : vscode.l10n.t(
              'McpHub is not running. The setting mcphub.binaryPath names {0}, which cannot run. It must be executable and built for this machine.',
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
              'McpHub is not running. Its program is missing. Reinstall the extension for this platform, or set mcphub.binaryPath.',
            )
          : vscode.l10n.t(
              'McpHub is not running. Its program cannot run on this machine. Reinstall the extension for this platform, or set mcphub.binaryPath.',
            ),
      actions: ['Open Settings', 'Show Logs'],
    };
  }
  return {
    text: vscode.l10n.t('McpHub is not running. {0}', inMessage(message, 300)).trim(),
    actions: ['Restart McpHub', 'Show Logs'],
  };
}
