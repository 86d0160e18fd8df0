// Builds dist/extension.js, and puts the page into media/page. What a .vsix needs beyond that is package.mjs's.
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { packPage, pageLimit } from '../page/pack/pack.js';
import { notices } from './notices.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/** Most bytes of the bundle: what the extension costs without its program and its page. */
export const bundleLimit = 860_000;

/** @returns {Promise<{ size: number, contains: string }>} its bytes, and the licences of what others wrote in it */
export async function buildExtension() {
  const outfile = join(here, 'dist/extension.js');
  const { metafile } = await build({
    absWorkingDir: here,
    entryPoints: [join(here, 'src/extension.ts')],
    tsconfig: join(here, 'tsconfig.json'),
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    define: { 'import.meta.url': 'undefined' }, // as CommonJS has none; the host package then asks for __filename
    target: 'node20', // what the oldest supported editor, 1.100, runs
    external: ['vscode'],
    legalComments: 'none', // notices has them, once each
    logLevel: 'warning',
    metafile: true,
  });
  const { size } = await stat(outfile);
  if (size > bundleLimit) {
    throw new Error(`dist/extension.js has ${size} bytes, and ${bundleLimit} are allowed`);
  }
  return { size, contains: await notices(metafile, here) };
}

/**
 * The page, without the colours that it brings for a browser: the editor has its own.
 *
 * @returns {Promise<number>} size of the page in bytes
 */
export async function shipPage() {
  const to = join(here, 'media/page');
  const files = await packPage(to, ['theme.css']);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > pageLimit) {
    throw new Error(`the page has ${size} bytes, and ${pageLimit} are allowed`);
  }
  return size;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { size: bundle } = await buildExtension();
  const page = await shipPage();
  console.log(`dist/extension.js: ${bundle} of ${bundleLimit} bytes; media/page: ${page} of ${pageLimit} bytes`);
}
