// Puts the types of @mcphub/host into api.d.ts, below what is the extension's own, so that the author of another
// extension needs this one file.
// usage: node apitypes.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const mark = '// From here on, this file is a copy of editors/host/src/api/mcphub.ts: npm run api -w vscode.\n';

/**
 * @param {string} own the present text of api.d.ts
 * @param {string} types that of mcphub.ts
 * @returns {string} what api.d.ts should be
 */
export function withTypes(own, types) {
  const [head = ''] = own.split(mark);
  return head + mark + types.slice(types.indexOf('\n\n') + 1); // without the comment about that file
}

export const apiFile = join(import.meta.dirname, 'api.d.ts');
export const typesFile = join(import.meta.dirname, '../host/src/api/mcphub.ts');

if (process.argv[1] === import.meta.filename) {
  writeFileSync(apiFile, withTypes(readFileSync(apiFile, 'utf8'), readFileSync(typesFile, 'utf8')));
}
