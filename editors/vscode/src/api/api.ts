// Creates the API for other extensions. ../../api.d.ts describes it.
import * as vscode from 'vscode';
import type { McpExtension, McpHubApi } from '../../api.js';
import { brief } from '../plaintext.js';
import { connection, type ConnectionWorld } from './connection.js';
import type { Extension } from './grants.js';

export function createApi(world: ConnectionWorld): McpHubApi {
  const nameless = connection(world, undefined);
  return Object.freeze<McpHubApi>({
    version: 2,
    connect: (extension) => connection(world, known(extension)),
    callTool: (call) => nameless.callTool(call),
    cancel: (requestId, reason) => nameless.cancel(requestId, reason),
    listServers: () => nameless.listServers(),
    listTools: (server) => nameless.listTools(server),
    onDidChangeServers: nameless.onDidChangeServers,
  });
}

/**
 * Returns the extension with this id. The check finds mistakes. It cannot stop an extension that uses another one's id,
 * since nothing isolates extensions from each other.
 */
function known({ id }: McpExtension): Extension {
  const found = vscode.extensions.getExtension(id);
  if (found === undefined) {
    throw new Error(`There is no extension ${JSON.stringify(id)}: connect takes context.extension.`);
  }
  const { displayName } = found.packageJSON as { displayName?: unknown };
  return {
    id: found.id,
    name: brief(typeof displayName === 'string' && displayName !== '' ? displayName : found.id, 80),
  };
}
