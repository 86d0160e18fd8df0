// grpc-js assembles a message in one step after its last byte has come. For 32 MiB that blocks the event loop: 15 ms on
// an idle machine, 130 ms if other programs keep the memory busy. This file replaces the method of grpc-js's decoder
// that cuts a stream into messages: a long message is copied to its place chunk by chunk, and a message that lies in
// one chunk is not copied. The class is private to grpc-js. So the version of grpc-js is pinned, longframes.test.ts
// fails if the class has changed, and an unknown class is left as it is.

const prefixSize = 5; // one byte for "compressed" and four for the length

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

  /**
   * Returns the messages that chunk completes. Throws if a message is longer than allowed; push must not be called
   * after that.
   */
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
    if (size > this.#most) {
      throw new Error(`Received message larger than max (${size} vs ${this.#most})`); // the text of grpc-js
    }
    return size;
  }
}

/** The known part of grpc-js's decoder. */
interface Decoder {
  readonly maxReadMessageLength: unknown;
  /** 0 between two messages. */
  readonly readState: unknown;
  write: (this: Decoder, chunk: Buffer) => Buffer[];
}

type DecoderClass = new (maxReadMessageLength: number) => Decoder;

/** Marks a replaced `write`, also for another copy of this package in the same process. */
const mark = Symbol.for('mcphub.longframes');

/**
 * Makes this file cut grpc-js's streams into messages from now on. It does so only for streams whose limit of a message
 * is exactly `most`, to leave those of other programs alone. Returns false if this grpc-js has no known decoder;
 * grpc-js then cuts its streams itself.
 */
export async function cutStreamsHere(most: number): Promise<boolean> {
  try {
    return cutBy((await import('@grpc/grpc-js/build/src/stream-decoder.js')).StreamDecoder, most);
  } catch {
    return false; // there is no such file
  }
}

/** Does the same for the given class. */
export function cutBy(decoder: unknown, most: number): boolean {
  if (!isKnown(decoder, most)) {
    return false;
  }
  const prototype = decoder.prototype as Decoder;
  const { write: own } = prototype;
  if (mark in own) {
    return true;
  }
  const streams = new WeakMap<Decoder, Frames>();
  const write = function (this: Decoder, chunk: Buffer): Buffer[] {
    let frames = streams.get(this);
    if (frames === undefined) {
      if (this.maxReadMessageLength !== most || this.readState !== 0) {
        return own.call(this, chunk); // not a stream of this package, or begun before the method was replaced
      }
      frames = new Frames(most);
      streams.set(this, frames);
    }
    return frames.push(chunk);
  };
  prototype.write = Object.assign(write, { [mark]: true });
  return true;
}

// Checks the behaviour, too: bytes in, messages with their prefixes out.
function isKnown(decoder: unknown, most: number): decoder is DecoderClass {
  if (typeof decoder !== 'function') {
    return false;
  }
  try {
    const probe = new (decoder as DecoderClass)(most);
    const message = Buffer.from([0, 0, 0, 0, 1, 65]);
    const early: unknown[] = probe.write(message.subarray(0, 3));
    const amid = probe.readState;
    const late = probe.write(message.subarray(3));
    return (
      probe.maxReadMessageLength === most
      && early.length === 0
      && late.length === 1
      && late[0]?.equals(message) === true
      && ((amid !== 0 && probe.readState === 0) || mark in probe.write)
    );
  } catch {
    return false;
  }
}
