import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Uri } from 'vscode';
import { completionValues, documentOf, documentText, promptText } from '../src/resources/content.js';
import { documentUri, fileNameOf, resourceOf } from '../src/resources/resourceuri.js';
import { newEditor, Uri as FakeUri } from './fakevscode.js';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test('a resource is a document: its text, its bytes, or all of it where there are several', () => {
  newEditor();
  const of = (contents: unknown) => documentOf(JSON.stringify({ contents }));
  assert.equal(text(of([{ uri: 'x:', text: '# a' }])), '# a');
  assert.deepEqual([...of([{ uri: 'x:', mimeType: 'text/plain', blob: '/wA=' }])], [255, 0]);
  assert.match(text(of([{ text: 'a' }, { text: 'b' }])), /"text": "b"/u);
  for (const odd of [[], undefined, 7, [null], [{ text: 7 }]]) {
    assert.match(text(of(odd)), /^\{/u);
  }
  assert.throws(() => documentOf(`{"contents":[{"text":"${'x'.repeat(9 << 20)}"}]}`), /too large for an editor/u);
});

test('a resource that is no text is not inserted as one', () => {
  newEditor();
  const of = (...contents: unknown[]) => documentText(JSON.stringify({ contents }));
  assert.equal(of({ text: 'ü 😀' }), 'ü 😀');
  assert.equal(of({ blob: Buffer.from('as bytes').toString('base64') }), 'as bytes');
  for (const blob of ['/wA=', Buffer.from('a\0b').toString('base64')]) {
    assert.throws(() => of({ blob }), /is not text/u);
  }
  assert.match(of({ text: 'a' }, { text: 'b' }), /"text": "b"/u);
});

test('a prompt is a text, with the role of each message where there are several', () => {
  newEditor();
  const of = (messages: unknown) => promptText(JSON.stringify({ messages }));
  const said = (role: string, content: unknown) => ({ role, content });
  assert.equal(of([said('user', { type: 'text', text: 'Review.' })]), 'Review.');
  assert.equal(
    of([said('user', { type: 'text', text: 'a' }), said('assistant', [{ type: 'text', text: 'b' }])]),
    'user:\n\na\n\nassistant:\n\nb',
  );
  assert.equal(of([said('user', { type: 'resource', resource: { uri: 'x:', text: 'inside' } })]), 'inside');
  assert.equal(of([said('user', { type: 'image', mimeType: 'image/png', data: 'AAAA' })]), '[image image/png]');
  assert.equal(of('no list'), '');
});

test('proposals that nobody could see, or that are huge, are left out', () => {
  newEditor();
  const of = (values: unknown) => completionValues(JSON.stringify({ completion: { values } }));
  assert.deepEqual(of(['a', '', 7, 'b\u202ec', 'd\ne', 'x'.repeat(1001), 'ü']), ['a', 'ü']);
  assert.equal(of(Array.from({ length: 5000 }, (_, i) => `v${i}`)).length, 100);
  assert.deepEqual(of(['x'.repeat(2 << 20)]), []);
  assert.deepEqual(completionValues('[]'), []);
});

test('the address of a document names its resource, whatever that is called', () => {
  newEditor();
  for (const uri of ['file:///a/b.md', 'javascript:alert(1)', 'db://x?y#z', 'ü:../../etc', 'x'.repeat(60_000)]) {
    const document = documentUri({ server: 'a/b "c"', uri });
    assert.equal(document.scheme, 'mcphub-resource');
    assert.doesNotMatch(document.path, /\.\.|[\\"<>]/u);
    assert.deepEqual(resourceOf(document), { server: 'a/b "c"', uri });
  }
  assert.equal(fileNameOf('file:///a/read%20me.md'), 'read me.md');
  assert.equal(fileNameOf('db://orders', 'application/json; charset=utf-8'), 'orders.json');
  assert.equal(fileNameOf('%E0%A4%A'), '_E0_A4_A');
  assert.equal(fileNameOf(''), 'resource');
  for (const query of ['', '7', '{}', '{"server":"a","uri":7}', 'no json']) {
    const document = FakeUri.from({ scheme: 'mcphub-resource', path: '/x', query }) as unknown as Uri;
    assert.throws(() => resourceOf(document), /FileNotFound|not found/iu);
  }
});
