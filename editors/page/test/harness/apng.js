// Makes an animated PNG (PNG, third edition, 11.3.6) from pictures of the same size. Every browser can show it.

import { crc32 } from 'node:zlib';

const signature = 8;

/** @param {Buffer} png @returns {{ type: string, data: Buffer }[]} */
function chunksOf(png) {
  const chunks = [];
  for (let at = signature; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return chunks;
}

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
}

/** @param {...number} values of four bytes each */
const words = (...values) => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value, 4 * index));
  return bytes;
};

/**
 * Returns an animated PNG. Throws if there are no frames, or if they differ in size or colour type.
 * @param {{ png: Buffer, ms: number }[]} frames of the same size and colour type; ms: how long each is shown
 * @returns {Buffer}
 */
export function animated(frames) {
  const [first] = frames;
  if (!first) throw new Error('no pictures');
  const header = chunksOf(first.png).find(({ type }) => type === 'IHDR')?.data;
  if (!header) throw new Error('no PNG');
  const size = [header.readUInt32BE(0), header.readUInt32BE(4)];
  let sequence = 0;
  const parts = frames.flatMap(({ png, ms }, index) => {
    const chunks = chunksOf(png);
    if (!chunks.find(({ type }) => type === 'IHDR')?.data.equals(header)) throw new Error(`picture ${index} differs`);
    const delay = Buffer.alloc(6); // numerator and denominator of seconds; then zeros for no disposal, no blending
    delay.writeUInt16BE(ms, 0);
    delay.writeUInt16BE(1000, 2);
    const control = chunk('fcTL', Buffer.concat([words(sequence++, ...size, 0, 0), delay]));
    const data = chunks
      .filter(({ type }) => type === 'IDAT')
      .map(({ data: bytes }) =>
        index === 0 ? chunk('IDAT', bytes) : chunk('fdAT', Buffer.concat([words(sequence++), bytes])),
      );
    return [control, ...data];
  });
  return Buffer.concat([
    first.png.subarray(0, signature),
    chunk('IHDR', header),
    chunk('acTL', words(frames.length, 0)),
    ...parts,
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
