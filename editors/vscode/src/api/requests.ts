// Carries out one request of another extension.
import { randomUUID } from 'node:crypto';
import { HubError } from '@mcphub/host';
import type { Hub, McpError } from '@mcphub/host';
import type { McpProgress, McpRequestOptions, McpResult, McpTimeouts } from '../../api.js';
import type { WatcherWindow } from '../hub/watcherwindow.js';

/** The server's answer, in the form that every response of the contract has. */
interface Answered {
  readonly outcome:
    | { readonly case: 'resultJson'; readonly value: string }
    | { readonly case: 'error'; readonly value: McpError }
    | { readonly case: undefined; readonly value?: undefined };
}

/** The fields that all requests of the contract have in common. */
export interface Common {
  readonly requestId: string;
  readonly taskLabel: string;
  readonly timeouts?: ReturnType<typeof clocks>;
}

export interface RequestWorld {
  readonly hub: () => Hub;
  readonly watcher: WatcherWindow;
  /** Resolves when neither a start of the hub nor a reading of the config is in progress. */
  readonly ready: () => Promise<void>;
}

/**
 * Carries out a request. An abort of its signal cancels it by CancelRequest, since the end of the gRPC call could not
 * carry a reason to the server. The promise then rejects with the reason of the signal.
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
    // Callers that abort a call expect the signal's reason.
    if (signal?.aborted === true && error instanceof HubError && error.code === 'cancelled') {
      throw signal.reason;
    }
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
    stop();
  }
}

/** Returns the result. Throws if the server has answered with an error. */
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

/**
 * Converts timeouts. An absent one means the value of the config, and 0 means no limit. Throws a RangeError for
 * anything but a number from 0 up.
 */
function clocks(t: McpTimeouts): { idle?: Duration; total?: Duration; human?: Duration } {
  const clock = (name: string, ms: number | undefined): Duration | undefined =>
    ms === undefined ? undefined : duration(name, ms);
  const [idle, total, human] = [clock('idleMs', t.idleMs), clock('totalMs', t.totalMs), clock('humanMs', t.humanMs)];
  return { ...(idle && { idle }), ...(total && { total }), ...(human && { human }) };
}

/** Returns a duration of the contract for a number of milliseconds. */
export function duration(name: string, ms: number): Duration {
  if (!(ms >= 0 && Number.isFinite(ms))) {
    throw new RangeError(`timeouts.${name} is ${ms}: it is a number of milliseconds, 0 for no limit`);
  }
  const whole = Math.floor(ms / 1000);
  return { seconds: BigInt(whole), nanos: Math.floor((ms - whole * 1000) * 1e6) };
}

/** Waits for the hub, which may take a minute to start, but no longer than until the signal is aborted. */
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
