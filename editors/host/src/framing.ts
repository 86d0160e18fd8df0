// gRPC's frames inside an HTTP/2 stream: one byte that says "compressed", four that say how long, and the message.
import { HubError } from './failure.js';

const prefixSize = 5;

/** No string of JavaScript could hold more. */
export const maxMessageSize = 512 * 1024 * 1024;

/** A message in its frame, in one piece, so that it leaves in one write. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(prefixSize + message.byteLength);
  const size = message.byteLength;
  framed[0] = 0;
  framed[1] = size >>> 24; // by hand: writeUInt32BE checks its argument, which shows in the profile of a call
  framed[2] = size >>> 16;
  framed[3] = size >>> 8;
  framed[4] = size;
  framed.set(message, prefixSize);
  return framed;
}

/**
 * Takes chunks as they come and gives whole messages. A message that lies in one chunk is not copied; a larger one is copied once, chunk by
 * chunk into its place, so that no long message is put together in one go while everything else waits.
 */
export class Deframer {
  readonly #deliver: (message: Uint8Array) => void;
  readonly #prefix = Buffer.alloc(prefixSize);
  #prefixFilled = 0;
  #message: Buffer | undefined; // allocated once its prefix is known
  #messageFilled = 0;

  constructor(deliver: (message: Uint8Array) => void) {
    this.#deliver = deliver;
  }

  /** True while part of a message has come. */
  get midway(): boolean {
    return this.#prefixFilled > 0;
  }

  /** Throws a HubError when this is no stream of messages; nothing more may be pushed then. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.byteLength) {
      if (this.#message === undefined) {
        const n = Math.min(prefixSize - this.#prefixFilled, chunk.byteLength - at);
        chunk.copy(this.#prefix, this.#prefixFilled, at, at + n);
        this.#prefixFilled += n;
        at += n;
        if (this.#prefixFilled < prefixSize) {
          return;
        }
        const size = this.#size();
        if (chunk.byteLength - at >= size) {
          this.#prefixFilled = 0;
          this.#deliver(chunk.subarray(at, at + size));
          at += size;
          continue;
        }
        this.#message = Buffer.allocUnsafeSlow(size);
        this.#messageFilled = 0;
      }
      const n = Math.min(this.#message.byteLength - this.#messageFilled, chunk.byteLength - at);
      chunk.copy(this.#message, this.#messageFilled, at, at + n);
      this.#messageFilled += n;
      at += n;
      if (this.#messageFilled === this.#message.byteLength) {
        const message = this.#message;
        this.#message = undefined;
        this.#prefixFilled = 0;
        this.#deliver(message);
      }
    }
  }

  #size(): number {
    if (this.#prefix[0] !== 0) {
      // No grpc-accept-encoding was sent, so nothing but identity is right.
      throw new HubError('internal', 'PROTOCOL_ERROR', 'The hub sent a compressed message, which nobody asked for.');
    }
    const size = this.#prefix.readUInt32BE(1);
    if (size > maxMessageSize) {
      throw new HubError('resource_exhausted', 'RESULT_TOO_LARGE', `The hub sent a message of ${size} bytes; this host takes at most ${maxMessageSize}.`);
    }
    return size;
  }
}
