// Runs all tests of the page in Chromium in one process, so that they share one browser. A single file of specs/ can
// also be run by itself.

import { after, test } from 'node:test';
import { readdir } from 'node:fs/promises';
import { collectTests, stop } from './harness/pagetest.js';

// A test mostly waits for another process, so two at a time keep two cores busy. Tests in real time run first, alone.
const atOnce = Number(process.env['MCPHUB_PAGE_TESTS'] ?? 2);

const collected = collectTests();
const specs = (await readdir(new URL('./specs/', import.meta.url))).filter((name) => name.endsWith('.spec.js')).sort();
for (const name of specs) await import(`./specs/${name}`);

after(stop);
for (const alone of [true, false]) {
  test(
    alone ? 'the page in Chromium, in real time' : 'the page in Chromium',
    { concurrency: alone ? 1 : atOnce },
    async (t) => {
      await Promise.all(
        collected.filter((one) => one.alone === alone).map(({ name, timeout, run }) => t.test(name, { timeout }, run)),
      );
    },
  );
}
