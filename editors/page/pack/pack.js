// Packs the page as a host ships it: its modules in one script, its styles in one file. The page also runs from its
// sources. But a webview of VS Code fetches each file through a service worker, the workbench and the extension host,
// and fifty files take a second.
//
// As a program: node pack.js FOLDER, by default editors/page/dist. What the folder held before is removed.

import { build, transform } from 'esbuild';
import { appendFile, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
    metafile: true,
    bundle: true,
    external: [`./${rendererName}`, './appview.js', './finding.js', './l10n/*'], // loaded when they are needed
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const licences = (await notices(metafile, page)).replace('The extension', 'The page').replaceAll('*/', '* /');
  await appendFile(join(folder, 'main.js'), `/*!\n${licences}*/\n`);
  await cp(join(sources, rendererName), join(folder, rendererName)); // minified already; begins with its licences
  await build({
    entryPoints: [join(sources, 'apps/appview.ts'), join(sources, 'adding/finding.ts')],
    entryNames: '[name]',
    outdir: folder,
    bundle: true,
    external: ['./l10n/*'],
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  });
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
  return Promise.all(
    ['page.html', 'main.js', ...names].map(async (name) => ({ name, size: (await stat(join(folder, name))).size })),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await packPage(process.argv[2] ?? join(page, 'dist'));
  console.log(`${files.length} files, ${files.reduce((sum, { size }) => sum + size, 0)} bytes`);
}
