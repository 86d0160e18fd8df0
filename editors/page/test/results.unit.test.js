// The difference between two results, and the type and size of an image.

import { test } from 'node:test';
import assert from 'node:assert/strict';
import { differingLines } from '../src/results/difference.js';
import { mayOpen } from '../src/results/markdown.js';
import { bytesOf, pictureInfo } from '../src/results/pictureinfo.js';
import { busyMs } from './harness/cputime.js';
import { png } from './harness/results.js';

/** @param {string} a @param {string} b */
const differ = (a, b) =>
  differingLines(a.split(''), b.split(''))
    .map(({ sign, text }) => sign.trim() + text)
    .join(' ');

test('what only one text has is told, in the order of both', () => {
  for (const [a, b, want] of /** @type {const} */ ([
    ['abc', 'abc', 'a b c'],
    ['abc', 'axc', 'a -b +x c'],
    ['', '', ''],
    ['abc', 'bcd', '-a b c +d'],
    ['abxcd', 'abcd', 'a b -x c d'],
    ['abcabba', 'cbabac', '-a -b c +b a b -b a +c'],
  ]))
    assert.equal(differ(a, b), want);
});

test('the lines of both sides can be made of what differs, whatever they are', () => {
  let seed = 7;
  const random = (/** @type {number} */ n) => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 300; round++) {
    const make = () => Array.from({ length: random(30) }, () => 'abcd'[random(4)] ?? '');
    const [a, b] = [make(), make()];
    const lines = differingLines(a, b);
    assert.deepEqual(
      lines.filter(({ sign }) => sign !== '+').map(({ text }) => text),
      a,
    );
    assert.deepEqual(
      lines.filter(({ sign }) => sign !== '-').map(({ text }) => text),
      b,
    );
  }
});

test('texts that have nothing in common are changed as a whole, soon', () => {
  const lines = (/** @type {string} */ name) => Array.from({ length: 20_000 }, (_, i) => `${name} ${i}`);
  const began = busyMs();
  assert.equal(differingLines(lines('a'), lines('b')).length, 40_000);
  assert.ok(busyMs() - began < 3_000);
});

test('a picture is known by its bytes, also when it ends too early', () => {
  const bytes = (/** @type {string} */ base64) => bytesOf(base64) ?? new Uint8Array();
  assert.deepEqual(pictureInfo(bytes(png(30, 20))), { type: 'image/png', width: 30, height: 20 });
  const gif = bytes(btoa('GIF89a\x0a\x00\x14\x00rest'));
  assert.deepEqual(pictureInfo(gif), { type: 'image/gif', width: 10, height: 20 });
  const jpeg = bytes(btoa('\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x14\x00\x0a\x03'));
  assert.deepEqual(pictureInfo(jpeg), { type: 'image/jpeg', width: 10, height: 20 });
  const webp = bytes(btoa('RIFF....WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x13\x00\x00'));
  assert.deepEqual(pictureInfo(webp), { type: 'image/webp', width: 10, height: 20 });
  for (const whole of [bytes(png(30, 20)).slice(0, 40), gif, jpeg, webp])
    for (let length = 0; length < whole.length; length++) pictureInfo(whole.slice(0, length));
  assert.equal(pictureInfo(bytes(btoa('<svg xmlns="http://www.w3.org/2000/svg"/>'))), undefined);
  assert.equal(bytesOf('*'), undefined);
});

test('only addresses of the web and of mail leave the page', () => {
  for (const good of ['https://a.example/', 'HTTP://a.example', 'mailto:a@b.example'])
    assert.equal(mayOpen(good), true, good);
  for (const bad of [
    'javascript:1',
    ' java\nscript:1',
    'data:text/html,x',
    'file:///etc/passwd',
    'command:x',
    'vscode://x',
    'a.html',
    '//x',
    '',
  ])
    assert.equal(mayOpen(bad), false, bad);
});
