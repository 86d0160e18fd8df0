// grpc-js puts a message together in one go once its last byte has come. With 32 MiB that holds up the event loop: for
// 15 ms on an idle machine, for 130 where other programs keep the memory busy. Its decoder is a class of its own, so
// another way to cut a stream into messages is put in its place: a long message is copied chunk by chunk into its
// place, and one that lies in one chunk not at all. The class is private to grpc-js: its version is pinned,
// longframes.test.ts fails where the class has changed, and a class that is not the known one is left as it is.

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
    if (size > this.#most) {
      throw new Error(`Received message larger than max (${size} vs ${this.#most})`); // the words of grpc-js
    }
    return size;
  }
}

/** What is known of grpc-js's decoder. */
interface Decoder {
  readonly maxReadMessageLength: unknown;
  /** 0 between two messages. */
  readonly readState: unknown;
  write: (this: Decoder, chunk: Buffer) => Buffer[];
}

type DecoderClass = new (maxReadMessageLength: number) => Decoder;

/** Says of a `write` that it is one of these, also to another copy of this package. */
const mark = Symbol.for('mcphub.longframes');

/**
 * From now on grpc-js's streams are cut into messages here: those whose longest message is `most`, and so no other
 * program's. False when this grpc-js has no decoder that is known here; it then cuts them itself.
 */
export async function cutStreamsHere(most: number): Promise<boolean> {
  try {
    return cutBy((await import('@grpc/grpc-js/build/src/stream-decoder.js')).StreamDecoder, most);
  } catch {
    return false; // there is no such file
  }
}

/** The same for the class that is given. */
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
        return own.call(this, chunk); // not ours, or begun before this was in place
      }
      frames = new Frames(most);
      streams.set(this, frames);
    }
    return frames.push(chunk);
  };
  prototype.write = Object.assign(write, { [mark]: true });
  return true;
}

// By what it does, too: bytes in, messages with their prefixes out.
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
