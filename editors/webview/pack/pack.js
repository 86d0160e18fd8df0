// The page as a host ships it: its modules in one script, its styles small. What is written runs as it is; but a
// webview of VS Code fetches each file through a service worker, the workbench and the extension host, and fifty of
// them take a second.
//
// As a program: node pack.js FOLDER, by default editors/webview/dist.

import { build, transform } from 'esbuild';
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rendererName } from './renderer.js';

const webview = fileURLToPath(new URL('..', import.meta.url));
const sources = join(webview, 'src');

/** Most bytes of the page as it is shipped: html, css and js together, without what it loads when it needs it. */
export const pageLimit = 220 * 1024;

/** The outer frame of views, which a host serves from an origin of its own. */
export const sandboxName = 'apps/sandbox.html';

/** The folder of the languages beside English. */
const languages = 'l10n';

const styles = ['page.css', 'cards.css', 'results.css', 'begin.css', 'browse.css', 'apps.css', 'theme.css'];

/**
 * @param {string} folder that it is written to
 * @param {string[]} [without] styles that this host does not need
 * @returns {Promise<{ name: string, size: number }[]>} what a page loads at its start
 */
export async function packPage(folder, without = []) {
  await mkdir(folder, { recursive: true });
  await cp(join(sources, 'page.html'), join(folder, 'page.html'));
  await build({
    entryPoints: [join(sources, 'main.js')],
    outdir: folder,
    bundle: true,
    external: [`./${rendererName}`, './appview.js', './finding.js', './l10n/*'], // loaded when they are needed
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  });
  await cp(join(sources, rendererName), join(folder, rendererName)); // it is small already, and begins with its licences
  await build({
    entryPoints: [join(sources, 'apps/appview.js'), join(sources, 'adding/finding.js')],
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
    const file = join(folder, languages, name);
    const { code } = await transform(await readFile(join(sources, languages, name), 'utf8'), { minify: true });
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
  }
  const names = styles.filter((name) => !without.includes(name));
  for (const name of names) {
    const { code } = await transform(await readFile(join(sources, name), 'utf8'), { loader: 'css', minify: true });
    await writeFile(join(folder, name), code);
  }
  return Promise.all(
    ['page.html', 'main.js', ...names].map(async (name) => ({ name, size: (await stat(join(folder, name))).size })),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await packPage(process.argv[2] ?? join(webview, 'dist'));
  console.log(`${files.length} files, ${files.reduce((sum, { size }) => sum + size, 0)} bytes`);
}
