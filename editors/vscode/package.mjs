// Makes the .vsix of one platform, with the hub's program for it inside.
//
//     npm run package -- --target linux-x64 [--out FILE] [--version 1.2.3] [--binary FILE [--notices FILE]]
//
// --notices are the licences of what is linked into that program.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildExtension, shipPage } from './build.mjs';
import { targets } from './targets.mjs';

/** Where the README's links and pictures lead from a page that is not in the repository. */
const repository = 'https://github.com/mcphub-go/mcphub';
const links = [
  ['--baseContentUrl', `${repository}/blob/main/editors/vscode`],
  ['--baseImagesUrl', `${repository}/raw/main/editors/vscode`],
].flat();

/** What of this folder is in the package, as far as .vscodeignore lets it. */
const shipped = ['dist', 'media', 'bin', 'l10n', 'package.nls.json', 'package.nls.de.json', 'README.md'];

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    out: { type: 'string' },
    version: { type: 'string' },
    binary: { type: 'string' },
    notices: { type: 'string' },
  },
});
const target = values.target ?? `${process.platform}-${process.arch}`;
const platform = targets[target];
if (platform === undefined) {
  console.error(`There is no target ${target}; there are ${Object.keys(targets).join(', ')}.`);
  process.exit(2);
}

const { size: bundle, contains } = await buildExtension();
const page = await shipPage();

const program = platform.goos === 'windows' ? 'mcphub.exe' : 'mcphub';
await rm(join(here, 'bin'), { recursive: true, force: true });
await mkdir(join(here, 'bin'));
if (values.binary === undefined) {
  execFileSync('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', join(here, 'bin', program), './cmd/mcphub'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CGO_ENABLED: '0', GOOS: platform.goos, GOARCH: platform.goarch },
  });
} else {
  await copyFile(values.binary, join(here, 'bin', program));
}
await chmod(join(here, 'bin', program), 0o755);

// Packed from a folder of its own: vsce wants the licence beside package.json, and knows no workspaces.
const stage = await mkdtemp(join(tmpdir(), 'mcphub-vsix-'));
try {
  for (const name of [...shipped, '.vscodeignore']) {
    await cp(join(here, name), join(stage, name), { recursive: true });
  }
  await cp(join(root, 'LICENSE'), join(stage, 'LICENSE'));
  await cp(join(root, 'CHANGELOG.md'), join(stage, 'CHANGELOG.md'));
  const linked = values.notices === undefined ? '' : `\n\n${await readFile(values.notices, 'utf8')}`;
  await writeFile(join(stage, 'THIRD_PARTY_NOTICES.txt'), contains + linked);
  await writeFile(join(stage, 'package.json'), JSON.stringify(await manifest(), undefined, 2));
  const out = resolve(values.out ?? join(here, `mcphub-${target}.vsix`));
  await mkdir(dirname(out), { recursive: true });
  const vsce = createRequire(import.meta.url).resolve('@vscode/vsce/vsce');
  pack([vsce, 'package', '--no-dependencies', ...links, '--target', target, '--out', out], stage);
  const { size } = await stat(join(here, 'bin', program));
  console.log(`${out}: bundle ${bundle} bytes, page ${page} bytes, program ${size} bytes`);
} finally {
  await rm(stage, { recursive: true, force: true });
}

/**
 * What the packager warns of is seen by nobody in a long log: a part that is missing, or one that is too large.
 *
 * @param {string[]} command
 * @param {string} cwd
 */
function pack(command, cwd) {
  const { status, error, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (error !== undefined) {
    throw error;
  }
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  if (status !== 0) {
    throw new Error(`vsce has failed (${status}).`);
  }
  const warning = `${stdout}\n${stderr}`.split('\n').find((line) => /WARNING|^::warning/u.test(line)); // as a CI is told
  if (warning !== undefined) {
    throw new Error(`vsce warns: ${warning.trim()}`);
  }
}

/** The manifest of the workspace without what only the workspace needs: everything is in the bundle. */
async function manifest() {
  /** @type {(text: string) => unknown} */
  const readJson = JSON.parse;
  const whole = /** @type {Record<string, unknown>} */ (readJson(await readFile(join(here, 'package.json'), 'utf8')));
  const { scripts, dependencies, private: ours, ...kept } = whole;
  return values.version === undefined ? kept : { ...kept, version: values.version };
}
