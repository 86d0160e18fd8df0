// Builds dist/extension.js, and copies the page to media/page when it is there. What a .vsix needs beyond that is package.mjs's.
import { cp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

/** Most bytes of the bundle: what the extension costs without its program and its page. */
export const bundleLimit = 250_000;

/** @returns {Promise<number>} size of the bundle in bytes */
export async function buildExtension() {
  const outfile = join(here, 'dist/extension.js');
  await build({
    entryPoints: [join(here, 'src/extension.ts')],
    tsconfig: join(here, 'tsconfig.json'),
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20', // what the oldest supported editor, 1.100, runs
    external: ['vscode'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  const { size } = await stat(outfile);
  if (size > bundleLimit) {
    throw new Error(`dist/extension.js has ${size} bytes, and ${bundleLimit} are allowed`);
  }
  return size;
}

/**
 * The page as it is, without its tests and without the colours that it brings for a browser: the editor has its own.
 *
 * @param {string} from
 * @returns {Promise<number>} size of the page in bytes
 */
export async function copyPage(from = join(here, '../webview')) {
  const to = join(here, 'media/page');
  await rm(to, { recursive: true, force: true });
  const names = (await readdir(from)).filter((name) => name === 'page.html' || (/\.(js|css)$/.test(name) && name !== 'theme.css'));
  if (!names.includes('page.html')) {
    return 0;
  }
  await mkdir(to, { recursive: true });
  let size = 0;
  for (const name of names) {
    await cp(join(from, name), join(to, name));
    size += (await stat(join(from, name))).size;
  }
  return size;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bundle = await buildExtension();
  const page = await copyPage(process.env['MCPHUB_PAGE'] ?? undefined);
  console.log(`dist/extension.js: ${bundle} of ${bundleLimit} bytes; ${page === 0 ? 'no page in ../webview' : `media/page: ${page} bytes`}`);
}
