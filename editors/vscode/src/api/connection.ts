// The methods of the API for one extension.
import { CancelOutcome } from '@mcphub/host';
import type { Hub, Server } from '@mcphub/host';
import type { McpHub } from '../../api.js';
import { changes } from './changes.js';
import type { Extension } from './grants.js';
import { carryOut, resultOf, type RequestWorld } from './requests.js';
import { address } from './servername.js';
import * as shown from './shown.js';
import { writes, type WritesWorld } from './writes.js';

const outcomes: Readonly<Record<CancelOutcome, 'cancelling' | 'already_finished' | 'unknown'>> = {
  [CancelOutcome.UNSPECIFIED]: 'unknown',
  [CancelOutcome.CANCELLING]: 'cancelling',
  [CancelOutcome.ALREADY_FINISHED]: 'already_finished',
  [CancelOutcome.UNKNOWN]: 'unknown',
};

export interface ConnectionWorld extends RequestWorld, WritesWorld {}

/** `extension` is undefined for a caller that has not said which extension it is. */
export function connection(world: ConnectionWorld, extension: Extension | undefined): McpHub {
  const ready = async (): Promise<Hub> => {
    await world.ready();
    return world.hub();
  };
  const asked = async <T extends { server?: Server | undefined }>(answer: Promise<T>) => {
    const { server } = await answer;
    if (server === undefined) {
      throw new Error('McpHub has answered without the server.');
    }
    return shown.server(server);
  };
  return Object.freeze<McpHub>({
    async callTool(call) {
      const preapproved =
        call.preapproved === true && extension !== undefined && (await world.grants.allows(extension, 'preapproved'));
      const argumentsJson = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {});
      const { response, ...result } = await carryOut(world, call, (hub, common) =>
        hub.requests.callTool({
          ...common,
          server: address(call.server),
          tool: call.tool,
          argumentsJson,
          preapproved,
          caller: extension?.name ?? '',
        }),
      );
      return { ...result, isError: response.isError };
    },
    cancel: async (requestId, reason = '') =>
      outcomes[(await (await ready()).requests.cancelRequest({ requestId, reason })).outcome],
    async cancelAll(of, reason = '') {
      const scope =
        'label' in of
          ? ({ case: 'taskLabel', value: of.label } as const)
          : ({ case: 'server', value: address(of.server) } as const);
      return (await (await ready()).requests.cancelRequests({ scope, reason })).requestIds;
    },
    listServers: async () => (await (await ready()).servers.listServers({})).servers.map(shown.server),
    listTools: async (server = '') =>
      (await (await ready()).servers.listTools({ server: address(server) })).tools.map(shown.tool),
    listResources: async (server) =>
      (await (await ready()).servers.listResources({ server: address(server) })).resources.map(shown.resource),
    listResourceTemplates: async (server) =>
      (await (await ready()).servers.listResourceTemplates({ server: address(server) })).resourceTemplates.map(
        shown.template,
      ),
    async readResource({ server, uri, ...options }) {
      const { response: _, ...result } = await carryOut(world, options, (hub, common) =>
        hub.servers.readResource({ ...common, server: address(server), uri }),
      );
      return result;
    },
    listPrompts: async (server) =>
      (await (await ready()).servers.listMcpPrompts({ server: address(server) })).prompts.map(shown.promptTemplate),
    async getPrompt({ server, name, arguments: values = {}, ...options }) {
      const { response: _, ...result } = await carryOut(world, options, (hub, common) =>
        hub.servers.getMcpPrompt({ ...common, server: address(server), name, arguments: { ...values } }),
      );
      return result;
    },
    async complete({ server, of, argument, value, known = {} }) {
      const reference =
        'prompt' in of
          ? ({ case: 'mcpPrompt', value: of.prompt } as const)
          : ({ case: 'uriTemplate', value: of.uriTemplate } as const);
      const answer = await (
        await ready()
      ).servers.complete({ server: address(server), reference, argument, value, context: { ...known } });
      return proposals(resultOf(answer));
    },
    startServer: async (server) => asked((await ready()).servers.startServer({ server: address(server) })),
    stopServer: async (server, reason = '') =>
      asked((await ready()).servers.stopServer({ server: address(server), reason })),
    restartServer: async (server, reason = '') =>
      asked((await ready()).servers.restartServer({ server: address(server), reason })),
    setServerEnabled: async (server, enabled) =>
      asked((await ready()).servers.setServerEnabled({ server: address(server), enabled })),
    signIn: async (server) => asked((await ready()).servers.signIn({ server: address(server) })),
    signOut: async (server) => asked((await ready()).servers.signOut({ server: address(server) })),
    async setLogLevel(server, level) {
      await (await ready()).servers.setLogLevel({ server: address(server), level });
    },
    ...writes(world, ready, extension),
    ...changes(world.watcher),
  });
}

/** Returns the values of a result of completion/complete, or none if it is not such a result. */
function proposals(resultJson: string | undefined): string[] {
  const result = JSON.parse(resultJson ?? 'null') as { completion?: { values?: unknown } } | null;
  const values = result?.completion?.values;
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}
