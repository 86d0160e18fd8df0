// Tests the packaged extension in a real VS Code.
// usage: node editors/vscode/e2e/run.mjs --editor newest|oldest [--vsix FILE] [--only PATTERN] [--core] [--figures]
// [--out FOLDER]
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { installedEditor } from './editor.mjs';

const { values: asked } = parseArgs({
  options: {
    editor: { type: 'string', default: 'newest' },
    vsix: { type: 'string' }, // default: the package that `npm run package` has built for this system
    only: { type: 'string' }, // regular expression over the names of scenarios
    out: { type: 'string' }, // what failures leave; emptied first
    core: { type: 'boolean', default: false }, // only what no editor may lack: the scenarios marked so
    figures: { type: 'boolean', default: false }, // measure instead of prove
  },
});
const vsix = resolve(asked.vsix ?? join(import.meta.dirname, `../mcphub-${process.platform}-${process.arch}.vsix`));
if (!existsSync(vsix)) {
  console.error(
    `run.mjs: ${vsix} is not there: make one by  npm --prefix editors run package --workspace vscode -- --target linux-x64`,
  );
  process.exit(2);
}

const here = import.meta.dirname;
const editors = resolve(here, '../..');
const out = resolve(asked.out ?? join(editors, 'out/vscode', asked.editor));
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
installedEditor(asked.editor); // before the time limit of any scenario starts

const work = mkdtempSync(join(tmpdir(), 'mcphub-e2e-vsix-'));
try {
  const otherVsix = packed(join(here, 'otherextension'), join(work, 'otherextension.vsix'));
  const exampleVsix = packed(join(editors, 'examples/agent'), join(work, 'example.vsix'));
  const suite = asked.figures ? 'figures.mjs' : 'suite.mjs';
  const started = Date.now();
  // The suite is run as a program and not with node --test, so that no process in between has to pass signals on.
  const child = spawn(
    process.execPath,
    [
      '--test-reporter=spec',
      ...(asked.only === undefined ? [] : [`--test-name-pattern=${asked.only}`]),
      join(here, suite),
    ],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        MCPHUB_E2E: JSON.stringify({
          editor: asked.editor,
          vsix,
          otherVsix,
          exampleVsix,
          out,
          core: asked.core,
          only: asked.only,
        }),
      },
    },
  );
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal));
  /** @type {number | null} */
  const status = await new Promise((resolve, reject) => {
    child.once('error', reject).once('exit', resolve);
  });
  console.log(`${asked.editor}: ${((Date.now() - started) / 1000).toFixed(1)} s; what failures left is in ${out}`);
  process.exitCode = status ?? 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

/**
 * Packages an extension that has only one source file.
 *
 * @param {string} folder
 * @param {string} file
 */
function packed(folder, file) {
  const vsce = join(editors, 'node_modules/@vscode/vsce/vsce');
  execFileSync(
    process.execPath,
    [vsce, 'package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', file],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return file;
}
