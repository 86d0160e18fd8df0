// Creates the API for other extensions, which ../../api.d.ts describes: that of @mcphub/host, with the permissions that
// the user has given to each extension.
import * as vscode from 'vscode';
import { connection, HubError } from '@mcphub/host/contract';
import type { World } from '@mcphub/host/contract';
import type { McpExtension, McpHubApi } from '../../api.js';
import { brief } from '../plaintext.js';
import type { Extension, Grants } from './grants.js';

export interface ApiWorld extends World {
  readonly grants: Grants;
}

export function createApi(world: ApiWorld): McpHubApi {
  return Object.freeze<McpHubApi>({
    version: 3,
    connect(extension) {
      const known = knownExtension(extension);
      return connection(world, {
        name: known.name,
        asksItself: false,
        timeouts: {},
        preapproved: () => world.grants.allows(known, 'preapproved'),
        async writtenBy(permissions) {
          for (const permission of permissions) {
            if (!(await world.grants.allows(known, permission))) {
              throw new HubError(
                'permission_denied',
                'NOT_GRANTED',
                `The user has not allowed ${known.id} to do this (${permission}).`,
              );
            }
          }
          return `${known.id} (${brief(known.name, 40)})`; // has the id, since extensions choose their names
        },
      });
    },
  });
}

/**
 * Returns the extension with this id. The check finds mistakes. It cannot stop an extension that uses another one's id,
 * since nothing isolates extensions from each other.
 */
function knownExtension({ id }: McpExtension): Extension {
  const found = vscode.extensions.getExtension(id);
  if (found === undefined) {
    throw new HubError(
      'not_found',
      'NO_SUCH_EXTENSION',
      `There is no extension ${JSON.stringify(id)}: connect takes context.extension.`,
    );
  }
  const { displayName } = found.packageJSON as { displayName?: unknown };
  return {
    id: found.id,
    name: brief(typeof displayName === 'string' && displayName !== '' ? displayName : found.id, 80),
  };
}
