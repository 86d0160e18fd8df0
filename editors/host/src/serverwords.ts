// The words for the states of servers: the page, lenses and pick lists say the same. Like visible.ts it is part of the
// page, and imports only types.
import type { ServerStateJson } from './gen/mcphub/v1/server_pb.js';

/** Translates texts for people. The values take the place of {0}, {1} and so on. The API of VS Code has this shape. */
export interface Translator {
  t(text: string, ...values: readonly string[]): string;
}

/** Returns the word for a state. A state of a newer hub is unknown. */
export function serverStateWord(state: ServerStateJson | undefined, l10n: Translator): string {
  switch (state) {
    case 'SERVER_STATE_STOPPED':
      return l10n.t('Stopped');
    case 'SERVER_STATE_CONNECTING':
      return l10n.t('Starting');
    case 'SERVER_STATE_READY':
      return l10n.t('Ready');
    case 'SERVER_STATE_STOPPING':
      return l10n.t('Stopping');
    case 'SERVER_STATE_FAILED':
      return l10n.t('Failed');
    case 'SERVER_STATE_DISABLED':
      return l10n.t('Off');
    case 'SERVER_STATE_BROKEN':
      return l10n.t('Configuration error');
    case 'SERVER_STATE_GIVEN_UP':
      return l10n.t('Failed, given up');
    default:
      return l10n.t('Unknown');
  }
}
