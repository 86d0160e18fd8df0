// gRPC over node:http2, for the services of protobuf-es. Why no library does this is in docs/adr/0024-editor-host.md; nothing outside of this file and
// exchange.ts knows that HTTP/2 is beneath.
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { Exchange } from './exchange.js';
import { fromLongBinary, sliceSize } from './longtext.js';
import { HubError, asHubError, failureOfAbort, failureOfDecoding, failureOfRequest } from './failure.js';
import type { Identity } from './certificate.js';

/** Where a hub listens and how both sides prove who they are. */
export interface Target {
  readonly network: 'unix' | 'tcp';
  /** Path of the socket, or host:port. */
  readonly address: string;
  /** undefined: no TLS. */
  readonly tls: { readonly serverCert: string; readonly client: Identity } | undefined;
}

/** Options of a call. */
export interface CallOptions {
  /** Its abort resets the HTTP/2 stream: the hub cancels the request with origin host. */
  readonly signal?: AbortSignal;
  /** Deadline, told to the hub as well. */
  readonly timeoutMs?: number;
  /** Metadata of the call, traceparent say. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A method whose shapes are known. */
export type Method<I extends DescMessage, O extends DescMessage> = DescMethod & { readonly input: I; readonly output: O };

// go-plugin's server has a P-521 certificate, which the BoringSSL of Electron does not offer by itself.
const signatureAlgorithms = [
  'ecdsa_secp256r1_sha256', 'ecdsa_secp384r1_sha384', 'ecdsa_secp521r1_sha512', 'rsa_pss_rsae_sha256', 'rsa_pss_rsae_sha384', 'rsa_pss_rsae_sha512',
].join(':');

// A long result must not wait for an update of the window every 64 KiB. What a stream that nobody reads can hold is bounded by it, too.
const streamWindow = 1 << 20;
const connectionWindow = 16 << 20;

/**
 * One hub, dialled when needed: a connection that has broken or said goodbye (GOAWAY) is replaced by the next call. It never repeats a call.
 */
export class Channel {
  readonly #target: Target;
  readonly #broken: (why: unknown) => void;
  #session: http2.ClientHttp2Session | undefined;
  #closed = false;

  /** `broken` hears of each connection that ends without having been asked to. */
  constructor(target: Target, broken: (why: unknown) => void = () => {}) {
    this.#target = target;
    this.#broken = broken;
  }

  /** One message there, one message back. */
  unary<I extends DescMessage, O extends DescMessage>(method: Method<I, O>, init: MessageInitShape<I>, options: CallOptions = {}): Promise<MessageShape<O>> {
    return new Promise((resolve, reject) => {
      const request = encoded(method.input, init); // before there is a stream, which a message that is none would leave open
      let answer: MessageShape<O> | Promise<MessageShape<O>> | undefined;
      let surplus = false;
      const exchange = this.#exchange(method, options, {
        message: (bytes) => {
          surplus = answer !== undefined;
          if (bytes.byteLength > sliceSize) {
            const long = fromLongBinary(method.output, bytes).catch((error: unknown) => { throw failureOfDecoding(error); });
            long.catch(() => {}); // it may fail before the status comes, or when nobody wants it any more
            answer = long;
          } else {
            answer = fromBinary(method.output, bytes);
          }
        },
        end: (error) => {
          if (error !== undefined) {
            reject(error);
          } else if (answer === undefined || surplus) {
            reject(new HubError('internal', 'PROTOCOL_ERROR', `The hub answered ${method.name} with ${surplus ? 'more than one message' : 'no message'}.`));
          } else {
            resolve(answer);
          }
        },
      });
      exchange?.finish(request);
    });
  }

  /** Messages both ways, each decoded. Neither `message` nor `end` is called before this has returned. */
  open<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>, options: CallOptions, on: { message: (message: MessageShape<O>) => void; end: (error: HubError | undefined) => void },
  ): Duplex<I> {
    const exchange = this.#exchange(method, options, {
      message: (bytes) => on.message(fromBinary(method.output, bytes)),
      end: on.end,
    });
    return new Duplex(method.input, exchange);
  }

  /** Ends the connection and everything on it. */
  close(): void {
    this.#closed = true;
    this.#session?.destroy();
    this.#session = undefined;
  }

  // undefined: it has failed already, and `end` will say so.
  #exchange(method: DescMethod, options: CallOptions, on: { message: (bytes: Uint8Array) => void; end: (error: HubError | undefined) => void }): Exchange | undefined {
    let failure: HubError | undefined;
    if (options.signal?.aborted === true) {
      failure = failureOfAbort(options.signal);
    } else if (Number.isNaN(options.timeoutMs)) {
      failure = new HubError('invalid_argument', '', 'The deadline of the call is no number: give timeoutMs in milliseconds, or leave it out.');
    } else {
      try {
        checkHeaders(options.headers);
        const stream = this.#dialled().request({
          ...options.headers,
          ':method': 'POST',
          ':path': `/${method.parent.typeName}/${method.name}`,
          'content-type': 'application/grpc+proto',
          te: 'trailers',
          'user-agent': 'mcphub-host-node',
          ...(options.timeoutMs === undefined ? {} : { 'grpc-timeout': grpcTimeout(options.timeoutMs) }),
        }, { endStream: false });
        return new Exchange(stream, options, on);
      } catch (error) {
        failure = failureOfRequest(error);
      }
    }
    const early = failure;
    queueMicrotask(() => on.end(early));
    return undefined;
  }

  #dialled(): http2.ClientHttp2Session {
    const present = this.#session;
    if (this.#closed) {
      throw new Error('this host has closed it');
    }
    if (present !== undefined && !present.closed && !present.destroyed) {
      return present;
    }
    const session = http2.connect(this.#target.tls === undefined ? 'http://localhost' : 'https://localhost', {
      createConnection: () => dial(this.#target),
      settings: { enablePush: false, initialWindowSize: streamWindow },
      maxSessionMemory: Number.MAX_SAFE_INTEGER, // its default of 10 MB refuses new calls while long results come in
      peerMaxConcurrentStreams: 2 ** 31 - 1, // until the hub says how many it takes
    });
    this.#session = session;
    let why: unknown;
    session.once('connect', () => session.setLocalWindowSize(connectionWindow));
    session.on('error', (error: unknown) => {
      why ??= error; // every exchange on it hears of it by itself
    });
    session.once('goaway', () => {
      session.close(); // what runs ends in its own time; the next call dials anew
      if (this.#session === session) {
        this.#session = undefined;
      }
    });
    session.once('close', () => {
      if (this.#session === session) {
        this.#session = undefined;
      }
      if (!this.#closed) {
        this.#broken(why);
      }
    });
    return session;
  }
}

