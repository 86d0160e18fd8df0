// What the user is told when the hub cannot be started, and what there is to do about it.
import { inMessage } from '../plaintext.js';

export type TroubleAction = 'Restart McpHub' | 'Open Settings' | 'Show Logs';

export interface Trouble {
  readonly text: string;
  readonly actions: readonly TroubleAction[];
}

/**
 * `reason` is that of the HubError; `named` is the setting mcphub.binaryPath, empty for the program that comes with the
 * extension.
 */
export function failure(reason: string, message: string, named: string): Trouble {
  const ofProgram = reason === 'BINARY_NOT_FOUND' || reason === 'BINARY_NOT_STARTED';
  if (ofProgram && named.trim() !== '') {
    const what =
      reason === 'BINARY_NOT_FOUND'
        ? 'there is no such file'
        : 'it cannot be run: check that it may be executed and was built for this machine';
    const path = inMessage(named, 200);
    return {
      text: `McpHub does not run. The setting mcphub.binaryPath names ${path}, and ${what}. Change or clear it, then restart McpHub.`,
      actions: ['Open Settings', 'Restart McpHub', 'Show Logs'],
    };
  }
  if (ofProgram) {
    const what = reason === 'BINARY_NOT_FOUND' ? 'is missing' : 'cannot be run on this machine';
    const help = 'install the extension for this platform again, or name a program in the setting mcphub.binaryPath';
    return {
      text: `McpHub does not run. Its program ${what}: ${help}.`,
      actions: ['Open Settings', 'Show Logs'],
    };
  }
  return { text: `McpHub does not run. ${inMessage(message, 300)}`.trim(), actions: ['Restart McpHub', 'Show Logs'] };
}
