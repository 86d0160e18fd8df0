// Finds the servers that the editor would start itself, in addition to the hub.
import * as vscode from 'vscode';
import { ServerState } from '@mcphub/host/contract';
import type { Server } from '@mcphub/host/contract';
import { editorDiscovers, editorReads } from '../config/editorreads.js';

/**
 * Returns the servers of the files that the editor reads as well. A server that shares its name with another one that
 * has precedence is not offered to chat.
 */
export function startedTwice(servers: readonly Server[]): Server[] {
  return servers.filter(
    (server) =>
      (editorReads(server) || editorDiscovers(server))
      && server.state !== ServerState.DISABLED
      && server.name === server.configName,
  );
}

/** Returns the text of the message. `names` must be safe to show in a message. */
export function twiceText(editor: string, names: readonly string[]): string {
  const offered = vscode.l10n.t('Chat in {0} can now use your servers, as one server named McpHub.', editor);
  if (names.length === 0) {
    return offered;
  }
  const first = names.slice(0, 5).join(', ');
  const shown = names.length > 5 ? vscode.l10n.t('{0} and {1} more', first, names.length - 5) : first;
  return `${offered} ${vscode.l10n.t(
    'It also starts some of them itself, so they run twice: {0}. Stop or disable them in its list of MCP servers.',
    shown,
  )}`;
}
