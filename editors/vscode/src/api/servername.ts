// How the contract names the server that an extension means.
import type { McpServerName } from '../../api.js';

/** An entry of a source has an address, which holds whichever entry has the name by itself. A broken one has none. */
export function address(server: McpServerName): string {
  if (typeof server === 'string') {
    return server;
  }
  if (!('configName' in server)) {
    return `${server.name}@${server.source}`;
  }
  return server.state === 'broken' ? server.name : `${server.configName}@${server.source}`;
}
