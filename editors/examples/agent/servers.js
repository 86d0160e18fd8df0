// The class that manages the MCP servers of an extension with an agent. It has no hub of its own and uses the API of
// McpHub. The types are those of @mcphub/vscode-api; here they are taken from the repository.
'use strict';
const vscode = require('vscode');

/**
 * @typedef {import('../../vscode/api.js').McpHubApi} McpHubApi
 * @typedef {import('../../vscode/api.js').McpHub} McpHub
 * @typedef {import('../../vscode/api.js').McpServer} McpServer
 * @typedef {import('../../vscode/api.js').McpServerName} McpServerName
 */

/** Parses a tool's definition. @type {(text: string) => { inputSchema?: unknown }} */
const read = JSON.parse;

/** The servers of the user, for an agent's prompt, its calls and its page. */
class Servers {
  /** @type {McpHub} */
  #mcphub;
  /** @type {vscode.EventEmitter<void>} */
  #changed = new vscode.EventEmitter();
  /** @type {{ dispose(): void }[]} */
  #listening;

  /** Fires when a page, or the prompt for the model, has to be made again. */
  onDidChange = this.#changed.event;

  /** @param {McpHub} mcphub @param {(line: string) => void} log */
  constructor(mcphub, log) {
    this.#mcphub = mcphub;
    this.#listening = [
      mcphub.onDidChangeServers(() => this.#changed.fire()),
      mcphub.onDidChangeTools(() => this.#changed.fire()),
      mcphub.onDidLog(({ server, level, dataJson }) => {
        if (level === 'error' || level === 'warning') log(`${server} ${level} ${dataJson}`);
      }),
    ];
  }

  /** @param {vscode.ExtensionContext} context @param {(line: string) => void} log */
  static async open(context, log) {
    /** @type {vscode.Extension<McpHubApi> | undefined} */
    const extension = vscode.extensions.getExtension('mcphub.mcphub');
    if (extension === undefined) throw new Error('The extension McpHub (mcphub.mcphub) is not installed.');
    const mcphub = (await extension.activate()).connect(context.extension);
    await mcphub.ready(); // from now on `servers` says what there is
    return new Servers(mcphub, log);
  }

  /** All configured servers of all sources. It asks nobody, and is as new as the last change. */
  get all() {
    return this.#mcphub.servers;
  }

  /** The servers that are not disabled. */
  get list() {
    return this.all.filter(({ state }) => state !== 'disabled');
  }

  /**
   * Returns what a model is told about the tools of all servers. Tools that are denied or only for views are left out,
   * and a server that cannot be reached has none.
   */
  async describe() {
    const tools = (await this.#mcphub.tools()).filter(
      ({ policy, hiddenFromModels }) => policy !== 'deny' && !hiddenFromModels,
    );
    return tools.map(({ server, name, description, definitionJson }) => {
      return { name: `${server}/${name}`, description, parameters: read(definitionJson).inputSchema };
    });
  }

  /**
   * Makes one call of the model. The task is the label of all its calls, so that stop can end them all.
   *
   * @param {string} task
   * @param {{ name: string, arguments: Record<string, unknown> }} call
   * @param {AbortSignal} signal
   * @param {(text: string) => void} report
   */
  async call(task, { name, arguments: given }, signal, report) {
    const [server = '', ...rest] = name.split('/');
    const result = await this.#mcphub.callTool({
      server,
      tool: rest.join('/'),
      arguments: given,
      label: task,
      signal,
      onProgress: ({ progress, total, message }) => report(`${progress}${total ? ` of ${total}` : ''} ${message}`),
    });
    return { text: result.resultJson, failed: result.isError };
  }

  /** Cancels all calls of a task that the user has stopped. The servers get the reason. @param {string} task */
  stop(task) {
    return this.#mcphub.cancelRequests({ label: task }, 'the user has stopped the task');
  }

  /** @param {McpServerName} server @param {string} uri */
  async read(server, uri) {
    return (await this.#mcphub.readResource({ server, uri })).resultJson;
  }

  /** @param {McpServerName} server */
  restart(server) {
    return this.#mcphub.restartServer(server, 'the user wants it anew');
  }

  /**
   * Writes into the user's file. The server starts once the user has agreed to it.
   *
   * @param {string} name
   * @param {string} entry
   */
  add(name, entry) {
    return this.#mcphub.addServer({ name, entry, source: 'user' });
  }

  /** Changes the config file, as the methods below do. @param {McpServerName} server @param {boolean} enabled */
  enable(server, enabled) {
    return this.#mcphub.updateServer(server, { enabled });
  }

  /** @param {McpServerName} server @param {string} tool @param {boolean} allowed */
  alwaysAllow(server, tool, allowed) {
    return this.#mcphub.updateServer(server, { alwaysAllow: { [tool]: allowed } });
  }

  /** @param {McpServerName} server @param {number} seconds */
  setTimeout(server, seconds) {
    return this.#mcphub.updateServer(server, { timeouts: { totalMs: seconds * 1000 } });
  }

  /** @param {McpServerName} server */
  remove(server) {
    return this.#mcphub.removeServer(server);
  }

  dispose() {
    this.#listening.forEach((one) => one.dispose());
    this.#changed.dispose();
  }
}

module.exports = { Servers };
