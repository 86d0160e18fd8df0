// Packs the page as hosts serve it: its modules in one script, its styles in one file. A webview of VS Code fetches
// each file through a service worker, the workbench and the extension host, and fifty files take a second.
//
// As a program: node pack.js [FOLDER], by default editors/page/dist.

import { build, transform } from 'esbuild';
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { notices } from '../../vscode/notices.mjs';
import { rendererName } from './renderer.js';

const page = fileURLToPath(new URL('..', import.meta.url));
const sources = join(page, 'src');

/** Maximum size of the packed page in bytes: HTML, CSS and JS together, without the files that are loaded later. */
export const pageLimit = 250 * 1024;

/** The outer frame of views, which a host serves from an origin of its own. */
export const sandboxName = 'apps/sandbox.html';

/** The folder of the languages other than English. */
const languages = 'l10n';

const styles = ['page.css', 'theme.css'];

/**
 * Packs the page.
 *
 * @param {string} folder that the page is written to; what it held before is removed
 * @param {string[]} [without] styles that this host does not need
 * @returns {Promise<{ name: string, size: number }[]>} the files that a page loads at its start, with their sizes in
 * bytes
 */
export async function packPage(folder, without = []) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(join(sources, 'page.html'), join(folder, 'page.html'));
  const { metafile } = await build({
    absWorkingDir: page,
    entryPoints: [join(sources, 'main.ts')],
    outdir: folder,
    chunkNames: '[name]-[hash]',
    metafile: true,
    bundle: true,
    splitting: true, // what is imported when it is first needed has files of its own
    external: [`./${rendererName}`, './l10n/*'],
    minify: true,
    format: 'esm',
    charset: 'utf8', // a module is always read as UTF-8, and an escape takes twice the bytes
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  });
  await cp(join(sources, rendererName), join(folder, rendererName)); // minified already; begins with its licences
  const licences = (await notices(metafile, page)).replace('The extension', 'The page').replaceAll('*/', '* /');
  await appendFile(join(folder, 'main.js'), `/*!\n${licences}*/\n`);
  await mkdir(join(folder, 'apps'), { recursive: true });
  await cp(join(sources, sandboxName), join(folder, sandboxName));
  for (const name of await readdir(join(sources, languages))) {
    const file = join(folder, languages, name.replace('.ts', '.js'));
    const source = await readFile(join(sources, languages, name), 'utf8');
    const { code } = await transform(source, { loader: 'ts', minify: true });
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
  }
  const names = styles.filter((name) => !without.includes(name));
  await build({
    entryPoints: names.map((name) => join(sources, name)),
    outdir: folder,
    bundle: true,
    minify: true,
    logLevel: 'warning',
  });
  const scripts = atStart(metafile, 'main.js');
  return Promise.all(
    ['page.html', ...scripts, ...names].map(async (name) => ({ name, size: (await stat(join(folder, name))).size })),
  );
}

/**
 * Returns the scripts that are loaded with a script.
 *
 * @param {import('esbuild').Metafile} metafile
 * @param {string} name
 */
function atStart({ outputs }, name) {
  const paths = Object.keys(outputs);
  const found = new Set(paths.filter((path) => basename(path) === name));
  for (const path of found)
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && next in outputs) found.add(next);
  return [...found].map((path) => basename(path));
}

/**
 * Makes a folder like another one. A file that is the same is not touched: `make test` packs the page while Go embeds
 * it.
 *
 * @param {string} folder
 * @param {string} like
 */
async function become(folder, like) {
  const read = (/** @type {string} */ file) => readFile(file).catch(() => undefined);
  const isFile = (/** @type {import('node:fs').Dirent} */ entry) => entry.isFile();
  const names = async (/** @type {string} */ of) =>
    (await readdir(of, { recursive: true, withFileTypes: true }).catch(() => []))
      .filter(isFile)
      .map((entry) => relative(of, join(entry.parentPath, entry.name)));
  const wanted = await names(like);
  for (const name of wanted) {
    const text = await readFile(join(like, name));
    const file = join(folder, name);
    if ((await read(file))?.equals(text)) continue;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }
  for (const name of await names(folder)) if (!wanted.includes(name)) await rm(join(folder, name));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const made = await mkdtemp(join(tmpdir(), 'mcphub-page-'));
  try {
    const files = await packPage(made);
    await become(process.argv[2] ?? join(page, 'dist'), made);
    console.log(`${files.length} files, ${files.reduce((sum, { size }) => sum + size, 0)} bytes`);
  } finally {
    await rm(made, { recursive: true });
  }
}
