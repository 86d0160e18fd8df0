// gRPC's frames in an HTTP/2 stream, for the fake hub and the fake servers: one byte "compressed", four bytes with the
// length, and the message.

const prefixSize = 5;

export function frame(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(prefixSize);
  prefix.writeUInt32BE(message.byteLength, 1);
  return Buffer.concat([prefix, message]);
}

/** Takes chunks as they arrive and calls the listener with complete messages. */
export class Deframer {
  readonly #deliver: (message: Uint8Array) => void;
  #rest = Buffer.alloc(0);

  constructor(deliver: (message: Uint8Array) => void) {
    this.#deliver = deliver;
  }

  push(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.byteLength >= prefixSize) {
      const end = prefixSize + this.#rest.readUInt32BE(1);
      if (this.#rest.byteLength < end) {
        return;
      }
      const message = this.#rest.subarray(prefixSize, end);
      this.#rest = this.#rest.subarray(end);
      this.#deliver(message);
    }
  }
}
