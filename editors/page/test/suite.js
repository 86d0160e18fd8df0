// Runs tests of the page in Chromium in one process, so that they share one browser. A single file of specs/ can also
// be run by itself.

import { after, test } from 'node:test';
import { readdir } from 'node:fs/promises';
import { collectTests, stop } from './harness/pagetest.js';

// A test mostly waits for another process, so it takes three at a time to keep two cores busy.
const atOnce = Number(process.env['MCPHUB_PAGE_TESTS'] ?? 3);

/**
 * Defines the tests of some files of specs/.
 *
 * @param {string} title
 * @param {(file: string) => boolean} files
 * @param {(main: boolean) => boolean} wanted
 */
export async function suite(title, files, wanted) {
  const collected = collectTests();
  const names = await readdir(new URL('./specs/', import.meta.url));
  for (const name of names.filter(files).sort()) await import(`./specs/${name}`);
  after(stop);
  test(title, { concurrency: atOnce }, async (t) => {
    await Promise.all(collected.filter(({ main }) => wanted(main)).map(({ name, run }) => t.test(name, run)));
  });
}

/** Tells the files that need neither a process nor an idle machine. @param {string} name */
export const plain = (name) => !/\.(real|nightly)\./.test(name);
