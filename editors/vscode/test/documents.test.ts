import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Uri } from 'vscode';
import { Documents } from '../src/commands/documents.js';
import { newEditor, Uri as FakeUri } from './fakevscode.js';

test('long texts do not pile up: the latest are kept, and the present one in any case', async () => {
  const editor = newEditor();
  const documents = new Documents();
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
