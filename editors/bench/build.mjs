// Bundles the figures twice: as a program for plain Node, and as tests that a VS Code runs inside its extension host.
import { build } from 'esbuild';

await build({
  entryPoints: { figures: 'plain.mjs', inhost: 'inhost.mjs', extension: 'extension.mjs' },
  outdir: 'build',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
  // The CommonJS form of an ES module that asks where it lies.
  define: { 'import.meta.url': 'undefined' },
  logLevel: 'warning',
});
