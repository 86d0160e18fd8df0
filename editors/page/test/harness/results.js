// Results of tools as servers send them, good and hostile ones.

import { crc32, deflateSync } from 'node:zlib';
import { finished, server } from './world.js';

/** @param {string} name @param {Buffer} data */
function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body) >>> 0, 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/**
 * Returns a PNG of one colour, as base64.
 * @param {number} width
 * @param {number} height in the header
 * @param {number} [rows] of pixels that it really has
 */
export function png(width, height, rows = height) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = Buffer.alloc(rows * (width + 1), 0x80);
  for (let row = 0; row < rows; row++) pixels[row * (width + 1)] = 0;
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]).toString('base64');
}

/** Returns a second of silence, as base64. */
export function wav() {
  const sound = Buffer.alloc(44 + 8000, 0x80);
  sound.write('RIFF', 0);
  sound.writeUInt32LE(36 + 8000, 4);
  sound.write('WAVEfmt ', 8);
  sound.writeUInt32LE(16, 16);
  sound.writeUInt16LE(1, 20);
  sound.writeUInt16LE(1, 22);
  sound.writeUInt32LE(8000, 24);
  sound.writeUInt32LE(8000, 28);
  sound.writeUInt16LE(1, 32);
  sound.writeUInt16LE(8, 34);
  sound.write('data', 36);
  sound.writeUInt32LE(8000, 40);
  return sound.toString('base64');
}

/**
 * Returns an ended request with a result.
 * @param {string} id
 * @param {unknown} result
 * @param {Record<string, unknown>} [rest]
 */
export function ended(id, result, rest = {}) {
  const resultJson = typeof result === 'string' ? result : JSON.stringify(result);
  return finished(id, { resultJson, resultSizeBytes: String(resultJson.length), ...rest });
}

/** @param {...ReturnType<typeof finished>} history */
export const withHistory = (...history) => ({ servers: [server('files')], history });

export const markdown = `# Report

Some *text* with **weight**, \`code\` and a [link](https://example.com/a "title").

- one
- two
  1. deep

> quoted

| file | lines |
| --- | ---: |
| a.go | 12 |
| b.go | 7 |

\`\`\`go
func main() {}
\`\`\`

---
`;

export const hostileMarkdown = `<script>window.pwned = 1</script>
<img src=x onerror="window.pwned=1">

[click](javascript:window.pwned=1) [data](data:text/html,<script>1</script>) [file](file:///etc/passwd) [cmd](command:mcphub.restartHub)
[relative](other.html) [good](https://example.com/) <https://auto.example/> https://bare.example/

![picture](https://tracker.example/pixel.png) ![inline](data:image/svg+xml;base64,PHN2Zy8+)

[ref]: javascript:window.pwned=1
[a][ref]

**bold\u202etxt.exe**
`;
