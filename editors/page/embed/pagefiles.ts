// The files of the page as they are served.
import { readFile, readdir } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One file of the page, as an answer to a request for it. */
export interface PageFile {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: Buffer;
}

/** The types of files that are served. page.html is a template, and no page asks for another file. */
const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Returns the folder of the page in this package. A bundle has no such folder: copy the folder, and name the copy. */
export function pageFolder(): string {
  return fileURLToPath(new URL('../dist', import.meta.url));
}

/**
 * Reads all files that the page asks for, by their names after `base` of the page, `l10n/de.js` say. So no name in a
 * request reaches a file system. Rejects if the folder cannot be read.
 */
export async function pageFiles(folder: string = pageFolder()): Promise<ReadonlyMap<string, PageFile>> {
  const files = new Map<string, PageFile>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const type = contentTypes[extname(entry.name)];
    if (entry.isFile() && type !== undefined) {
      files.set(relative(folder, path).replaceAll(sep, '/'), {
        headers: {
          'Content-Type': type,
          'X-Content-Type-Options': 'nosniff',
          // A frame without an origin loads its modules as another origin. They hold no secret.
          'Access-Control-Allow-Origin': '*',
        },
        text: await readFile(path),
      });
    }
  }
  return files;
}
