import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Journal } from './journal.mjs';

/**
 * A workspace folder of a test. The demo server of any config writes its journal beside the files, so each folder has its own.
 */
export class Workspace {
  /** @param {string} parent */
  constructor(parent) {
    this.folder = mkdtempSync(join(parent, 'folder-'));
    this.journal = new Journal(join(this.folder, 'journal.jsonl'));
    writeFileSync(join(this.folder, 'hello.txt'), 'hello\n');
  }

  /**
   * Writes the folder's own config, as it would come with somebody's repository.
   *
   * @param {Record<string, object>} servers
   */
  brings(servers) {
    mkdirSync(join(this.folder, '.vscode'), { recursive: true });
    writeFileSync(join(this.folder, '.vscode/mcp.json'), JSON.stringify({ servers }, null, 2));
  }
}

/**
 * The demo server as a config entry. It is held to the legacy era, in which servers send requests of their own and can withdraw them.
 *
 * @param {string} binary
 * @returns {{type: 'stdio', command: string, args: string[], era: 'legacy'}}
 */
export function demoServer(binary) {
  return { type: 'stdio', command: binary, args: ['demo-server', '--record', '${workspaceFolder}/journal.jsonl'], era: 'legacy' };
}
