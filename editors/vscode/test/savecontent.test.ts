import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CommandWorld } from '../src/commands/commandworld.js';
import { contentLink, decoded, saveContent, unescaped } from '../src/commands/savecontent.js';
import { newEditor, Uri } from './fakevscode.js';

async function* cut(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) {
    await Promise.resolve();
    yield text.slice(at, at + size);
  }
}

async function all(text: AsyncIterable<string>): Promise<string> {
  let whole = '';
  for await (const piece of text) {
    assert.equal(Buffer.from(piece).toString(), piece, 'a piece that cannot be written');
    whole += piece;
  }
  return whole;
}

test('a JSON string is read from pieces of any size: no escape and no character is cut', async () => {
  const text = 'a\\b"c\n\u00fc😀\u2028/ \\\\u00e9 \\n x';
  for (const inside of [
    JSON.stringify(text).slice(1, -1),
    Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  ]) {
    for (let size = 1; size < 20; size++) {
      assert.equal(await all(unescaped(cut(inside, size))), text, `${size}`);
    }
  }
  await assert.rejects(all(unescaped(cut('a"b', 2))), /result has changed/u);
  await assert.rejects(all(unescaped(cut('a\\', 2))), /result has changed/u);
});

test('base64 is read from pieces of any size, and what is none is refused', async () => {
  const bytes = Buffer.from(Array.from({ length: 100 }, (_, i) => i * 7));
  for (let size = 1; size < 12; size++) {
    const got: Uint8Array[] = [];
    for await (const piece of decoded(cut(bytes.toString('base64'), size))) {
      got.push(piece);
    }
    assert.deepEqual(Buffer.concat(got), bytes, `${size}`);
  }
  await assert.rejects(async () => {
    for await (const piece of decoded(cut('ab==cd"', 3))) {
      assert.ok(piece);
    }
  }, /not base64/u);
});

test('what a link passes is checked', () => {
  const good = ['r', 2, 9, 'blob', 'file:///a.zip', 'application/zip'];
  assert.equal(contentLink(good).base64, true);
  for (const bad of [
    [],
    ['r'],
    ['r', 2, 1, 'blob'],
    ['r', -1, 3, 'text'],
    ['r', 1.5, 3, 'text'],
    ['r', 1, 3, 'x'],
    [7, 1, 3, 'text'],
  ]) {
    assert.throws(() => contentLink(bad), /for the links of the page/u);
  }
});

test('one content is saved from where it stands in the result, whole or not at all', async (t) => {
  const editor = newEditor();
  const folder = await mkdtemp(join(tmpdir(), 'mcphub-content-'));
  t.after(() => rm(folder, { recursive: true }));
  const blob = Buffer.from('PK\u0003\u0004 not text \u00ff', 'latin1');
  const before = '{"content":[{"type":"resource","resource":{"blob":"';
  const spelled = blob.toString('base64').replaceAll('/', '\\/').replaceAll('=', '\\u003d');
  const text = `${before}${spelled}"}}]}`;
  const world = {
    process: {
      hub: {
        requests: {
          readRequest: ({ offset }: { offset: bigint }) => {
            const end = Number(offset) + 7;
            return Promise.resolve({
              text: text.slice(Number(offset), end),
              nextOffset: BigInt(end < text.length ? end : 0),
            });
          },
        },
      },
    },
  } as unknown as CommandWorld;
  editor.saveTo = Uri.file(join(folder, 'a.zip'));
  const link = (to: number) => contentLink(['r', before.length, to, 'blob', 'x:/a.zip', '']);
  await saveContent(world, link(before.length + spelled.length));
  assert.deepEqual(await readFile(join(folder, 'a.zip')), blob);
  await rm(join(folder, 'a.zip'));
  await assert.rejects(saveContent(world, link(text.length + 1)), /result has changed|not base64/u);
  assert.deepEqual(await readdir(folder), []);
});
