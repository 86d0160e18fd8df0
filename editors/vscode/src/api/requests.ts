// One request of another extension, from its options to its end.
import { randomUUID } from 'node:crypto';
import { HubError } from '@mcphub/host';
import type { Hub, McpError } from '@mcphub/host';
import type { McpProgress, McpRequestOptions, McpResult, McpTimeouts } from '../../api.js';
import type { WatcherWindow } from '../hub/watcherwindow.js';

/** What a server has answered, as every response of the contract has it. */
interface Answered {
  readonly outcome:
    | { readonly case: 'resultJson'; readonly value: string }
    | { readonly case: 'error'; readonly value: McpError }
    | { readonly case: undefined; readonly value?: undefined };
}

/** What all requests have in common in the contract. */
export interface Common {
  readonly requestId: string;
  readonly taskLabel: string;
  readonly timeouts?: ReturnType<typeof clocks>;
}

export interface RequestWorld {
  readonly hub: () => Hub;
  readonly watcher: WatcherWindow;
  /** Resolves when no start of the hub and no reading of the config is under way. */
  readonly ready: () => Promise<void>;
}

/**
 * Carries a request out. Aborting its signal cancels it by CancelRequest and not by the end of the gRPC call, which
 * could carry no reason to the server; it rejects with the signal's reason then.
 */
export async function carryOut<T extends Answered>(
  world: RequestWorld,
  options: McpRequestOptions & { readonly onProgress?: (progress: McpProgress) => void },
  send: (hub: Hub, common: Common) => Promise<T>,
): Promise<McpResult & { readonly response: T }> {
  const { signal, onProgress, label = '', requestId = randomUUID() } = options;
  await unlessAborted(world.ready(), signal);
  const hub = world.hub();
  const stop = onProgress === undefined ? () => undefined : progressOf(world.watcher, requestId, onProgress);
  const abort = (): void => {
    const reason: unknown = signal?.reason;
    void hub.requests
      .cancelRequest({ requestId, reason: typeof reason === 'string' ? reason : '' })
      .catch(() => undefined);
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const response = await send(hub, {
      requestId,
      taskLabel: label,
      ...(options.timeouts === undefined ? {} : { timeouts: clocks(options.timeouts) }),
    });
    const resultJson = resultOf(response) ?? 'null';
    return { requestId, resultJson, result: JSON.parse(resultJson) as unknown, response };
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

/** Throws what the server has answered in place of a result. */
export function resultOf({ outcome }: Answered): string | undefined {
  if (outcome.case !== 'error') {
    return outcome.value;
  }
  const { code, message, dataJson } = outcome.value;
  throw Object.assign(new Error(message), {
    code: 'mcp_error',
    reason: '',
    mcpError: { code: Number(code), message, dataJson },
  });
}

function progressOf(watcher: WatcherWindow, requestId: string, tell: (progress: McpProgress) => void): () => void {
  return watcher.listen({
    event: ({ event }) => {
      if (
        event.case === 'mcpRequestProgressed'
        && event.value.requestId === requestId
        && event.value.progress !== undefined
      ) {
        const { progress, total, message } = event.value.progress;
        tell({ progress, message, ...(total === undefined ? {} : { total }) });
      }
    },
  });
}

export interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** Absent is what the config says, and 0 is no limit: what is no number from 0 on is refused here. */
function clocks(t: McpTimeouts): { idle?: Duration; total?: Duration; human?: Duration } {
  const clock = (name: string, ms: number | undefined): Duration | undefined =>
    ms === undefined ? undefined : duration(name, ms);
  const [idle, total, human] = [clock('idleMs', t.idleMs), clock('totalMs', t.totalMs), clock('humanMs', t.humanMs)];
  return { ...(idle && { idle }), ...(total && { total }), ...(human && { human }) };
}

/** A clock of the contract, of one in milliseconds. */
export function duration(name: string, ms: number): Duration {
  if (!(ms >= 0 && Number.isFinite(ms))) {
    throw new RangeError(`timeouts.${name} is ${ms}: it is a number of milliseconds, 0 for no limit`);
  }
  const whole = Math.floor(ms / 1000);
  return { seconds: BigInt(whole), nanos: Math.floor((ms - whole * 1000) * 1e6) };
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
