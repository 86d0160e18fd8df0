// Lets Node run the page's TypeScript: node --import ./test/harness/typescript.js

import { register } from 'node:module';

register('./typescripthooks.js', import.meta.url);
