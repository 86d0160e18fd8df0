// One call on a channel: it ends once, whoever ends it first, the hub by its status or this host.
import { Metadata } from '@grpc/grpc-js';
import type { ServiceError, StatusObject } from '@grpc/grpc-js';
import type { HubError } from './failure.js';
import { failureOfAbort, failureOfDecoding, failureOfStatus } from './failure.js';

export class Call {
  /** Nothing can be sent on it any more. */
  sealed = false;
  readonly #running: Set<Call>;
  readonly #signal: AbortSignal | undefined;
  readonly #ended: (error: HubError | undefined) => void;
  #carrier: { cancel(): void } | undefined;
  #over = false;

  /** It is in `running` until it ends. */
  constructor(
    running: Set<Call>,
    options: { readonly signal?: AbortSignal },
    ended: (error: HubError | undefined) => void,
  ) {
    this.#running = running;
    this.#ended = ended;
    this.#signal = options.signal;
    this.#signal?.addEventListener('abort', this.#aborted, { once: true });
    running.add(this);
  }

  get over(): boolean {
    return this.#over;
  }

  /** What carries it out. */
  carriedBy(carrier: { cancel(): void }): void {
    this.#carrier = carrier;
  }

  end(error: HubError | undefined): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.sealed = true;
    this.#running.delete(this);
    this.#signal?.removeEventListener('abort', this.#aborted);
    this.#ended(error);
  }

  /** Resets the HTTP/2 stream, and tells the end at once: nobody waits for the hub to notice. */
  cancel(error: HubError): void {
    if (!this.#over) {
      this.#carrier?.cancel();
      this.end(error);
    }
  }

  readonly #aborted = (): void => {
    if (this.#signal !== undefined) {
      this.cancel(failureOfAbort(this.#signal));
    }
  };
}

/** The end of a call that has failed, as grpc-js tells it. */
export function failureOfCall(end: Partial<StatusObject>, timeoutMs: number | undefined): HubError {
  if (end.code === undefined) {
    return failureOfDecoding(new Error('a frame that is compressed')); // grpc-js drops its own words for it
  }
  const details = end.metadata?.get('grpc-status-details-bin')[0];
  return failureOfStatus(end.code, end.details ?? '', typeof details === 'string' ? undefined : details, timeoutMs);
}

/** The same, where grpc-js tells it by an event 'error' of the stream. */
export function failureOfStream(error: unknown, timeoutMs: number | undefined): HubError {
  // What it says of a frame has no status.
  return isServiceError(error) ? failureOfCall(error, timeoutMs) : failureOfDecoding(error);
}

function isServiceError(error: unknown): error is ServiceError {
  return (
    error instanceof Error
    && 'code' in error
    && typeof error.code === 'number'
    && 'details' in error
    && typeof error.details === 'string'
    && 'metadata' in error
    && error.metadata instanceof Metadata
  );
}
