import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { animated } from './harness/apng.js';

/** @param {string} type @param {Buffer} data */
const chunk = (type, data) => {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
};

/** A picture with one grey value, one pixel high. @param {number} grey @param {number} width */
const dot = (grey, width = 1) =>
  Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.from([0, 0, 0, width, 0, 0, 0, 1, 8, 0, 0, 0, 0])),
    chunk('IDAT', deflateSync(Buffer.from([0, ...Array.from({ length: width }, () => grey)]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);

test('pictures become one that moves: counted, in order, each with its time', () => {
  const png = animated([
    { png: dot(0), ms: 900 },
    { png: dot(128), ms: 1200 },
    { png: dot(255), ms: 100 },
  ]);
  const types = [];
  const sequence = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    assert.equal(png.readUInt32BE(at + 8 + length), crc32(png.subarray(at + 4, at + 8 + length)), type);
    if (type === 'fcTL' || type === 'fdAT') sequence.push(png.readUInt32BE(at + 8));
    if (type === 'acTL') assert.deepEqual([png.readUInt32BE(at + 8), png.readUInt32BE(at + 12)], [3, 0]);
    types.push(type);
    at += 12 + length;
  }
  assert.deepEqual(types, ['IHDR', 'acTL', 'fcTL', 'IDAT', 'fcTL', 'fdAT', 'fcTL', 'fdAT', 'IEND']);
  assert.deepEqual(sequence, [0, 1, 2, 3, 4]);
  assert.throws(
    () =>
      animated([
        { png: dot(0), ms: 1 },
        { png: dot(0, 2), ms: 1 },
      ]),
    /picture 1 differs/,
  );
});
