// Carries out one request of a caller.
import { randomUUID } from 'node:crypto';
import { HubError, asHubError, failureOfAbort, reasonOfAbort } from '../failure.js';
import type { McpError } from '../gen/mcphub/v1/request_pb.js';
import type { Hub } from '../hub.js';
import { timeouts } from './duration.js';
import type { McpProgress, McpRequestOptions, McpResult } from './mcphub.js';
import { progress, serverError } from './shownrequests.js';
import type { WatcherWindow } from './watcherwindow.js';

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
  readonly timeouts?: ReturnType<typeof timeouts>;
}

export interface RequestWorld {
  readonly hub: () => Hub;
  readonly watcher: WatcherWindow;
  /**
   * Resolves when neither a start of the hub nor a reading of the config is in progress. It may reject with the failure
   * of the hub.
   */
  readonly ready: () => Promise<void>;
}

/**
 * Carries out a request. An abort of its signal cancels it by CancelRequest, since the end of the gRPC call could not
 * carry a reason to the server. The promise then rejects when the request has ended in the hub.
 */
export async function carryOut<T extends Answered>(
  world: RequestWorld,
  options: McpRequestOptions & { readonly onProgress?: (progress: McpProgress) => void },
  send: (hub: Hub, common: Common) => Promise<T>,
): Promise<McpResult & { readonly response: T }> {
  const { signal, onProgress, label = '', requestId = randomUUID() } = options;
  const common = {
    requestId,
    taskLabel: label,
    ...(options.timeouts === undefined ? {} : { timeouts: timeouts(options.timeouts) }),
  };
  const wasAborted = (): boolean => signal?.aborted === true;
  await unlessAborted(world.ready(), signal);
  if (signal !== undefined && wasAborted()) {
    throw failureOfAbort(signal); // aborted just now
  }
  const hub = world.hub();
  const stop = onProgress === undefined ? () => undefined : progressOf(world.watcher, requestId, onProgress);
  const abort = (): void => {
    const reason = signal === undefined ? '' : reasonOfAbort(signal);
    void hub.requests.cancelRequest({ requestId, reason }).catch(() => undefined);
  };
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const response = await send(hub, common);
    const resultJson = resultOf(response) ?? 'null';
    return { requestId, resultJson, result: JSON.parse(resultJson) as unknown, response };
  } catch (error) {
    const failure = asHubError(error);
    // A caller that has aborted the request finds its own reason in the error.
    throw wasAborted() && failure.code === 'cancelled'
      ? new HubError('cancelled', failure.reason, failure.message, {
          metadata: failure.metadata,
          cause: signal?.reason,
        })
      : failure;
  } finally {
    signal?.removeEventListener('abort', abort);
    stop();
  }
}

/** Returns the result. Throws a HubError if the server has answered with an error. */
export function resultOf({ outcome }: Answered): string | undefined {
  if (outcome.case !== 'error') {
    return outcome.value;
  }
  const mcpError = serverError(outcome.value);
  throw new HubError('mcp_error', '', mcpError.message, { mcpError });
}

function progressOf(watcher: WatcherWindow, requestId: string, tell: (progress: McpProgress) => void): () => void {
  return watcher.listen({
    event: ({ event }) => {
      if (
        event.case === 'mcpRequestProgressed'
        && event.value.requestId === requestId
        && event.value.progress !== undefined
      ) {
        tell(progress(event.value.progress));
      }
    },
  });
}

/** Waits for the hub, which may take a minute to start, but no longer than until the signal is aborted. */
function unlessAborted(ready: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) {
    return ready;
  }
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(failureOfAbort(signal));
    if (signal.aborted) {
      aborted();
    }
    signal.addEventListener('abort', aborted, { once: true });
    void ready.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
