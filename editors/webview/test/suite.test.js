// All tests of the page in Chromium: in one process, so that they share one browser. A single file of specs/ can be run by itself, too.

import { readdir } from 'node:fs/promises';

const specs = (await readdir(new URL('./specs/', import.meta.url))).filter((name) => name.endsWith('.spec.js')).sort();
for (const name of specs) await import(`./specs/${name}`);
