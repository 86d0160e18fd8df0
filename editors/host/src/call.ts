// One call on a channel. It ends only once, either by the hub's status or by this host.
import { Metadata } from '@grpc/grpc-js';
import type { ServiceError, StatusObject } from '@grpc/grpc-js';
import type { HubError } from './failure.js';
import { failureOfAbort, failureOfDecoding, failureOfStatus } from './failure.js';

export class Call {
  /** Whether nothing more can be sent on the call. */
  sealed = false;
  readonly #running: Set<Call>;
  readonly #signal: AbortSignal | undefined;
  readonly #ended: (error: HubError | undefined) => void;
  #carrier: { cancel(): void } | undefined;
  #over = false;

  /** The call is in `running` until it ends. */
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

  /** Sets the object that carries out the call; `cancel` cancels it. */
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

  /** Resets the HTTP/2 stream and ends the call at once, without waiting for the hub. */
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

/** Returns the error for a call that has failed with the status `end` of grpc-js. */
export function failureOfCall(end: Partial<StatusObject>, timeoutMs: number | undefined): HubError {
  if (end.code === undefined) {
    return failureOfDecoding(new Error('a frame that is compressed')); // grpc-js drops its own text for this error
  }
  const details = end.metadata?.get('grpc-status-details-bin')[0];
  return failureOfStatus(end.code, end.details ?? '', typeof details === 'string' ? undefined : details, timeoutMs);
}

/** Does the same for an error that grpc-js reports by the event 'error' of the stream. */
export function failureOfStream(error: unknown, timeoutMs: number | undefined): HubError {
  // The error of grpc-js for a broken frame has no status.
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
