import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentSecurityPolicy, fillPage, newNonce, type PageFill } from '../src/page/pagehtml.js';

const fill: PageFill = {
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

test('every token of the page is filled', () => {
  const html = fillPage(
    '<html data-surface="{{surface}}"><meta content="{{csp}}"><body class="{{body_class}}"><script nonce="{{nonce}}" src="{{base}}main.js">',
    fill,
  );
  assert.doesNotMatch(html, /\{\{/u);
  assert.match(html, /nonce="N0nce\+\/="/u);
  assert.match(html, /src="https:\/\/x\.vscode-cdn\.net\/page\/main\.js"/u);
});

test('the surface survives as an attribute, and breaks out of none', () => {
  const html = fillPage('<html data-surface="{{surface}}">', fill);
  const value = /data-surface="([^"]*)"/u.exec(html)?.[1] ?? '';
  assert.doesNotMatch(value, /["'<>]/u);
  const text = value.replace(/&#(\d+);/gu, (_, n: string) => String.fromCharCode(Number(n)));
  assert.deepEqual(JSON.parse(text), fill.surface);
});

test('an unknown token is an error and not shown', () => {
  assert.throws(() => fillPage('{{new_token}}', fill), /new_token/u);
});

test('the policy lets nothing run but by nonce, and nothing be loaded from elsewhere', () => {
  const policy = contentSecurityPolicy('SOURCE', 'abc');
  const directives = new Map(policy.split('; ').map((d) => [d.split(' ')[0], d.split(' ').slice(1)] as const));
  assert.deepEqual(directives.get('default-src'), ["'none'"]);
  assert.deepEqual(directives.get('script-src'), ["'nonce-abc'"]);
  assert.deepEqual(directives.get('style-src'), ['SOURCE']);
  assert.doesNotMatch(policy, /unsafe|\*/u);
});

test('frames of views come from their own place alone, and none where none are shown', () => {
  const policy = contentSecurityPolicy('SOURCE', 'abc', ['http://127.0.0.1:4711/secret', 'http://127.0.0.1:80/x']);
  assert.ok(policy.split('; ').includes('frame-src http://127.0.0.1:4711 http://127.0.0.1'), policy);
  assert.doesNotMatch(contentSecurityPolicy('SOURCE', 'abc'), /frame-src/u);
});

test('nonces are long and fresh', () => {
  const nonces = new Set(Array.from({ length: 100 }, newNonce));
  assert.equal(nonces.size, 100);
  assert.ok([...nonces].every((n) => Buffer.from(n, 'base64').length >= 16));
});
