// Makes src/gen/markdown.js, the only part of the page that others wrote: the parser of markdown-it in one file, with
// the licences of everything in it. The page loads it when there is markdown to show.
//
// As a program: node pack/renderer.js writes the file again.

import { build } from 'esbuild';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { notices } from '../../vscode/notices.mjs';

const page = fileURLToPath(new URL('..', import.meta.url));

/** The path of the file in the sources of the page. */
export const rendererName = 'gen/markdown.js';

// The parser accepts no HTML, makes no typographic changes, and makes links only where the author has written one. It
// returns tokens. The page itself makes elements of them.
const entry = `import MarkdownIt from 'markdown-it';
const markdown = new MarkdownIt('default', { html: false, linkify: false, typographer: false });
export const parse = (text) => markdown.parse(text, {});`;

/** Returns the text of the file. */
export async function renderer() {
  const { outputFiles, metafile } = await build({
    stdin: { contents: entry, resolveDir: page, sourcefile: 'entry.js' },
    absWorkingDir: page,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none', // the notices have them
    charset: 'ascii',
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
  const licences = (await notices(metafile, page)).replace('The extension', 'It').replaceAll('*/', '* /');
  return `/*! Made by pack/renderer.js; not to be edited.\n\n${licences}*/\n${outputFiles[0]?.text ?? ''}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeFile(join(page, 'src', rendererName), await renderer());
}
