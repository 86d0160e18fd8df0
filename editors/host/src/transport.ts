// gRPC with one hub, for the services of protobuf-es, by @grpc/grpc-js. docs/adr/0033-grpc-js.md explains the choice of
// this library and of its options. Only this file, call.ts, headers.ts and longframes.ts depend on it.
import { createSecureContext } from 'node:tls';
import { fromBinary } from '@bufbuild/protobuf';
import type { DescMessage, DescMethod, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { Client, connectivityState, credentials, status } from '@grpc/grpc-js';
import type { ChannelCredentials, ChannelOptions, ClientDuplexStream, Metadata } from '@grpc/grpc-js';
import { Call, failureOfCall, failureOfStream } from './call.js';
import { HubError, asHubError, failureOfAbort, failureOfConnection, failureOfDecoding } from './failure.js';
import { metadataOf } from './headers.js';
import { cutStreamsHere } from './longframes.js';
import { fromLongBinary, sliceSize } from './longtext.js';
import type { Identity } from './certificate.js';
import { encoded, pathOf } from './wire.js';

/** Where a hub listens, and how both sides authenticate. */
export interface Target {
  readonly network: 'unix' | 'tcp';
  /** Path of the socket, or host:port. */
  readonly address: string;
  /** undefined: no TLS. */
  readonly tls: { readonly serverCert: string; readonly client: Identity } | undefined;
}

/** Options of a call. */
export interface CallOptions {
  /** An abort resets the HTTP/2 stream; the hub then cancels the request with origin host. */
  readonly signal?: AbortSignal;
  /** The deadline, which is also sent to the hub. */
  readonly timeoutMs?: number;
  /** The metadata of the call, for example traceparent. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A method with the types of its input and output. */
export type Method<I extends DescMessage, O extends DescMessage> = DescMethod & {
  readonly input: I;
  readonly output: O;
};

/** Is called for everything that goes to a hub or comes from it. */
export interface Traffic {
  sent(): void;
  heard(): void;
}

/** The events of an open stream: messages, and then exactly one end, without an error for the status OK. */
export interface DuplexEvents<O> {
  readonly message: (message: O) => void;
  readonly end: (error: HubError | undefined) => void;
}

// The certificate of go-plugin's server is P-521, which the BoringSSL of Electron does not offer by default.
const signatureAlgorithms = [
  'ecdsa_secp256r1_sha256',
  'ecdsa_secp384r1_sha384',
  'ecdsa_secp521r1_sha512',
  'rsa_pss_rsae_sha256',
  'rsa_pss_rsae_sha384',
  'rsa_pss_rsae_sha512',
].join(':');

/** About the longest string that JavaScript can hold. */
const maxMessageSize = 512 * 1024 * 1024;
/** Whether this package assembles long messages as they come, instead of grpc-js. */
export const cutHere: Promise<boolean> = cutStreamsHere(maxMessageSize);
/** How many bytes may wait for a hub that does not read, before the stream is given up. */
const maxUnsent = 64 * 1024 * 1024;
/** gRPC cannot express a longer deadline. */
const maxDeadlineMs = 1e14;

// There is one hub at one address, so name service, proxies, and retries are off. There are no pings either: the socket
// closes when the hub dies, and an editor that wakes from sleep must not take a slow answer for a dead hub.
const channelOptions: ChannelOptions = {
  'grpc.default_authority': 'localhost',
  'grpc.enable_channelz': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_retries': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  'grpc.max_receive_message_length': maxMessageSize,
  'grpc.primary_user_agent': 'mcphub-host-node',
  'grpc.service_config_disable_resolution': 1,
  'grpc.ssl_target_name_override': 'localhost', // the name in go-plugin's certificate, for any address
  'grpc.use_local_subchannel_pool': 1,
  // With the default, a long result would wait for a window update every 64 KiB. This value also bounds what an unread
  // stream can hold.
  'grpc-node.flow_control_window': 1 << 20,
};

/**
 * The connection to one hub, which is made when it is needed: the next call replaces a connection that has broken or
 * was ended by GOAWAY. A call that the hub may have begun is never repeated.
 */
export class Channel {
  readonly #target: Target;
  readonly #broken: () => void;
  readonly #traffic: Traffic | undefined;
  readonly #running = new Set<Call>();
  #client: Client | undefined;
  #closed = false;

  /**
   * `broken` is called for each connection that ends without a request of this host, and for each that could not be
   * made.
   */
  constructor(target: Target, broken: () => void = () => {}, traffic?: Traffic) {
    this.#target = target;
    this.#broken = broken;
    this.#traffic = traffic;
  }

  /** Makes a unary call. */
  unary<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>,
    init: MessageInitShape<I>,
    options: CallOptions = {},
  ): Promise<MessageShape<O>> {
    return new Promise((resolve, reject) => {
      const request = encoded(method.input, init);
      const { client, metadata, deadline } = this.#prepared(options);
      let answer: Buffer | undefined;
      const call = new Call(this.#running, options, (error) => {
        if (error !== undefined || answer === undefined) {
          reject(
            error ?? new HubError('internal', 'PROTOCOL_ERROR', `The hub answered ${method.name} with no message.`),
          );
        } else {
          decoded(method.output, answer).then(resolve, (e: unknown) => reject(failureOfDecoding(e)));
        }
      });
      // Client.makeUnaryRequest is not used: it records the stack at each call for a possible error, which takes a
      // quarter of the call's processor time, and it ignores a second message.
      const carrier = client.getChannel().createCall(pathOf(method), deadline, null, null, null);
      call.carriedBy({ cancel: () => carrier.cancelWithStatus(status.CANCELLED, 'cancelled by the host') });
      carrier.start(metadata, {
        onReceiveMetadata: () => {},
        onReceiveMessage: (bytes: Buffer) => {
          this.#traffic?.heard();
          if (answer !== undefined) {
            call.cancel(
              new HubError('internal', 'PROTOCOL_ERROR', `The hub answered ${method.name} with more than one message.`),
            );
            return;
          }
          answer = bytes;
          carrier.startRead();
        },
        onReceiveStatus: (end) => call.end(end.code === status.OK ? undefined : failureOfCall(end, options.timeoutMs)),
      });
      carrier.startRead();
      carrier.sendMessageWithContext({}, request);
      carrier.halfClose();
      this.#traffic?.sent();
    });
  }

  /** Opens a bidirectional stream. Neither `message` nor `end` is called before this function has returned. */
  open<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>,
    options: CallOptions,
    on: DuplexEvents<MessageShape<O>>,
  ): Duplex<I> {
    const call = new Call(this.#running, options, on.end);
    let stream: ClientDuplexStream<Buffer, Buffer>;
    try {
      const { client, metadata, deadline } = this.#prepared(options);
      stream = client.makeBidiStreamRequest(pathOf(method), same, same, metadata, { deadline });
    } catch (error) {
      queueMicrotask(() => call.end(asHubError(error)));
      return new Duplex(method.input, call, undefined, undefined);
    }
    call.carriedBy(stream);
    let failure: HubError | undefined;
    stream.on('data', (bytes: Buffer) => {
      this.#traffic?.heard();
      if (call.over) {
        return;
      }
      let message: MessageShape<O>;
      try {
        message = fromBinary(method.output, bytes);
      } catch (error) {
        call.cancel(failureOfDecoding(error));
        return;
      }
      on.message(message);
    });
    stream.on('error', (error: unknown) => {
      // Messages that came before the error are delivered first, also to a paused reader.
      failure ??= failureOfStream(error, options.timeoutMs);
      call.sealed = true;
    });
    stream.on('end', () => call.end(failure));
    return new Duplex(method.input, call, stream, this.#traffic);
  }

  /** Ends the connection and everything on it. */
  close(): void {
    this.#closed = true;
    for (const call of [...this.#running]) {
      call.cancel(closed());
    }
    this.#client?.close();
    this.#client = undefined;
  }

  // Throws a HubError if the call cannot begin.
  #prepared(options: CallOptions): { client: Client; metadata: Metadata; deadline: number } {
    if (options.signal?.aborted === true) {
      throw failureOfAbort(options.signal);
    }
    if (Number.isNaN(options.timeoutMs)) {
      throw new HubError(
        'invalid_argument',
        '',
        'The deadline of the call is no number: give timeoutMs in milliseconds, or leave it out.',
      );
    }
    const { timeoutMs } = options;
    return {
      metadata: metadataOf(options.headers),
      deadline: timeoutMs === undefined ? Infinity : Date.now() + Math.min(Math.max(timeoutMs, 1), maxDeadlineMs),
      client: this.#dialled(),
    };
  }

  #dialled(): Client {
    if (this.#closed) {
      throw closed();
    }
    if (this.#client === undefined) {
      this.#client = dial(this.#target);
      this.#watch(this.#client, connectivityState.IDLE);
    }
    return this.#client;
  }

  #watch(client: Client, last: connectivityState): void {
    const channel = client.getChannel();
    channel.watchConnectivityState(last, Infinity, () => {
      if (this.#closed) {
        return;
      }
      const now = channel.getConnectivityState(false);
      this.#watch(client, now);
      if (last === connectivityState.READY || now === connectivityState.TRANSIENT_FAILURE) {
        this.#broken();
      }
    });
  }
}

