// The page as a host ships it: the same files under the same names, each by itself without comments and blanks. Nothing is bundled: what is written
// runs as it is, and this only makes it small.
//
// As a program: node pack.js FOLDER, by default editors/webview/dist.

import { transform } from 'esbuild';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sources = fileURLToPath(new URL('..', import.meta.url));

/** Most bytes of the page as it is shipped: html, css and js together. */
export const pageLimit = 120 * 1024;

/**
 * @param {string} folder that it is written to
 * @param {string[]} [without] files that this host does not need
 * @returns {Promise<{ name: string, size: number }[]>}
 */
export async function packPage(folder, without = []) {
  await mkdir(folder, { recursive: true });
  const names = (await readdir(sources)).filter((name) => /\.(html|css|js)$/.test(name) && !without.includes(name));
  return Promise.all(
    names.map(async (name) => {
      const written = await readFile(join(sources, name), 'utf8');
      const kind = extname(name).slice(1);
      const small =
        kind === 'html' ? written : (await transform(written, { loader: kind === 'css' ? 'css' : 'js', minify: true, target: 'es2022' })).code;
      await writeFile(join(folder, name), small);
      return { name, size: Buffer.byteLength(small) };
    }),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await packPage(process.argv[2] ?? join(sources, 'dist'));
  console.log(`${files.length} files, ${files.reduce((sum, { size }) => sum + size, 0)} bytes`);
}
