// An MCP server for scenarios with results that the demo server does not have: an image, audio, a file and a link. It
// implements only the methods that these scenarios use.
import { createInterface } from 'node:readline';
import { deflateSync, crc32 } from 'node:zlib';
import { readJson } from './readjson.mjs';

/** @param {string} type @param {Buffer} data */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, body, sum]);
}

/** A grey PNG. @param {number} width @param {number} height */
function picture(width, height) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8; // bits per pixel, greyscale
  const rows = Buffer.alloc((width + 1) * height, 0x80);
  for (let y = 0; y < height; y++) rows[y * (width + 1)] = 0;
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Silence as a WAV file. @param {number} seconds */
function sound(seconds) {
  const rate = 8000;
  const data = Buffer.alloc(rate * seconds, 0x80);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

const notes = 'first line\n"quoted" \u{1f600} \\ last line\n';
const content = [
  { type: 'image', data: picture(60, 40).toString('base64'), mimeType: 'image/png' },
  { type: 'audio', data: sound(2).toString('base64'), mimeType: 'audio/wav' },
  { type: 'resource', resource: { uri: 'memo://notes.txt', mimeType: 'text/plain', text: notes } },
  {
    type: 'resource',
    resource: { uri: 'memo://dot.png', mimeType: 'image/png', blob: picture(3, 2).toString('base64') },
  },
  { type: 'resource_link', uri: 'memo://notes.txt', name: 'The notes' },
];

/** @type {Record<string, object>} */
const answers = {
  'initialize': {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: 'media', version: '1' },
  },
  'ping': {},
  'tools/list': { tools: [{ name: 'show', title: 'Show media', inputSchema: { type: 'object' } }] },
  'tools/call': { content },
  'resources/list': { resources: [{ uri: 'memo://notes.txt', name: 'notes', mimeType: 'text/plain' }] },
  'resources/read': { contents: [{ uri: 'memo://notes.txt', mimeType: 'text/plain', text: notes }] },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = /** @type {{ id?: unknown, method?: string }} */ (readJson(line));
  if (id === undefined || method === undefined) return;
  const result = answers[method];
  const answer = result === undefined ? { error: { code: -32601, message: 'method not found' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