/** The sending half of an open exchange. */
export class Duplex<I extends DescMessage> {
  readonly #input: I;
  readonly #exchange: Exchange | undefined;

  constructor(input: I, exchange: Exchange | undefined) {
    this.#input = input;
    this.#exchange = exchange;
  }

  /** False when it is over or finished, or when more waits to be taken by the hub than any window has to say. Throws a HubError for what is no such message. */
  send(init: MessageInitShape<I>): boolean {
    return this.#exchange?.send(encoded(this.#input, init)) ?? false;
  }

  /** Half-close: nothing more will be sent. */
  finish(): void {
    this.#exchange?.finish();
  }

  /** Resets the stream. */
  cancel(error: HubError): void {
    this.#exchange?.cancel(error);
  }

  /** Takes no more messages until `resume`; the hub feels it. */
  pause(): void {
    this.#exchange?.pause();
  }

  resume(): void {
    this.#exchange?.resume();
  }
}

// node:http2 lets a line break pass, and ends the whole connection over a name that is none.
function checkHeaders(headers: CallOptions['headers']): void {
  for (const name in headers) {
    http.validateHeaderName(name);
    http.validateHeaderValue(name, headers[name] ?? '');
  }
}

function encoded<D extends DescMessage>(schema: D, init: MessageInitShape<D>): Uint8Array {
  try {
    return toBinary(schema, create(schema, init));
  } catch (error) {
    throw new HubError('invalid_argument', '', `This is no ${schema.name} (${asHubError(error).message}): nothing was sent.`, { cause: error });
  }
}

function dial(target: Target): net.Socket {
  const at = target.network === 'unix' ? { path: target.address } : hostAndPort(target.address);
  if (target.tls === undefined) {
    return net.connect(at);
  }
  return tls.connect({
    ...at,
    servername: 'localhost', // the name in go-plugin's certificate, whatever the address
    ALPNProtocols: ['h2'],
    minVersion: 'TLSv1.2',
    sigalgs: signatureAlgorithms,
    ca: target.tls.serverCert,
    cert: target.tls.client.cert,
    key: target.tls.client.key,
  });
}

function hostAndPort(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) };
}

// At most eight digits and a unit, by the specification of gRPC over HTTP/2.
function grpcTimeout(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms));
  return whole < 1e8 ? `${whole}m` : `${Math.min(Math.ceil(whole / 1000), 99_999_999)}S`;
}
