// The name by which the contract identifies the server that a caller means.
import type { McpServerName } from './mcphub.js';

/**
 * NAME@SOURCE identifies an entry of a source even if another entry holds the plain name. A broken entry has no such
 * address.
 */
export function address(server: McpServerName): string {
  if (typeof server === 'string') {
    return server;
  }
  if (!('configName' in server)) {
    return `${server.name}@${server.source}`;
  }
  return server.state === 'broken' ? server.name : `${server.configName}@${server.source}`;
}
