// Bundles the tests, which are TypeScript, and runs them. Tests that need a real editor are in e2e.
// usage: node test/run.mjs [unit|real]    real: those that start processes, *.real.test.ts; unit: all others
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const outdir = join(here, '../build/test');
rmSync(outdir, { recursive: true, force: true });
const entryPoints = readdirSync(here)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join(here, name));
await build({
  entryPoints,
  outdir,
  tsconfig: join(here, 'tsconfig.json'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
  alias: { vscode: join(here, 'fakevscode.ts') },
  // Under a name of its own, as a test may import createRequire, too.
  banner: {
    js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
  },
});
const [, , kind] = process.argv;
const files = readdirSync(outdir)
  .filter((name) => name.endsWith('.test.mjs') && (kind === undefined || name.includes('.real.') === (kind === 'real')))
  .map((name) => join(outdir, name));
process.exit(
  spawnSync(process.execPath, ['--test', '--test-timeout=300000', ...files], {
    stdio: 'inherit',
    cwd: join(here, '..'),
  }).status ?? 1,
);
