import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visible as nativeVisible } from '../../host/src/visible.js';
import {
  bytes,
  causeWord,
  clockTime,
  duration,
  durationOf,
  longClass,
  originWord,
  pretty,
  shortName,
  startOf,
  stateWord,
  visible,
} from '../src/words/text.js';
import { serverStateWord } from '../src/words/serverstate.js';

test('what cannot be seen, or turns the direction of writing, is shown as its code', () => {
  for (const [text, shown] of [
    ['pay\u202eexe.txt', 'pay⟨U+202E⟩exe.txt'],
    ['\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
    ['\u061c', '⟨U+061C⟩'],
    ['a\u200bb\u200cc\u200dd\ufeff', 'a⟨U+200B⟩b⟨U+200C⟩c⟨U+200D⟩d⟨U+FEFF⟩'],
    ['so\u00adft', 'so⟨U+00AD⟩ft'],
    ['\u0000\u0007\u001b[31m\u007f\u0085', '⟨U+0000⟩⟨U+0007⟩⟨U+001B⟩[31m⟨U+007F⟩⟨U+0085⟩'],
    ['\u{e0041}', '⟨U+E0041⟩'],
    ['\u3164\u115f\u2800', '⟨U+3164⟩⟨U+115F⟩⟨U+2800⟩'],
    ['\ud800x', '⟨U+D800⟩x'],
    ['a\rb', 'a⟨U+000D⟩b'],
    ['a\u2028b', 'a⟨U+2028⟩b'],
    ['a\ufe0f', 'a⟨U+FE0F⟩'],
  ])
    assert.equal(visible(text), shown);
});

test('the page spells out what the dialogs of the extension spell out, with the same function', () => {
  assert.equal(visible, nativeVisible);
});

test('what people write stays as it is', () => {
  for (const text of ['', 'plain', 'tab\tand\nline', 'שלום עולם', 'مرحبا', '日本語\u3000', 'é\u0301', '👩🏽‍💻 👩‍❤️‍👩 ❤️ 🏳️‍🌈'])
    assert.equal(visible(text), text);
  assert.equal(visible('a\r\nb'), 'a\nb');
  assert.equal(visible(undefined), '');
});

test('lines that a browser could not lay out in time are broken, and no others', () => {
  const joined = (/** @type {string} */ text) => text.replaceAll('\n', '');
  const longest = (/** @type {string} */ text) => Math.max(...text.split('\n').map((line) => line.length));
  for (const letters of ['\u0644', '\u0e01\u0e33', '\u07ca', 'a\u0644', 'x\u0301', '\u{1e900}', 'مرحبا بالعالم ']) {
    const shown = visible(letters.repeat(50_000));
    assert.ok(longest(shown) <= 1024, `${letters}: ${longest(shown)}`);
    assert.equal(joined(shown), letters.repeat(50_000), 'nothing is lost');
  }
  assert.match(visible('مرحبا بالعالم '.repeat(50)), / \n/u, 'between words, if there are any');
  for (const text of ['x'.repeat(50_000), 'слово '.repeat(9_000), '漢字'.repeat(9_000), 'مرحبا\n'.repeat(9_000)])
    assert.equal(visible(text), text);
  const lines = visible(`\u0644${'👩🏽‍💻'.repeat(400)}`).split('\n');
  assert.ok(
    lines.length > 1 && lines.every((line) => /^\u0644?$/u.test(line.replaceAll('👩🏽‍💻', ''))),
    'no emoji is parted',
  );
});

test('a letter has as many marks as a text needs', () => {
  assert.equal(visible(`z${'\u0301'.repeat(50_000)}`), `z${'\u0301'.repeat(30)}⟨+49970⟩`);
  assert.equal(visible(`z${'\u0301'.repeat(30)}`), `z${'\u0301'.repeat(30)}`);
});

test('an emoji carries nothing hidden', () => {
  assert.equal(visible('❤\ufe0f\ufe0f'), '❤\ufe0f⟨U+FE0F⟩');
  assert.equal(visible('❤\u200dx'), '❤⟨U+200D⟩x');
  assert.equal(visible('❤\u200d\u200d❤'), '❤⟨U+200D⟩⟨U+200D⟩❤');
});

test('JSON is indented without being read', () => {
  assert.equal(
    pretty('{"b":1.0,"a":12345678901234567890,"10":1e3,"1":[ ]}'),
    '{\n  "b": 1.0,\n  "a": 12345678901234567890,\n  "10": 1e3,\n  "1": []\n}',
  );
  assert.equal(pretty('{"a":1,"a":2}'), '{\n  "a": 1,\n  "a": 2\n}', 'a key that comes twice is shown twice');
  assert.equal(pretty('["a{,}:\\"[",{}]'), '[\n  "a{,}:\\"[",\n  {}\n]');
  assert.equal(pretty(pretty('{"a":[1,{"b":"c"}]}')), pretty('{"a":[1,{"b":"c"}]}'));
});

test('text that is no JSON loses no character', () => {
  for (const text of ['{"a":', 'not json', ']]}', '"open', '{"a" 1 tru\\e'])
    assert.equal(pretty(text).replace(/\s/g, ''), text.replace(/\s/g, ''));
  assert.equal(pretty(undefined), '');
  assert.ok(pretty('['.repeat(5000)).length < 1_000_000, 'deep nesting does not grow with its square');
});

test('times and sizes', () => {
  assert.deepEqual([0, 40, 449, 949, 1200, 59_400, 60_000, 65_000, 3_600_000, 7_380_000].map(duration), [
    '0 s',
    '0 s',
    '0.4 s',
    '0.9 s',
    '1 s',
    '59 s',
    '1 min',
    '1 min 5 s',
    '1 h',
    '2 h 3 min',
  ]);
  assert.equal(durationOf('3.5s'), '4 s');
  assert.equal(durationOf(undefined), '');
  assert.deepEqual([0, 1, 999, 1000, 9960, '33554432', 999_600, 5e15].map(bytes), [
    '0 bytes',
    '1 byte',
    '999 bytes',
    '1 kB',
    '10 kB',
    '34 MB',
    '1 MB',
    '5000 TB',
  ]);
  assert.match(clockTime('2026-03-31T18:30:05Z'), /30.05/);
  assert.equal(clockTime(undefined), '');
});

test('every enum of the stream has a word', async () => {
  const { readFile } = await import('node:fs/promises');
  const folder = new URL('../../host/src/gen/mcphub/v1/', import.meta.url);
  /**
   * @typedef {import('../../host/src/gen/mcphub/v1/request_pb.js').OriginJson} Origin
   * @typedef {import('../../host/src/gen/mcphub/v1/request_pb.js').RequestStateJson} RequestState
   * @typedef {import('../../host/src/gen/mcphub/v1/prompt_pb.js').PromptCauseJson} PromptCause
   * @typedef {import('../../host/src/gen/mcphub/v1/server_pb.js').ServerStateJson} ServerState
   */
  /** @type {[file: string, type: string, word: (name: string) => unknown][]} */
  const enums = [
    ['request', 'OriginJson', (name) => originWord(/** @type {Origin} */ (name))],
    ['request', 'RequestStateJson', (name) => stateWord(/** @type {RequestState} */ (name))],
    ['prompt', 'PromptCauseJson', (name) => causeWord(/** @type {PromptCause} */ (name))],
    ['server', 'ServerStateJson', (name) => serverStateWord(/** @type {ServerState} */ (name))],
  ];
  for (const [file, type, word] of enums) {
    const source = await readFile(new URL(`${file}_pb.ts`, folder), 'utf8');
    const members = new RegExp(`export type ${type} = ([^;]+);`).exec(source)?.[1] ?? '';
    const names = [...members.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name);
    assert.ok(names.length > 3);
    const words = names.map(word);
    assert.ok(
      words.every((text) => typeof text === 'string' && text !== ''),
      `${type}: ${words.join()}`,
    );
    assert.equal(new Set(words).size, words.length, `${type}: one word for one thing`);
  }
});

test('a text that is nested deeply at every line does not become many times as long', () => {
  const json = `${'['.repeat(60)}${'1,'.repeat(200_000)}1${']'.repeat(60)}`;
  const out = pretty(json);
  assert.equal(out.replaceAll(/\s/g, ''), json);
  assert.ok(out.length < json.length * 2 + 1_100_000, `${out.length} characters`);
});

test('a text of many lines scrolls in itself like a long one', () => {
  assert.deepEqual(longClass('prose', `top${'\n'.repeat(40)}end`), { class: 'prose long', tabindex: 0 });
  assert.deepEqual(longClass('prose', 'one\ntwo\nthree'), { class: 'prose' });
});

// Finding C9: long names.
test('a long name is shown by its start and its length', () => {
  const fits = 'é'.repeat(128);
  for (const name of ['', 'read_file', fits, '😀'.repeat(128)]) assert.equal(shortName(name), name);
  assert.equal(shortName(undefined), '');
  assert.equal(shortName('x'.repeat(100_000)), `${'x'.repeat(64)}… (100000 characters)`);
  assert.equal(shortName('😀'.repeat(129)), `${'😀'.repeat(64)}… (129 characters)`);
  assert.equal(shortName('a\u202e'), 'a⟨U+202E⟩');
  assert.ok(shortName('\u202e'.repeat(1_000_000)).length < 1000);
  assert.equal(startOf('abcdef', 4), 'abcd … and 2 more characters');
});
