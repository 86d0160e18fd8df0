// Serves the page as the extension does: page.html with its tokens filled in, a strict CSP with a new nonce, and every
// file from one origin.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pageHtml } from '../../embed/pagehtml.js';
import { nativeParse } from '../../src/words/jsontext.js';

/**
 * @typedef {import('../../embed/surface.js').Surface} Surface
 * @typedef {{ address: string, close(): Promise<void> }} Site
 */

/** The folder of the page as it is shipped, which `npm run build` makes. */
export const pageFolder = fileURLToPath(new URL('../../dist/', import.meta.url));

/** @type {Record<string, string>} */
const contentTypes = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** @type {import('../../embed/pagehtml.js').Theme[]} */
const themes = ['high-contrast-light', 'high-contrast', 'light', 'dark'];

/**
 * Serves the outer frame of views from an origin of its own, as a host does.
 *
 * @returns {Promise<Site>}
 */
export async function serveSandbox() {
  const html = await readFile(join(pageFolder, 'apps/sandbox.html'), 'utf8');
  const server = createServer((request, response) => {
    const policy = new URL(request.url ?? '/', 'http://sandbox').searchParams.get('csp') ?? "default-src 'none'";
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Content-Security-Policy', policy);
    response.end(html);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the sandbox has no port');
  return {
    address: `http://localhost:${bound.port}/view`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Serves the page at /?surface=JSON&class=BODY_CLASS, and an empty page at /blank, until it is closed.
 *
 * @returns {Promise<Site>}
 */
export async function serveSite() {
  let origin = '';
  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  const answer = async (request, response) => {
    const url = new URL(request.url ?? '/', origin);
    try {
      if (url.pathname === '/') {
        const surface = /** @type {Surface} */ (nativeParse(url.searchParams.get('surface') ?? '{"kind":"vscode"}'));
        const theme = themes.find((name) => url.searchParams.get('class')?.includes(`vscode-${name}`));
        const html = await pageHtml({
          base: `${origin}/page/`,
          cspSource: origin,
          surface,
          ...(theme && { theme }),
          ...(surface.kind === 'web' && { connectSource: origin.replace('http', 'ws') }),
        });
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.end(html);
        return;
      }
      if (url.pathname === '/blank') {
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.end('<!doctype html><title>blank</title>');
        return;
      }
      if (url.pathname === '/favicon.ico') {
        response.writeHead(204).end();
        return;
      }
      const path = normalize(url.pathname);
      if (!path.startsWith('/page/')) throw new Error('outside of the page');
      const content = await readFile(join(pageFolder, path.slice('/page/'.length)));
      response.setHeader('Content-Type', contentTypes[extname(path)] ?? 'application/octet-stream');
      // Each test loads all files again, and no file changes while a site is open.
      response.setHeader('Cache-Control', 'max-age=3600, immutable');
      response.end(content);
    } catch {
      response.writeHead(404).end();
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the site has no port');
  origin = `http://127.0.0.1:${bound.port}`;
  return {
    address: origin,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
