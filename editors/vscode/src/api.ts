// The API for other extensions, as ../api.d.ts describes it.
import { randomUUID } from 'node:crypto';
import { CancelOutcome, HubError, ServerState } from '@mcphub/host';
import type { Hub } from '@mcphub/host';
import type { McpHubApi, McpServer, McpToolCall, McpToolResult } from '../api.js';
import type { WatcherWindow } from './hub/watcherwindow.js';

const states: Readonly<Partial<Record<ServerState, McpServer['state']>>> = {
  [ServerState.STOPPED]: 'stopped',
  [ServerState.CONNECTING]: 'connecting',
  [ServerState.READY]: 'ready',
  [ServerState.STOPPING]: 'stopping',
  [ServerState.FAILED]: 'failed',
  [ServerState.DISABLED]: 'disabled',
  [ServerState.BROKEN]: 'broken',
  [ServerState.GIVEN_UP]: 'given_up',
};

const outcomes: Readonly<Record<CancelOutcome, 'cancelling' | 'already_finished' | 'unknown'>> = {
  [CancelOutcome.UNSPECIFIED]: 'unknown',
  [CancelOutcome.CANCELLING]: 'cancelling',
  [CancelOutcome.ALREADY_FINISHED]: 'already_finished',
  [CancelOutcome.UNKNOWN]: 'unknown',
};

/**
 * `ready` resolves when no start of the hub and no reading of the config is under way: who calls right after activation
 * would know no server yet.
 */
export function createApi(hub: () => Hub, ready: () => Promise<void>, watcher: WatcherWindow): McpHubApi {
  return Object.freeze<McpHubApi>({
    version: 1,
    async callTool(call) {
      await unlessAborted(ready(), call.signal);
      return run(hub(), watcher, call);
    },
    async cancel(requestId, reason = '') {
      await ready();
      return outcomes[(await hub().requests.cancelRequest({ requestId, reason })).outcome];
    },
    async listServers() {
      await ready();
      const { servers } = await hub().servers.listServers({});
      return servers.map(({ name, state, lastError, configFile }) => ({
        name,
        state: states[state] ?? 'stopped',
        lastError,
        configFile,
      }));
    },
    async listTools(server = '') {
      await ready();
      const { tools } = await hub().servers.listTools({ server });
      return tools.map((t) => ({
        server: t.server,
        name: t.name,
        title: t.title,
        description: t.description,
        definitionJson: t.definitionJson,
      }));
    },
    onDidChangeServers: (listener) => {
      const stop = watcher.listen({ changed: ({ servers }) => servers === true && listener() });
      return { dispose: stop };
    },
  });
}

/** A hub may take a minute to start, and its caller need not wait for that. */
async function unlessAborted(ready: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  let aborted = (): void => undefined;
  try {
    await Promise.race([
      ready,
      new Promise((resolve) => {
        aborted = () => resolve(undefined);
        signal?.addEventListener('abort', aborted, { once: true });
      }),
    ]);
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener('abort', aborted);
  }
}

async function run(hub: Hub, watcher: WatcherWindow, call: McpToolCall): Promise<McpToolResult> {
  const { server, tool, signal, onProgress, requestId = randomUUID() } = call;
  const argumentsJson = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {});
  const stop = watcher.listen({
    event: ({ event }) => {
      if (
        event.case === 'mcpRequestProgressed'
        && event.value.requestId === requestId
        && event.value.progress !== undefined
      ) {
        const { progress, total, message } = event.value.progress;
        onProgress?.({ progress, message, ...(total === undefined ? {} : { total }) });
      }
    },
  });
  // By CancelRequest and not by the end of the gRPC call, which could carry no reason to the server.
  const abort = (): void => {
    const reason: unknown = signal?.reason;
    void hub.requests
      .cancelRequest({ requestId, reason: typeof reason === 'string' ? reason : '' })
      .catch(() => undefined);
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const { outcome, isError } = await hub.requests.callTool({ requestId, server, tool, argumentsJson });
    if (outcome.case === 'error') {
      const { code, message, dataJson } = outcome.value;
      throw Object.assign(new Error(message), {
        code: 'mcp_error',
        reason: '',
        mcpError: { code: Number(code), message, dataJson },
      });
    }
    const resultJson = outcome.value ?? 'null';
    return { requestId, isError, resultJson, result: JSON.parse(resultJson) as unknown };
  } catch (error) {
    // Callers of an aborted call expect what AbortSignal says.
    if (signal?.aborted === true && error instanceof HubError && error.code === 'cancelled') {
      throw signal.reason;
    }
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
    stop();
  }
}
