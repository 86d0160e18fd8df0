// The API of one caller: the owner of the hub, or another extension.
import { HubError, asHubError } from '../failure.js';
import { CancelOutcome } from '../gen/mcphub/v1/request_pb.js';
import type { Server } from '../gen/mcphub/v1/server_pb.js';
import type { Hub } from '../hub.js';
import type { McpHub, McpTimeouts } from './mcphub.js';
import type { Mirror } from './mirror.js';
import { models } from './models.js';
import { carryOut, resultOf, type RequestWorld } from './requests.js';
import { address } from './servername.js';
import * as shown from './shown.js';
import type { Subscriptions } from './subscriptions.js';
import { writes, type Writer } from './writes.js';

const outcomes: Readonly<Record<CancelOutcome, 'cancelling' | 'already_finished' | 'unknown'>> = {
  [CancelOutcome.UNSPECIFIED]: 'unknown',
  [CancelOutcome.CANCELLING]: 'cancelling',
  [CancelOutcome.ALREADY_FINISHED]: 'already_finished',
  [CancelOutcome.UNKNOWN]: 'unknown',
};

/** What all callers share. */
export interface World extends RequestWorld {
  /** Resolves when the mirror shows the config that the hub has read. */
  mirrored(): Promise<void>;
  readonly mirror: Mirror;
  readonly subscriptions: Subscriptions;
}

/** On whose behalf calls are made. */
export interface Caller extends Writer {
  /** The name that people see beside its calls; '' if it has none. */
  readonly name: string;
  /** Whether a call that says that its user was asked is not asked about again. */
  preapproved(): Promise<boolean>;
  /** Whether each of its calls says so. */
  readonly asksItself: boolean;
  /** The timeouts of its calls, where a call does not say its own. */
  readonly timeouts: McpTimeouts;
}

/** Returns the API for a caller. All that it rejects with and throws is a HubError. */
export function connection(world: World, caller: Caller): McpHub {
  const { mirror, subscriptions } = world;
  const ready = async (): Promise<Hub> => {
    await world.ready();
    return world.hub();
  };
  const common = <O extends { readonly timeouts?: McpTimeouts }>(options: O): O =>
    Object.keys(caller.timeouts).length === 0
      ? options
      : { ...options, timeouts: { ...caller.timeouts, ...options.timeouts } };
  const asked = async <T extends { server?: Server | undefined }>(answer: Promise<T>) => {
    const { server } = await answer;
    if (server === undefined) {
      throw new HubError('internal', 'PROTOCOL_ERROR', 'The hub has answered without the server.');
    }
    return shown.server(server);
  };
  const methods: Methods = {
    async ready() {
      await ready();
      await world.mirrored();
    },
    async callTool({ server, tool, arguments: given = {}, view, ...call }) {
      const preapproved = (call.preapproved ?? caller.asksItself) && (await caller.preapproved());
      const argumentsJson = typeof given === 'string' ? given : JSON.stringify(given);
      const { response, ...result } = await carryOut(world, common(call), (hub, request) =>
        hub.requests.callTool({
          ...request,
          ...(server === undefined ? { modelName: tool } : { server: address(server), tool }),
          argumentsJson,
          preapproved,
          caller: caller.name,
          ...(view && { view: { maxTokens: view.maxTokens ?? 0, images: view.images ?? false } }),
        }),
      );
      return { ...result, isError: response.isError, view: response.view && shown.view(response.view) };
    },
    cancel: async (requestId, reason = '') =>
      outcomes[(await (await ready()).requests.cancelRequest({ requestId, reason })).outcome],
    async cancelRequests(of, reason = '') {
      const scope =
        'label' in of
          ? ({ case: 'taskLabel', value: of.label } as const)
          : 'server' in of
            ? ({ case: 'server', value: address(of.server) } as const)
            : ({ case: 'all', value: of.all } as const);
      return (await (await ready()).requests.cancelRequests({ scope, reason })).requestIds;
    },
    tools: async (server = '', { cached = false } = {}) =>
      (await (await ready()).servers.listTools({ server: address(server), allowCached: cached })).tools.map(shown.tool),
    ...models(ready),
    resources: async (server) =>
      (await (await ready()).servers.listResources({ server: address(server) })).resources.map(shown.resource),
    resourceTemplates: async (server) =>
      (await (await ready()).servers.listResourceTemplates({ server: address(server) })).resourceTemplates.map(
        shown.template,
      ),
    async readResource({ server, uri, ...options }) {
      const { response: _, ...result } = await carryOut(world, common(options), (hub, request) =>
        hub.servers.readResource({ ...request, server: address(server), uri }),
      );
      return result;
    },
    async watchResource(server, uri) {
      await ready();
      return { dispose: await subscriptions.watch(address(server), uri) };
    },
    prompts: async (server) =>
      (await (await ready()).servers.listMcpPrompts({ server: address(server) })).prompts.map(shown.promptTemplate),
    async getPrompt({ server, name, arguments: values = {}, ...options }) {
      const { response: _, ...result } = await carryOut(world, common(options), (hub, request) =>
        hub.servers.getMcpPrompt({ ...request, server: address(server), name, arguments: { ...values } }),
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
    ...writes(ready, caller),
  };
  return Object.freeze(
    Object.defineProperties(
      { ...(guarded(methods) as Methods), ...mirror.events },
      {
        servers: { enumerable: true, get: () => mirror.servers },
        requests: { enumerable: true, get: () => mirror.requests },
        questions: { enumerable: true, get: () => mirror.questions },
        history: { enumerable: true, get: () => mirror.history },
        problems: { enumerable: true, get: () => mirror.problems },
      },
    ) as McpHub,
  );
}

type Methods = {
  readonly [M in keyof McpHub as McpHub[M] extends (...given: never[]) => Promise<unknown> ? M : never]: McpHub[M];
};

/** Returns the methods as they are, but for what they reject with: each failure becomes a HubError. */
function guarded(methods: object): object {
  return Object.fromEntries(
    Object.entries(methods as Readonly<Record<string, (...given: unknown[]) => Promise<unknown>>>).map(
      ([name, method]) => [
        name,
        async (...given: unknown[]): Promise<unknown> => {
          try {
            return await method(...given);
          } catch (error) {
            throw asHubError(error);
          }
        },
      ],
    ),
  );
}

/** Returns the values of a result of completion/complete, or none if it is not such a result. */
function proposals(resultJson: string | undefined): string[] {
  const result = JSON.parse(resultJson ?? 'null') as { completion?: { values?: unknown } } | null;
  const values = result?.completion?.values;
  return Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
}
