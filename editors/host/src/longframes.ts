// grpc-js puts a message together in one go once its last byte has come. With 32 MiB that holds up the event loop: for
// 15 ms on an idle machine, for 130 where other programs keep the memory busy. Its decoder is a class of its own, so
// another way to cut a stream into messages is put in its place: a long message is copied chunk by chunk into its
// place, and one that lies in one chunk not at all. The version of grpc-js is pinned; start.test.ts fails where this
// has no effect.
import { StreamDecoder } from '@grpc/grpc-js/build/src/stream-decoder.js';

const prefixSize = 5; // a byte that says "compressed", and four that say how long

/** Cuts one stream into messages, each with its prefix. */
class Frames {
  readonly #most: number;
  readonly #prefix = Buffer.alloc(prefixSize);
  #prefixFilled = 0;
  #frame: Buffer | undefined; // allocated once its prefix is known
  #frameFilled = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Throws for a message that is longer than any may be; nothing more may be pushed then. */
  push(chunk: Buffer): Buffer[] {
    const whole: Buffer[] = [];
    for (let at = 0; at < chunk.byteLength;) {
      if (this.#frame === undefined) {
        const fresh = this.#prefixFilled === 0;
        const n = Math.min(prefixSize - this.#prefixFilled, chunk.byteLength - at);
        chunk.copy(this.#prefix, this.#prefixFilled, at, at + n);
        this.#prefixFilled += n;
        at += n;
        if (this.#prefixFilled < prefixSize) {
          break;
        }
        const size = this.#size();
        this.#prefixFilled = 0;
        if (fresh && chunk.byteLength - at >= size) {
          whole.push(chunk.subarray(at - prefixSize, at + size));
          at += size;
          continue;
        }
        this.#frame = Buffer.allocUnsafeSlow(prefixSize + size);
        this.#frameFilled = this.#prefix.copy(this.#frame);
      }
      const n = Math.min(this.#frame.byteLength - this.#frameFilled, chunk.byteLength - at);
      chunk.copy(this.#frame, this.#frameFilled, at, at + n);
      this.#frameFilled += n;
      at += n;
      if (this.#frameFilled === this.#frame.byteLength) {
        whole.push(this.#frame);
        this.#frame = undefined;
      }
    }
    return whole;
  }

  #size(): number {
    const size = this.#prefix.readUInt32BE(1);
    if (this.#most !== -1 && size > this.#most) {
      throw new Error(`Received message larger than max (${size} vs ${this.#most})`); // the words of grpc-js
    }
    return size;
  }
}

const streams = new WeakMap<StreamDecoder, Frames>();

/** From now on every stream of grpc-js is cut into messages here. */
export function cutStreamsHere(): void {
  StreamDecoder.prototype.write = function (this: StreamDecoder, chunk: Buffer): Buffer[] {
    let frames = streams.get(this);
    if (frames === undefined) {
      frames = new Frames(Number(Reflect.get(this, 'maxReadMessageLength')));
      streams.set(this, frames);
    }
    return frames.push(chunk);
  };
}
