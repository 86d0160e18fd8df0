// The page's HTML as hosts make it, with its policy, and its files as they are served.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pageFiles } from '../embed/pagefiles.js';
import { pageHtml } from '../embed/pagehtml.js';

/** @typedef {import('../embed/pagehtml.js').PageHtmlOptions} Options */

/** @type {Options} */
const options = {
  cspSource: 'https://*.vscode-cdn.net',
  base: 'https://x.vscode-cdn.net/page/',
  nonce: 'N0nce+/=',
  surface: {
    kind: 'vscode',
    opensUrls: false,
    configWrites: true,
    commands: ['mcphub.showLogs'],
    language: 'de',
    model: `Big "Model" <'1'> & co`,
  },
};

/** Returns the value of an attribute, as a browser reads it. @param {string} html @param {RegExp} place */
const attribute = (html, place) =>
  (place.exec(html)?.[1] ?? '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

/** Returns the policy of a page, by directives. @param {Partial<Options>} [more] */
async function policy(more) {
  const html = await pageHtml({ ...options, cspSource: 'SOURCE', nonce: 'abc', ...more });
  const text = attribute(html, /http-equiv="Content-Security-Policy" content="([^"]*)"/);
  return new Map(text.split('; ').map((one) => [one.split(' ')[0] ?? '', one.split(' ').slice(1)]));
}

test('every token of the page is filled', async () => {
  const html = await pageHtml({ ...options, theme: 'high-contrast-light' });
  assert.doesNotMatch(html, /\{\{/);
  assert.match(html, /nonce="N0nce\+\/="/);
  assert.match(html, /src="https:\/\/x\.vscode-cdn\.net\/page\/main\.js"/);
  assert.match(html, /<body class="vscode-high-contrast vscode-high-contrast-light">/);
});

test('the surface survives as an attribute, and breaks out of none', async () => {
  const html = await pageHtml(options);
  assert.doesNotMatch(/data-surface="([^"]*)"/.exec(html)?.[1] ?? '"', /["'<>]/);
  assert.deepEqual(JSON.parse(attribute(html, /data-surface="([^"]*)"/)), options.surface);
});

test('a folder of another version is an error and not shown', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'mcphub-page-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'page.html'), '{{new_token}}');
  await assert.rejects(pageHtml({ ...options, folder }), /new_token/);
});

test('the policy lets nothing run but by nonce, and nothing be loaded from elsewhere', async () => {
  const directives = await policy();
  assert.deepEqual(directives.get('default-src'), ["'none'"]);
  assert.deepEqual(directives.get('script-src'), ["'nonce-abc'"]);
  assert.deepEqual(directives.get('style-src'), ['SOURCE']);
  assert.doesNotMatch(JSON.stringify([...directives]), /unsafe|\*/);
  assert.equal(directives.has('connect-src'), false);
  assert.deepEqual((await policy({ connectSource: 'ws://127.0.0.1:80' })).get('connect-src'), ['ws://127.0.0.1:80']);
});

test('frames of views come from their own place alone, and none where none are shown', async () => {
  const own = await policy({ surface: { kind: 'web', apps: ['/page/apps/sandbox.html'] } });
  assert.deepEqual(own.get('frame-src'), ["'self'"], 'an address without a host is at the page itself');
  const apps = ['http://127.0.0.1:4711/secret', 'http://127.0.0.1:80/x'];
  const framed = await policy({ surface: { kind: 'vscode', apps } });
  assert.deepEqual(framed.get('frame-src'), ['http://127.0.0.1:4711', 'http://127.0.0.1']);
  assert.equal((await policy()).has('frame-src'), false);
});

test('nonces are long and fresh', async () => {
  const { nonce: _, ...unnamed } = options;
  const pages = await Promise.all(Array.from({ length: 20 }, () => pageHtml(unnamed)));
  const nonces = new Set(pages.map((html) => attribute(html, /<script[^>]* nonce="([^"]*)"/)));
  assert.equal(nonces.size, 20);
  assert.ok([...nonces].every((nonce) => Buffer.from(nonce, 'base64').length >= 16));
});

test('the files that are served are those that a page asks for, by their names, and no template', async () => {
  const files = await pageFiles();
  for (const name of ['main.js', 'page.css', 'theme.css', 'gen/markdown.js', 'l10n/de.js']) {
    assert.ok(files.has(name), name);
  }
  assert.match(files.get('page.css')?.headers['Content-Type'] ?? '', /^text\/css/);
  assert.deepEqual(
    [...files.keys()].filter((name) => /\.html$|\\|^\./.test(name)),
    [],
  );
});
