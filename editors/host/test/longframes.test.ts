import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { StreamDecoder } from '@grpc/grpc-js/build/src/stream-decoder.js';
import { GetInfoResponseSchema, McpHubService } from '../dist/contract.js';
import { cutBy } from '../dist/longframes.js';
import { cutHere } from '../dist/transport.js';
import { frame } from './frames.js';
import { answer, serve } from './grpcserver.js';

const most = 512 * 1024 * 1024;
const require = createRequire(import.meta.url);

// If this fails, read the new class and its callers, correct src/longframes.ts, and then these two lines.
test("grpc-js's decoder is the one that longframes.ts was written for", () => {
  const { version } = require('@grpc/grpc-js/package.json') as { version: string };
  const source = readFileSync(require.resolve('@grpc/grpc-js/build/src/stream-decoder.js'));
  assert.equal(version, '1.14.7');
  assert.equal(
    createHash('sha256').update(source).digest('hex'),
    'b11c00ec37606d60d8d135a2259e3f6244309bfde775db9a76581d28433b1bf6',
  );
});

test('the messages of a call are cut here, and not by grpc-js', async (t) => {
  assert.equal(await cutHere, true);
  const answered = toBinary(GetInfoResponseSchema, create(GetInfoResponseSchema, { version: '1.2.3' }));
  const server = await serve((stream) => {
    answer(stream, answered);
  });
  t.after(() => server.close());
  const { prototype } = StreamDecoder;
  const states = new Set<unknown>();
  const { write } = prototype as { write: (this: StreamDecoder, chunk: Buffer) => Buffer[] };
  prototype.write = function (this: StreamDecoder, chunk: Buffer) {
    const messages = write.call(this, chunk);
    states.add(Reflect.get(this, 'readState')); // grpc-js's own would leave its traces
    states.add(Reflect.get(this, 'readMessageSize'));
    return messages;
  };
  t.after(() => {
    prototype.write = write;
  });
  const { version } = await server.channel.unary(McpHubService.method.getInfo, {});
  assert.equal(version, '1.2.3');
  assert.deepEqual([...states], [0]);
});

test('messages come out whole, however the bytes are cut', async () => {
  assert.equal(await cutHere, true);
  const messages = [0, 1, 5, 300, 70_000, 0].map((size, i) => frame(Buffer.alloc(size, i + 65)));
  const bytes = Buffer.concat(messages);
  for (const size of [1, 2, 3, 7, 64, 4096, bytes.byteLength]) {
    const decoder = new StreamDecoder(most);
    const got: Buffer[] = [];
    for (let at = 0; at < bytes.byteLength; at += size) {
      got.push(...decoder.write(bytes.subarray(at, at + size)));
    }
    assert.deepEqual(
      got.map((m) => m.toString('hex')),
      messages.map((m) => m.toString('hex')),
      `cut at ${size}`,
    );
  }
});

test('a message beyond the limit is refused before it is read, in the words of grpc-js', () => {
  const Decoder = freshDecoder();
  assert.equal(cutBy(Decoder, 100), true);
  const tooLong = Buffer.from([0, 0, 0, 0, 101]);
  assert.throws(() => new Decoder(100).write(tooLong), /^Error: Received message larger than max \(101 vs 100\)$/);
  assert.equal(cutBy(Decoder, 100), true, 'a second time');
});

test("other programs' streams, and one that was begun before, are left to grpc-js", () => {
  const Decoder = freshDecoder();
  const message = frame(Buffer.from('hello'));
  const begun = new Decoder(100);
  assert.deepEqual(begun.write(message.subarray(0, 7)), []);
  assert.equal(cutBy(Decoder, 100), true);
  assert.deepEqual(begun.write(message.subarray(7)), [message]);
  assert.deepEqual(begun.write(message), [message]);
  const other = new Decoder(-1);
  assert.deepEqual(other.write(message.subarray(0, 7)), []);
  assert.equal(Reflect.get(other, 'readState'), 2);
  assert.deepEqual(other.write(message.subarray(7)), [message]);
});

test('a decoder of another kind is left as it is', () => {
  const noState = class {
    readonly maxReadMessageLength = 100;
    write(): Buffer[] {
      return [];
    }
  };
  const noPrefix = class extends freshDecoder() {
    override write(chunk: Buffer): Buffer[] {
      return super.write(chunk).map((m) => m.subarray(5));
    }
  };
  const otherName = class extends freshDecoder() {
    constructor(longest: number) {
      super(longest);
      Reflect.deleteProperty(this, 'maxReadMessageLength');
    }
  };
  for (const decoder of [noState, noPrefix, otherName]) {
    const write: unknown = Reflect.get(decoder.prototype, 'write');
    assert.equal(cutBy(decoder, 100), false);
    assert.equal(Reflect.get(decoder.prototype, 'write'), write);
  }
  assert.equal(cutBy(undefined, 100), false);
  assert.equal(cutBy({}, 100), false);
});

// A new copy of grpc-js's class for each test, with its own `write`.
function freshDecoder(): typeof StreamDecoder {
  const path = require.resolve('@grpc/grpc-js/build/src/stream-decoder.js');
  const cached = require.cache[path];
  Reflect.deleteProperty(require.cache, path);
  try {
    return (require(path) as { StreamDecoder: typeof StreamDecoder }).StreamDecoder;
  } finally {
    require.cache[path] = cached;
  }
}
