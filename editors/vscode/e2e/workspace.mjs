import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Journal } from './journal.mjs';
import { allProcesses, isHub, lineage } from './processes.mjs';
import { readJson } from './readjson.mjs';

/**
 * A workspace folder of a test. The demo servers of its config write their journal into the folder, so each folder has
 * its own.
 */
export class Workspace {
  /** @param {string} parent */
  constructor(parent) {
    this.folder = mkdtempSync(join(parent, 'folder-'));
    this.journal = new Journal(join(this.folder, 'journal.jsonl'));
    writeFileSync(join(this.folder, 'hello.txt'), 'hello\n');
  }

  /**
   * The messages that the hub has written to the demo servers of this folder.
   *
   * @typedef {{ name?: string, requestId?: unknown, reason?: string }} WireParams
   * @typedef {object} WireMessage
   * @property {unknown} [id]
   * @property {string} [method]
   * @property {WireParams} [params]
   * @property {{ action?: string }} [result]
   * @property {object} [error]
   * @returns {WireMessage[]}
   */
  wire() {
    return readFileSync(join(this.folder, 'wire.jsonl'), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => /** @type {WireMessage} */ (readJson(line)));
  }

  /** The messages among them that answer a request of a demo server. */
  answers() {
    return this.wire().filter((message) => message.method === undefined);
  }

  /**
   * Writes the file with the calls that the other extension is to make.
   *
   * @param {{server: string, tool: string, arguments: object}[]} calls
   */
  plan(calls) {
    writeFileSync(join(this.folder, 'plan.json'), JSON.stringify(calls));
  }

  /**
   * Writes the workspace's own config file, as it could come with a cloned repository.
   *
   * @param {Record<string, object>} servers
   * @param {object[]} [inputs]
   */
  brings(servers, inputs = []) {
    this.#write('mcp.json', { inputs, servers });
  }

  /**
   * Writes a config file of another application, for which the editor has no lenses of its own.
   *
   * @param {Record<string, object>} servers
   */
  bringsOfOthers(servers) {
    mkdirSync(join(this.folder, '.cursor'), { recursive: true });
    writeFileSync(join(this.folder, '.cursor/mcp.json'), JSON.stringify({ mcpServers: servers }, null, 2));
  }

  /** @param {object} settings those of the workspace, which come with it as well */
  sets(settings) {
    this.#write('settings.json', settings);
  }

  /**
   * @param {string} name
   * @param {object} content
   */
  #write(name, content) {
    mkdirSync(join(this.folder, '.vscode'), { recursive: true });
    writeFileSync(join(this.folder, '.vscode', name), JSON.stringify(content, null, 2));
  }
}

/**
 * The demo server as a config entry. It uses the legacy era, in which servers send requests and can withdraw them. What
 * the hub writes to it is recorded byte for byte, because the journal does not show an answer that the server ignored.
 *
 * @param {string} binary
 */
export function demoServer(binary) {
  return {
    type: 'stdio',
    era: 'legacy',
    command: 'sh',
    args: [
      '-c',
      'tee -a "$1/wire.jsonl" | "$2" demo-server --record "$1/journal.jsonl"',
      'sh',
      '${workspaceFolder}',
      binary,
    ],
  };
}

/**
 * The demo servers that run for a folder, in all of its windows.
 *
 * @param {Workspace} workspace
 */
export function demoServersOf({ folder }) {
  return allProcesses().filter(
    ({ command }) =>
      /\/mcphub demo-server --record /.test(command) && command.includes(`${folder}/`) && !command.startsWith('sh '),
  );
}

/** @param {import('./processes.mjs').Process} server */
export function hubOfServer(server) {
  const hub = lineage(server.pid).find(isHub);
  if (hub === undefined) throw new Error(`no hub is above process ${server.pid}: ${server.command}`);
  return hub;
}

/**
 * The hub of a folder that has only one window.
 *
 * @param {Workspace} workspace
 */
export function hubOf(workspace) {
  const [server, ...more] = demoServersOf(workspace);
  if (server === undefined || more.length > 0)
    throw new Error(
      `${more.length + (server === undefined ? 0 : 1)} demo servers run for ${workspace.folder}, wanted one`,
    );
  return hubOfServer(server);
}
