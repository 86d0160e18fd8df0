// Fills the template of the page.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pageFolder } from './pagefiles.js';
import type { Surface } from './surface.js';

/** A choice of colours by hand. */
export type Theme = 'light' | 'dark' | 'high-contrast' | 'high-contrast-light';

const bodyClasses: Readonly<Record<Theme, string>> = {
  'light': 'vscode-light',
  'dark': 'vscode-dark',
  'high-contrast': 'vscode-high-contrast',
  'high-contrast-light': 'vscode-high-contrast vscode-high-contrast-light',
};

export interface PageHtmlOptions {
  /** What stands before the names of the page's files: a URL that ends with a slash, relative ones too. */
  readonly base: string;
  /** Where the files are, as a source of a Content-Security-Policy: `webview.cspSource`, or `http://127.0.0.1:4000`. */
  readonly cspSource: string;
  readonly surface: Surface;
  /** The text that scripts and style sheets are allowed by. It must be of one filling alone. Default: a fresh one. */
  readonly nonce?: string;
  /** Default: a webview's own colours, elsewhere those that the browser asks for. */
  readonly theme?: Theme;
  /** Where the WebSocket of a surface of the kind "web" is, `ws://127.0.0.1:4000` say. */
  readonly connectSource?: string;
  /** The folder with page.html, if it is not the one of this package. */
  readonly folder?: string;
}

/**
 * Returns the page as HTML, with the Content-Security-Policy that it needs, and no more, in it. The policy allows no
 * `unsafe-inline`. A host may add `frame-ancestors` in a header. Rejects if page.html cannot be read, or does not fit.
 */
export async function pageHtml(options: PageHtmlOptions): Promise<string> {
  const { base, surface, nonce = newNonce(), theme, folder = pageFolder() } = options;
  const template = await readFile(join(folder, 'page.html'), 'utf8');
  const values: Readonly<Record<string, string>> = {
    csp: contentSecurityPolicy(options, nonce),
    nonce,
    base,
    body_class: theme === undefined ? '' : bodyClasses[theme],
    surface: JSON.stringify(surface),
  };
  return template.replace(/\{\{(\w+)\}\}/gu, (token, name: string) => {
    const value = values[name];
    if (value === undefined) {
      throw new Error(
        `page.html has the token ${token}, which nothing fills: its folder is of another version than its host; install both again`,
      );
    }
    return value.replace(/[&<>"']/gu, (c) => `&#${c.charCodeAt(0)};`);
  });
}

function newNonce(): string {
  return randomBytes(18).toString('base64');
}

// Modules that the first script imports inherit its nonce (HTML, "fetch a descendant script"). So the policy names no
// origin for scripts, and even a file in the page's folder runs only if the page imports it.
function contentSecurityPolicy({ cspSource, connectSource, surface }: PageHtmlOptions, nonce: string): string {
  const frames = surface.apps ?? [];
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    `img-src ${cspSource} data:`,
    'media-src data:',
    `font-src ${cspSource}`,
    ...(connectSource === undefined ? [] : [`connect-src ${connectSource}`]),
    ...(frames.length === 0 ? [] : [`frame-src ${frames.map(sourceOf).join(' ')}`]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** Returns what a policy calls the place of a frame. One that names no host is at the page's own. */
function sourceOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : "'self'";
}