/** The sending half of an open stream. */
export class Duplex<I extends DescMessage> {
  readonly #input: I;
  readonly #call: Call;
  readonly #stream: ClientDuplexStream<Buffer, Buffer> | undefined;
  readonly #traffic: Traffic | undefined;
  #unsent = 0;

  /** Without a stream, the call has failed already. */
  constructor(
    input: I,
    call: Call,
    stream: ClientDuplexStream<Buffer, Buffer> | undefined,
    traffic: Traffic | undefined,
  ) {
    this.#input = input;
    this.#call = call;
    this.#stream = stream;
    this.#traffic = traffic;
  }

  /**
   * Sends a message. Returns false if the stream is over or finished, or if more than maxUnsent bytes wait for the hub.
   * Throws a HubError for an invalid message.
   */
  send(init: MessageInitShape<I>): boolean {
    const message = encoded(this.#input, init);
    const stream = this.#stream;
    if (stream === undefined || this.#call.sealed) {
      return false;
    }
    if (this.#unsent > maxUnsent) {
      this.#call.cancel(new HubError('resource_exhausted', '', 'The hub does not read what this host sends.'));
      return false;
    }
    this.#unsent += message.byteLength;
    stream.write(message, () => {
      this.#unsent -= message.byteLength;
    });
    this.#traffic?.sent();
    return true;
  }

  /** Half-closes the stream: nothing more will be sent. */
  finish(): void {
    if (!this.#call.sealed) {
      this.#call.sealed = true;
      this.#stream?.end();
    }
  }

  /** Resets the stream. */
  cancel(error: HubError): void {
    this.#call.cancel(error);
  }

  /** Delivers no more messages until `resume`; flow control then slows the hub down. */
  pause(): void {
    this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }
}

function dial(target: Target): Client {
  try {
    const address = target.network === 'unix' ? `unix:${target.address}` : `dns:${target.address}`;
    return new Client(
      address,
      target.tls === undefined ? credentials.createInsecure() : mutualTls(target.tls),
      channelOptions,
    );
  } catch (error) {
    throw failureOfConnection(asHubError(error).message, error); // for example a record with invalid certificates
  }
}

function mutualTls(tls: NonNullable<Target['tls']>): ChannelCredentials {
  return credentials.createFromSecureContext(
    createSecureContext({
      minVersion: 'TLSv1.2',
      sigalgs: signatureAlgorithms,
      ca: tls.serverCert, // the only trusted root
      cert: tls.client.cert,
      key: tls.client.key,
    }),
  );
}

function closed(): HubError {
  return failureOfConnection('this host has closed it');
}

// grpc-js gets and returns bytes, so that a long answer can be decoded in slices.
function same(bytes: Buffer): Buffer {
  return bytes;
}

async function decoded<D extends DescMessage>(schema: D, bytes: Buffer): Promise<MessageShape<D>> {
  return bytes.byteLength > sliceSize ? fromLongBinary(schema, bytes) : fromBinary(schema, bytes);
}
