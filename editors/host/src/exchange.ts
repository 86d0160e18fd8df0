// One gRPC call on an HTTP/2 stream, by the specification "gRPC over HTTP2": headers, frames, trailers, and exactly one end.
import http2 from 'node:http2';
import { Deframer, frame } from './framing.js';
import {
  HubError, failureOfAbort, failureOfConnection, failureOfDeadline, failureOfDecoding, failureOfHttp, failureOfReset, failureOfStatus,
} from './failure.js';

/** What comes of it: messages, and then exactly one end, with no error for the status OK. */
export interface ExchangeEvents {
  readonly message: (bytes: Uint8Array) => void;
  readonly end: (error: HubError | undefined) => void;
}

/** setTimeout counts with 31 bits; a longer deadline is left to the hub. */
const maxTimerMs = 2 ** 31 - 1;
/** What may wait for a hub that does not read, before its window is given up. */
const maxUnsent = 64 * 1024 * 1024;

export class Exchange {
  readonly #stream: http2.ClientHttp2Stream;
  readonly #session: http2.Http2Session | undefined; // the stream forgets it when it closes
  readonly #on: ExchangeEvents;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #failed: HubError | undefined; // of the host's own making; wins over what the hub says
  #status: { readonly error: HubError | undefined } | undefined; // what the hub has said
  #broke: unknown;
  #over = false;

  constructor(stream: http2.ClientHttp2Stream, options: { readonly signal?: AbortSignal; readonly timeoutMs?: number }, on: ExchangeEvents) {
    this.#stream = stream;
    this.#session = stream.session;
    this.#on = on;
    const deframer = new Deframer((message) => {
      if (!this.#over && this.#failed === undefined) {
        on.message(message);
      }
    });
    stream.once('response', (headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader, flags: number) => {
      this.#headers(headers, (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0);
    });
    stream.once('trailers', (headers: http2.IncomingHttpHeaders) => this.#trailers(headers));
    stream.on('data', (chunk: Buffer) => {
      try {
        deframer.push(chunk);
      } catch (error) {
        this.cancel(failureOfDecoding(error));
      }
    });
    stream.on('error', (error: unknown) => {
      this.#broke ??= error;
    });
    stream.once('end', () => {
      if (deframer.midway && this.#status?.error === undefined) {
        this.#failed ??= new HubError('internal', 'PROTOCOL_ERROR', 'The hub ended its answer in the middle of a message.');
      }
      if (this.#status !== undefined) {
        this.#finished(this.#status.error); // no need to wait for the stream to be torn down
      }
    });
    stream.once('close', () => this.#finished(this.#reasonOfClose()));
    if (options.timeoutMs !== undefined && options.timeoutMs <= maxTimerMs) {
      const { timeoutMs } = options;
      this.#timer = setTimeout(() => this.cancel(failureOfDeadline(timeoutMs)), timeoutMs);
    }
    this.#signal = options.signal;
    this.#signal?.addEventListener('abort', this.#aborted, { once: true });
  }

  /** False when it cannot be sent any more, or too much waits already. */
  send(message: Uint8Array): boolean {
    if (this.#over || this.#stream.writableEnded || this.#stream.destroyed) {
      return false;
    }
    if (this.#stream.writableLength > maxUnsent) {
      this.cancel(new HubError('resource_exhausted', '', 'The hub does not read what this host sends.'));
      return false;
    }
    this.#stream.write(frame(message));
    return true;
  }

  /** Half-close, after a last message if there is one. */
  finish(message?: Uint8Array): void {
    if (this.#over || this.#stream.writableEnded || this.#stream.destroyed) {
      return;
    }
    if (message === undefined) {
      this.#stream.end();
    } else {
      this.#stream.end(frame(message));
    }
  }

  /** Resets the stream, and tells the end at once: nobody waits for the hub to notice. */
  cancel(error: HubError): void {
    if (this.#over) {
      return;
    }
    this.#failed = error;
    this.#stream.close(http2.constants.NGHTTP2_CANCEL);
    this.#finished(error);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  readonly #aborted = (): void => {
    if (this.#signal !== undefined) {
      this.cancel(failureOfAbort(this.#signal));
    }
  };

  #headers(headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader, ended: boolean): void {
    const status = headers[':status'] ?? 0;
    const type = headers['content-type'] ?? '';
    if (headers['grpc-status'] !== undefined && ended) {
      this.#trailers(headers); // trailers only: an answer without a message
    } else if (status !== 200 || !/^application\/grpc(?:$|[+;])/.test(type)) {
      this.cancel(failureOfHttp(status));
    } else if (!['identity', undefined].includes(single(headers['grpc-encoding']))) {
      this.cancel(new HubError('internal', 'PROTOCOL_ERROR', `The hub compresses its answers (${single(headers['grpc-encoding'])}), which nobody asked for.`));
    }
  }

  #trailers(headers: http2.IncomingHttpHeaders): void {
    const status = single(headers['grpc-status']);
    if (status !== undefined) {
      this.#status = { error: failureOfStatus(status, single(headers['grpc-message']), single(headers['grpc-status-details-bin'])) };
    }
  }

  #reasonOfClose(): HubError | undefined {
    if (this.#status !== undefined) {
      return this.#status.error;
    }
    const code = this.#stream.rstCode;
    if (this.#session === undefined || this.#session.destroyed || this.#broke !== undefined && code === http2.constants.NGHTTP2_NO_ERROR) {
      return failureOfConnection(this.#causeOfBreak());
    }
    return failureOfReset(code);
  }

  // Node wraps what ended the connection into the error of each stream on it.
  #causeOfBreak(): unknown {
    return this.#broke instanceof Error && this.#broke.cause !== undefined ? this.#broke.cause : this.#broke;
  }

  #finished(error: HubError | undefined): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#aborted);
    if (!this.#stream.writableEnded && !this.#stream.closed) {
      this.#stream.close(http2.constants.NGHTTP2_CANCEL); // the hub has ended it, and nobody will half-close it any more
    }
    this.#on.end(this.#failed ?? error);
  }
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
