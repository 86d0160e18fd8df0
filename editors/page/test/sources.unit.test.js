// Checks of the page's files without a browser: their size, and that no code makes markup of text.

import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packPage, pageLimit, sandboxName } from '../pack/pack.js';
import { renderer, rendererName } from '../pack/renderer.js';

const sources = fileURLToPath(new URL('../src/', import.meta.url));

/** The sources of what a host ships. */
async function written() {
  const names = (await readdir(sources, { recursive: true })).filter((name) => /\.(html|css|js|ts)$/.test(name));
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(sources, name), 'utf8') })));
}

test('the parser of markdown is what its package says, with the licences of all that is in it', async () => {
  const text = await readFile(join(sources, rendererName), 'utf8');
  assert.equal(text, await renderer(), 'node pack/renderer.js writes it anew');
  for (const name of ['markdown-it', 'entities', 'linkify-it', 'mdurl', 'uc.micro', 'punycode.js'])
    assert.match(text, new RegExp(`^${name} [\\d.]+: (MIT|BSD-2-Clause)$`, 'm'));
});

test('the page that a host ships is at most 250 KB without the parser of markdown and the frame of views: html, css and js together, without comments and blanks', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcphub-page-'));
  try {
    await writeFile(join(folder, 'left.css'), '');
    const files = await packPage(folder);
    assert.equal((await readdir(folder)).includes('left.css'), false, 'nothing is left of an older page');
    assert.ok(
      files.some(({ name }) => name === 'page.html') && files.some(({ name }) => name === 'main.js'),
      'the page is there',
    );
    const total = files.reduce((sum, { size }) => sum + size, 0);
    assert.equal((await stat(join(folder, rendererName))).isFile(), true);
    const before = (await written()).reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    console.log(
      `size of the page: ${(total / 1024).toFixed(1)} KB in ${files.length} files; as it is written ${(before / 1024).toFixed(1)} KB`,
    );
    assert.ok(total <= pageLimit, files.map(({ name, size }) => `${name} ${size}`).join(', '));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('no source makes markup of text, runs text, or sets a style attribute', async () => {
  const forbidden =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|setHTML|srcdoc|\beval\(|new Function|setAttribute\(\s*'style'|setTimeout\(\s*['"`]/;
  for (const { name, text } of await written()) {
    if (name.endsWith('.css') || name === sandboxName) continue; // that is no part of the page, and holds what views are
    text.split('\n').forEach((line, index) => assert.doesNotMatch(line, forbidden, `${name}:${index + 1}`));
  }
});

test('no source makes a form, which a button without a type would submit', async () => {
  for (const { name, text } of await written())
    if (name !== sandboxName) assert.doesNotMatch(text, /['"`]form['"`],\s*\{|<form/, name);
});

test('page.html has neither inline styles nor inline scripts, and every token of hosts', async () => {
  const html = await readFile(join(sources, 'page.html'), 'utf8');
  assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=|javascript:/i);
  for (const script of html.matchAll(/<script([^>]*)>([^<]*)</g)) {
    assert.match(script[1] ?? '', /type="module"/);
    assert.match(script[1] ?? '', /nonce="\{\{nonce\}\}"/);
    assert.equal(script[2]?.trim(), '');
  }
  for (const token of ['csp', 'nonce', 'base', 'body_class', 'surface'])
    assert.ok(html.includes(`{{${token}}}`), `{{${token}}}`);
});

test('the styles take every colour from the theme', async () => {
  const literal =
    /#[0-9a-f]{3,8}\b|\b(rgba?|hsla?|oklch|oklab|lab|lch|color)\(|:\s*(black|white|red|green|blue|yellow|orange|gr[ae]y|purple)\b/i;
  for (const { name, text } of await written()) {
    if (!name.endsWith('.css') || name === 'theme.css') continue;
    const bare = text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '));
    bare.split('\n').forEach((line, index) => assert.doesNotMatch(line, literal, `${name}:${index + 1}`));
  }
});

test('every module that the page imports is one of its own, lit-html, or one that it shares with the extension', async () => {
  const shared = new Set();
  for (const { name, text } of await written()) {
    for (const [, path = ''] of text.matchAll(/^import\s(?!type\b)(?:[^'"]*\sfrom\s)?'([^']+)'/gm)) {
      if (name.startsWith('gen/')) continue;
      const [, ofHost] = /^\.\.\/\.\.\/\.\.\/host\/src\/(\w+)\.js$/.exec(path) ?? [];
      if (ofHost) shared.add(ofHost);
      else
        assert.match(path, /^(?:\.\.?\/(?:[\w-]+\/)?[\w-]+\.js|#language|lit-html(?:\/directives\/\w+\.js)?)$/, name);
    }
  }
  assert.ok(shared.has('visible'), [...shared].join());
  for (const name of shared) {
    const text = await readFile(join(sources, `../../host/src/${name}.ts`), 'utf8');
    assert.doesNotMatch(text, /^import\s(?!type\b)/m, `${name} would bring the host into the page`);
  }
});
