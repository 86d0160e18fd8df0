// Which servers the editor would start itself, beside the hub.
import { ServerState } from '@mcphub/host';
import type { Server } from '@mcphub/host';

/** Those of the files that the editor reads as well: its own, and .vscode/mcp.json of the folders. */
export function startedTwice(servers: readonly Server[]): Server[] {
  return servers.filter((server) => server.configDialect === 'vscode' && server.state !== ServerState.DISABLED);
}

/** `names` are fit for a message. */
export function twiceText(editor: string, names: readonly string[]): string {
  const offered = `${editor} may now use all servers of McpHub in chat, as one server named McpHub.`;
  if (names.length === 0) {
    return offered;
  }
  const shown = names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '');
  return (
    `${offered} It starts some of them itself as well, from its own mcp.json, so that they run twice: ${shown}. `
    + 'Stop or disable them in its list of MCP servers.'
  );
}
