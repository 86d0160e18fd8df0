import assert from 'node:assert/strict';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { HubError, RequestPart } from '@mcphub/host/contract';
import type { CommandWorld } from '../src/commands/commandworld.js';
import { Documents } from '../src/commands/documents.js';
import { compareParts, copyPart, openPart, partLink, savePart, saveReport } from '../src/commands/requestparts.js';
import { newEditor, Uri, type Editor } from './fakevscode.js';

interface Asked {
  requestId: string;
  part: RequestPart;
  offset: bigint;
}

/** A fake hub that keeps one text. It returns the text in pieces of the given number of characters. */
async function worldWith(t: TestContext, editor: Editor, text: string, size: number) {
  const folder = await mkdtemp(join(tmpdir(), 'mcphub-parts-'));
  t.after(() => rm(folder, { recursive: true }));
  const asked: Asked[] = [];
  const world = {
    documents: new Documents(join(folder, 'texts')),
    process: {
      hub: {
        requests: {
          readRequest: async (one: Asked, { signal }: { signal: AbortSignal }) => {
            await new Promise((resume) => setImmediate(resume));
            signal.throwIfAborted();
            asked.push(one);
            if (one.requestId === 'gone') {
              throw new HubError('not_found', 'REQUEST_NOT_KEPT', 'it is not kept');
            }
            const end = Number(one.offset) + size;
            return { text: text.slice(Number(one.offset), end), nextOffset: BigInt(end < text.length ? end : 0) };
          },
          getTrace: () => Promise.resolve({ bundleJson: '{"version":"1"}' }),
        },
      },
    },
  } as unknown as CommandWorld;
  const opened: Uri[][] = [];
  editor.commands.set('vscode.open', (...args) => opened.push(args as Uri[]));
  editor.commands.set('vscode.diff', (...args) => opened.push(args as Uri[]));
  return { world, folder, asked, opened };
}

const result = (requestId: string): ReturnType<typeof partLink> =>
  partLink(requestId, 'REQUEST_PART_RESULT', 'files-read');

test('what a link passes is checked', () => {
  assert.deepEqual(partLink('r', 'REQUEST_PART_ARGUMENTS', 7), {
    requestId: 'r',
    part: RequestPart.ARGUMENTS,
    name: 'result',
  });
  for (const [id, part] of [
    [7, 'REQUEST_PART_RESULT'],
    ['r', 'toString'],
    ['r', undefined],
  ]) {
    assert.throws(() => partLink(id, part, ''), /for the links of the page/u);
  }
});

// The CPU time of the longest turn is only reported, because it says nothing on a busy machine. The test checks the
// number of turns: no turn may handle more than a piece.
test('a result of 64 MiB is opened piece by piece: other work has its turns in between', async (t) => {
  const editor = newEditor();
  const item = `{"name":"${'x'.repeat(80)}","n":1.0},`;
  const text = `[${item.repeat(Math.ceil((64 << 20) / item.length))}0]`;
  const { world, asked, opened } = await worldWith(t, editor, text, 1 << 20);
  let turns = 0;
  let worst = 0;
  let before = process.cpuUsage();
  let over = false;
  const turn = (): void => {
    const { user, system } = process.cpuUsage(before);
    worst = Math.max(worst, (user + system) / 1000);
    before = process.cpuUsage();
    turns++;
    if (!over) {
      setImmediate(turn);
    }
  };
  setImmediate(turn);
  await openPart(world, result('r'));
  over = true;
  t.diagnostic(`64 MiB in ${turns} turns; the longest took ${worst.toFixed(1)} ms of CPU time`);
  assert.equal(asked.length, Math.ceil(text.length / (1 << 20)));
  assert.ok(turns >= 8 * asked.length, `${turns} turns for ${asked.length} pieces`);
  const written = await readFile(opened[0]?.[0]?.fsPath ?? '', 'utf8');
  assert.equal(written.replaceAll(/\n */gu, '').replaceAll('": ', '":'), text);
  assert.equal(editor.notifications.size, 0);
});

test('a result is saved as it came, or not at all', async (t) => {
  const editor = newEditor();
  const { world, folder } = await worldWith(t, editor, '{"a":[1.0,"é"]}', 4);
  await savePart(world, result('r')); // the dialog is dismissed
  assert.deepEqual(await readdir(folder), []);
  editor.saveTo = Uri.file(join(folder, 'saved.json'));
  await savePart(world, result('r'));
  assert.equal(await readFile(join(folder, 'saved.json'), 'utf8'), '{"a":[1.0,"é"]}');
  await assert.rejects(savePart(world, result('gone')), /it is not kept/u);
  assert.equal(await readFile(join(folder, 'saved.json'), 'utf8'), '{"a":[1.0,"é"]}');
  assert.deepEqual(await readdir(folder), ['saved.json']);
  editor.saveTo = new Uri('remote', '/there.json');
  await savePart(world, result('r'));
  assert.equal(editor.written.get('remote:///there.json'), '{"a":[1.0,"é"]}');
  editor.saveTo = Uri.file(join(folder, 'report.json'));
  await saveReport(world, 'r');
  assert.equal(await readFile(join(folder, 'report.json'), 'utf8'), '{\n  "version": "1"\n}\n');
  await assert.rejects(saveReport(world, {}), /for the links of the page/u);
});

test('a result is copied as it came, and two are compared in the editor', async (t) => {
  const editor = newEditor();
  const { world, opened } = await worldWith(t, editor, '{"a":1.0}', 3);
  await copyPart(world, result('r'));
  assert.equal(editor.clipboard, '{"a":1.0}');
  await compareParts(world, result('r'), result('s'));
  const [before, now, title] = opened[0] ?? [];
  assert.match(before?.path ?? '', /files-read-before\.json$/u);
  assert.match(now?.path ?? '', /files-read\.json$/u);
  assert.match(String(title), /Previous Result/u);
});
