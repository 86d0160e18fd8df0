import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Uri } from 'vscode';
import { Documents } from '../src/commands/documents.js';
import { Indenter } from '../../page/src/words/indenter.js';
import { newEditor, Uri as FakeUri } from './fakevscode.js';

test('long texts do not pile up: the latest are kept, and the present one in any case', async () => {
  const editor = newEditor();
  const documents = new Documents('/nowhere');
  const kept = (): number[] =>
    editor.documents
      .map(
        (path) =>
          documents.provideTextDocumentContent(FakeUri.from({ scheme: 'mcphub', path }) as unknown as Uri).length,
      )
      .filter((n) => n > 1000);
  for (let i = 0; i < 10; i++) {
    await documents.show('result', 'x'.repeat(16 << 20));
  }
  assert.ok(kept().length >= 1 && kept().length <= 4, `${kept().length} texts of 16 MiB are kept`);
  await documents.show('result', 'y'.repeat(200 << 20));
  assert.deepEqual(kept(), [200 << 20]);
  documents.dispose();
});

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mcphub-texts-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function* given(...pieces: string[]): AsyncGenerator<string> {
  for (const piece of pieces) {
    await Promise.resolve();
    yield piece;
  }
}

test('a text is indented as JSON.stringify would, wherever its pieces end', () => {
  const values = [{}, [], [[]], { 'a': [1, { b: 'x{}[],:"\\' }], '': null, 'e"': [[], {}] }, 'text', -1.5];
  for (const value of values) {
    for (const json of [JSON.stringify(value), JSON.stringify(value, undefined, 7)]) {
      for (let cut = 0; cut <= json.length; cut++) {
        const indenter = new Indenter();
        const got = indenter.add(json.slice(0, cut)) + indenter.add(json.slice(cut));
        assert.equal(got, JSON.stringify(value, undefined, 2), `${json} in two at ${cut}`);
      }
    }
  }
});

test('numbers keep their spelling, what is no JSON loses nothing, and depth costs no more than it has', () => {
  assert.equal(new Indenter().add('[1.0,1e400]'), '[\n  1.0,\n  1e400\n]');
  assert.equal(new Indenter().add('}]"a b').replaceAll(/\s/gu, ''), '}]"ab');
  const deep = new Indenter().add('['.repeat(1_000_000));
  assert.ok(deep.length < 40 << 20, `${deep.length} characters`);
});

test('a long text becomes a private file, which the editor reads itself; a short one does not', async (t) => {
  const editor = newEditor();
  const folder = await folderFor(t);
  const documents = new Documents(join(folder, 'texts'));
  const opened: { scheme: string; path: string }[] = [];
  editor.commands.set('vscode.open', (uri) => opened.push(uri as { scheme: string; path: string }));
  await documents.open('a', given('{"a":', '1}'));
  assert.equal(opened[0]?.scheme, 'mcphub');
  assert.equal(documents.provideTextDocumentContent(opened[0] as unknown as Uri), '{\n  "a": 1\n}\n');
  assert.deepEqual(await readdir(folder), []);
  const long = ['["', '😀'.repeat(700_000), '"]'];
  await documents.open('../../x <y>', given(...long));
  assert.equal(opened[1]?.scheme, 'file');
  assert.match(opened[1].path, /\/texts\/[\w-]+\/\.\._\.\._x_y_\.json$/u);
  assert.ok(opened[1].path.startsWith(`${folder}/texts/`));
  assert.equal(await readFile(opened[1].path, 'utf8'), `[\n  ${long.join('').slice(1, -1)}\n]`);
  if (process.platform !== 'win32') {
    assert.equal((await stat(opened[1].path)).mode & 0o777, 0o600);
    assert.equal((await stat(join(folder, 'texts'))).mode & 0o777, 0o700);
  }
});

test('files of an earlier day go, the oldest of too many, and what was not read to its end', async (t) => {
  newEditor();
  const folder = await folderFor(t);
  const documents = new Documents(folder);
  const long = 'x'.repeat(2 << 20);
  for (let i = 0; i < 12; i++) {
    await documents.put(`t${i}`, given(long));
  }
  const kept = await readdir(folder);
  assert.equal(kept.length, 10);
  for (const name of kept) {
    await utimes(join(folder, name), new Date(0), new Date(0));
  }
  await assert.rejects(
    documents.put(
      'broken',
      (async function* () {
        yield* given(long);
        throw new Error('the hub has died');
      })(),
    ),
    /the hub has died/u,
  );
  const left = await readdir(folder);
  assert.equal(left.length, 1);
  assert.deepEqual(await readdir(join(folder, left[0] ?? '')), []);
});
