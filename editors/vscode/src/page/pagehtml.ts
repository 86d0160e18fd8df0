// Fills the page's template for a webview. The page itself is editors/page; the build copies it to media/page.
import { randomBytes } from 'node:crypto';
import type { ModelName } from '@mcphub/host/contract';

/** What the page is told about its environment. */
export interface Surface {
  readonly kind: 'vscode';
  /** the part of the page that is shown: what is live, one thing that is opened, or all (the default) */
  readonly shows?: 'now' | 'opened';
  readonly opensUrls: boolean;
  readonly model?: string;
  readonly models?: readonly ModelName[];
  readonly commands: readonly string[];
  readonly apps?: readonly string[]; // addresses of the outer frame of views
  readonly configWrites: boolean;
  readonly language: string; // of the editor, as a BCP 47 tag
  readonly demo?: { readonly server: string; readonly file: string };
}

export interface PageFill {
  readonly cspSource: string;
  readonly base: string; // URI of the page's folder, with a slash at the end
  readonly surface: Surface;
  readonly nonce: string;
}

/** Returns a nonce for one filling of the template. */
export function newNonce(): string {
  return randomBytes(18).toString('base64');
}

// Modules that the first script imports inherit its nonce (HTML, "fetch a descendant script"). So the policy names no
// origin for scripts, and even a file in the page's folder runs only if the page imports it.
export function contentSecurityPolicy(cspSource: string, nonce: string, frames: readonly string[] = []): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${cspSource}`,
    `img-src ${cspSource} data:`,
    'media-src data:',
    `font-src ${cspSource}`,
    ...(frames.length === 0 ? [] : [`frame-src ${frames.map((one) => new URL(one).origin).join(' ')}`]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** Fills the tokens of the template. Throws for an unknown token, since that is an error of the build. */
export function fillPage(template: string, fill: PageFill): string {
  const values: Readonly<Record<string, string>> = {
    csp: contentSecurityPolicy(fill.cspSource, fill.nonce, fill.surface.apps),
    nonce: fill.nonce,
    base: fill.base,
    body_class: '', // VS Code sets the classes of the theme itself
    surface: JSON.stringify(fill.surface),
  };
  return template.replace(/\{\{(\w+)\}\}/gu, (token, name: string) => {
    const value = values[name];
    if (value === undefined) {
      throw new Error(
        `page.html has the token ${token}, which nothing fills: the extension and its page do not fit together; install the extension again`,
      );
    }
    return escapeAttribute(value);
  });
}

function escapeAttribute(value: string): string {
  return value.replace(/[&<>"']/gu, (c) => `&#${c.charCodeAt(0)};`);
}
