import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StreamDecoder } from '@grpc/grpc-js/build/src/stream-decoder.js';
import { cutStreamsHere } from '../dist/longframes.js';
import { frame } from './frames.js';

cutStreamsHere();

test('messages come out whole, however the bytes are cut', () => {
  const messages = [0, 1, 5, 300, 70_000, 0].map((size, i) => frame(Buffer.alloc(size, i + 65)));
  const bytes = Buffer.concat(messages);
  for (const size of [1, 2, 3, 7, 64, 4096, bytes.byteLength]) {
    const decoder = new StreamDecoder(-1);
    const got: Buffer[] = [];
    for (let at = 0; at < bytes.byteLength; at += size) {
      got.push(...decoder.write(bytes.subarray(at, at + size)));
    }
    assert.deepEqual(
      got.map((m) => m.equals(messages[got.indexOf(m)] ?? Buffer.alloc(0))),
      messages.map(() => true),
      `cut at ${size}`,
    );
  }
});

test('a message beyond the limit is refused before it is read, in the words of grpc-js', () => {
  const tooLong = Buffer.from([0, 0, 0, 0, 101]);
  assert.throws(
    () => new StreamDecoder(100).write(tooLong),
    /^Error: Received message larger than max \(101 vs 100\)$/,
  );
  assert.deepEqual(new StreamDecoder(101).write(tooLong), []);
});
