// Reads what instructions most often give: a command line, or an address.

import { wordsOf } from './proposal.js';
import type { Proposal } from './proposal.js';

/** Programs that run a package, and the words after them that are no package. */
const runners = /^(?:npx|bunx|uvx|pipx|pnpx|pnpm|yarn|npm|bun|uv|deno|docker|podman)(?:\.cmd|\.exe)?$/;
const verbs = new Set(['run', 'dlx', 'exec', 'x', 'tool']);

/** Returns a proposal for a text that is one command or one URL; otherwise undefined. */
export function ofLine(text: string): Proposal | undefined {
  const line = text.trim();
  if (/^https?:\/\/\S+$/i.test(line)) return { url: line, name: nameOfHost(line) };
  if (line === '' || /[\r\n]|^[[{"'#]|\s=\s/.test(line)) return undefined;
  const [command, ...args] = wordsOf(line) ?? [];
  return command ? { command, args, name: nameOf(command, args) } : undefined;
}

function nameOfHost(url: string): string {
  if (!URL.canParse(url)) return '';
  const { hostname } = new URL(url);
  return hostname.replace(/^(?:www|mcp|api)\./, '').split('.')[0] ?? '';
}

/** Returns a name for an entry: that of the package without what most of them have in common. */
function nameOf(command: string, args: readonly string[]): string {
  const program = (command.split(/[\\/]/).at(-1) ?? '').replace(/\.(?:exe|cmd|js|py)$/, '');
  const plain = args.filter((arg) => !arg.startsWith('-') && !verbs.has(arg));
  const image = /^(?:docker|podman)$/.test(program);
  const from = !runners.test(program)
    ? program
    : ((image ? plain.find((arg) => arg.includes('/')) : plain[0]) ?? program);
  const last =
    from
      .replace(/^@[^/]+\//, '')
      .split('/')
      .at(-1) ?? '';
  const name = last.replace(/[@:].*$/, '').replace(/^(?:mcp-)?server-|^mcp-|-mcp(?:-server)?$|-server$/g, '');
  return name || last;
}
