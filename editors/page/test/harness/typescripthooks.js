// Hooks of Node's module loader: a module that is imported as x.js and exists as x.ts is compiled as it is loaded.

import { transform } from 'esbuild';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** @type {import('node:module').ResolveHook} */
export function resolve(specifier, context, next) {
  if (specifier.startsWith('.') && specifier.endsWith('.js')) {
    const url = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (url.protocol === 'file:' && existsSync(url)) return { url: url.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), { loader: 'ts', sourcemap: 'inline' });
  return { source: code, format: 'module', shortCircuit: true };
}
