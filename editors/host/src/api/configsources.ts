// The config of an owned hub as the sources of the contract: files, and one text for the servers in memory.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { HubError } from '../failure.js';
import type { ConfigSourceSchema } from '../gen/mcphub/v1/server_pb.js';
import type { ConfigFileSetting, MemoryServer } from './hubsettings.js';
import type { McpServerTimeouts } from './mcphub.js';
import { duration } from './duration.js';

export type Source = Omit<MessageInitShape<typeof ConfigSourceSchema>, '$typeName' | '$unknown'>;

/**
 * Returns the sources in order of increasing precedence. `name` is how people see the place of servers in memory. The
 * list is never empty, which would mean: the sources of the last time.
 */
export function configSources(
  name: string,
  files: readonly (string | ConfigFileSetting)[],
  servers: readonly MemoryServer[],
): Source[] {
  const ofFiles = files.map((one): Source => {
    const { path, source = 'workspace', ...more } = typeof one === 'string' ? { path: one } : one;
    return { path, scope: source, ...more };
  });
  return servers.length === 0 && ofFiles.length > 0 ? ofFiles : [...ofFiles, inMemory(name, servers)];
}

/** In the dialect mcpServers, in which nothing is a variable. */
function inMemory(name: string, servers: readonly MemoryServer[]): Source {
  if (servers.some(({ name }: { readonly name: unknown }) => typeof name !== 'string' || name === '')) {
    throw new HubError('invalid_argument', 'INVALID_REQUEST', 'A server in memory has no name.');
  }
  const entries = Object.fromEntries(servers.map((server) => [server.name, entryOf(server)]));
  if (Object.keys(entries).length !== servers.length) {
    throw new HubError('invalid_argument', 'INVALID_REQUEST', 'Two servers in memory have the same name.');
  }
  return { path: name, json: JSON.stringify({ mcpServers: entries }), scope: 'host', dialect: 'mcpServers' };
}

function entryOf({ name: _, transport, enabled = true, timeouts, ...entry }: MemoryServer): object {
  return {
    ...entry,
    ...(transport && { type: transport === 'sse' ? 'sse' : 'http' }),
    ...(!enabled && { disabled: true }),
    ...(timeouts && { timeouts: timeoutsOf(timeouts) }),
  };
}

function timeoutsOf(timeouts: McpServerTimeouts): Record<string, string> {
  const { connectMs: connect, idleMs: idle, totalMs: total, humanMs: human } = timeouts;
  return Object.fromEntries(
    Object.entries({ connect, idle, total, human }).flatMap(([clock, ms]) => {
      if (ms === undefined) {
        return [];
      }
      duration(`${clock}Ms`, ms); // refuses what is no time
      return [[clock, `${ms}ms`]];
    }),
  );
}
