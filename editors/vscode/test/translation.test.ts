// Every text that users read is translated, in the code and in the manifest.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { question } from '../src/questions/question.js';
import { newEditor } from './fakevscode.js';

// The tests run in the extension's folder.
const readTexts = (name: string): Record<string, string> =>
  JSON.parse(readFileSync(name, 'utf8')) as Record<string, string>;
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src', name))
  // what the page and the extension both say
  .concat(['launchfacts.ts', 'serverwords.ts'].map((name) => join('../host/src', name)))
  .map((name) => ({ name, text: readFileSync(name, 'utf8') }));
const holes = (text: string): string =>
  [...text.matchAll(/\{\d+\}/gu)]
    .map(([hole]) => hole)
    .sort()
    .join();

test('each text of the code has its translation, with the same holes, and none is left over', () => {
  const german = readTexts('l10n/bundle.l10n.de.json');
  const said = new Set<string>();
  for (const { name, text } of sources) {
    const calls = text.match(/l10n\s*\.t\(/gu)?.length ?? 0;
    const literals = [...text.matchAll(/l10n\s*\.t\(\s*'((?:[^'\\]|\\.)*)'/gu)];
    assert.equal(literals.length, calls, `${name}: a text that is no literal cannot be found by translators`);
    literals.forEach(([, literal = '']) => said.add(literal.replaceAll("\\'", "'")));
  }
  assert.deepEqual([...said].sort(), Object.keys(german).sort());
  for (const [text, translated] of Object.entries(german)) {
    assert.equal(holes(translated), holes(text), text);
    assert.notEqual(translated, '', text);
  }
});

test('no message of the editor is a bare literal', () => {
  for (const { name, text } of sources) {
    const bare =
      /show(?:Information|Warning|Error)Message\(\s*[`'"][A-Za-z]|(?:title|placeHolder|prompt|tooltip): [`'"][A-Z]/u.exec(
        text,
      );
    assert.equal(bare?.[0], undefined, name);
  }
});

test('each text of the manifest is in both languages', () => {
  const used = [...readFileSync('package.json', 'utf8').matchAll(/"%([\w.]+)%"/gu)].map(([, key = '']) => key).sort();
  for (const name of ['package.nls.json', 'package.nls.de.json'])
    assert.deepEqual(Object.keys(readTexts(name)).sort(), used, name);
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
    contributes: { commands: { title: string }[]; configuration: { properties: Record<string, object> } };
  };
  for (const { title } of manifest.contributes.commands) assert.match(title, /^%.*%$/u);
  for (const [name, of] of Object.entries(manifest.contributes.configuration.properties))
    assert.match((of as { markdownDescription: string }).markdownDescription, /^%.*%$/u, name);
});

test('a question is asked in the language of the editor, and what a server says is no part of its words', () => {
  const editor = newEditor();
  for (const [text, translated] of Object.entries(readTexts('l10n/bundle.l10n.de.json')))
    editor.texts.set(text, translated);
  const value = { message: 'Which {1}?' };
  const asked = question({ server: 'b{0}', question: { case: 'elicitationForm', value } } as never);
  assert.equal(asked.title, 'b{0} fragt: Which {1}?');
});
