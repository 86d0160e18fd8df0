// An extension with an agent of its own, and no hub of its own: what a class that manages MCP servers does for it, by the
// API of McpHub. The types are those of @mcphub/vscode-api; here they are taken from the repository.
'use strict';
const vscode = require('vscode');

/**
 * @typedef {import('../../vscode/api.js').McpHubApi} McpHubApi
 * @typedef {import('../../vscode/api.js').McpHub} McpHub
 * @typedef {import('../../vscode/api.js').McpServer} McpServer
 * @typedef {import('../../vscode/api.js').McpTool} McpTool
 */

/** A tool as its server defines it. @type {(text: string) => { inputSchema?: unknown }} */
const read = JSON.parse;

/** The servers of the user, as an agent needs them: for its prompt, for its calls, and for its page. */
class Servers {
  /** @type {McpHub} */
  #mcphub;
  /** @type {vscode.EventEmitter<void>} */
  #changed = new vscode.EventEmitter();
  /** @type {{ dispose(): void }[]} */
  #listening;

  /** Fires when a page, or the prompt for the model, is to be made anew. */
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
    return new Servers((await extension.activate()).connect(context.extension), log);
  }

  /** Those that are there and not switched off. */
  async list() {
    return (await this.#mcphub.listServers()).filter(({ state }) => state !== 'disabled');
  }

  /** What a model is told of the tools of all servers; one that cannot be reached has none. */
  async describe() {
    const tools = (await this.#mcphub.listTools()).filter(({ policy }) => policy !== 'deny');
    return tools.map(({ server, name, description, definitionJson }) => {
      return { name: `${server}/${name}`, description, parameters: read(definitionJson).inputSchema };
    });
  }

  /**
   * One call of the model. Its task is one label: stop ends all of them.
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

  /** The user has stopped a task. The servers hear why. @param {string} task */
  stop(task) {
    return this.#mcphub.cancelAll({ label: task }, 'the user has stopped the task');
  }

  /** @param {string} server @param {string} uri */
  async read(server, uri) {
    return (await this.#mcphub.readResource({ server, uri })).resultJson;
  }

  /** @param {string} server */
  restart(server) {
    return this.#mcphub.restartServer(server, 'the user wants it anew');
  }

  /** @param {string} server @param {boolean} enabled */
  enable(server, enabled) {
    return this.#mcphub.setServerEnabled(server, enabled);
  }

  dispose() {
    this.#listening.forEach((one) => one.dispose());
    this.#changed.dispose();
  }
}

/** @param {vscode.ExtensionContext} context */
exports.activate = async (context) => {
  const output = vscode.window.createOutputChannel('Example Agent');
  const servers = await Servers.open(context, (line) => output.appendLine(line));
  let stopped = new AbortController();
  const run = async () => {
    const task = `task ${Date.now()}`;
    stopped = new AbortController();
    const { signal } = stopped;
    signal.addEventListener('abort', () => void servers.stop(task));
    output.appendLine(`${(await servers.list()).length} servers, ${(await servers.describe()).length} tools`);
    // What a model would want.
    const calls = [
      { name: 'demo/add_tool', arguments: { name: `added_${Date.now()}` } },
      { name: 'demo/long_task', arguments: { steps: 600, step_ms: 100 } },
      { name: 'demo/sleep', arguments: { seconds: 60, steps: 60 } },
    ];
    const ends = await Promise.allSettled(calls.map((c) => servers.call(task, c, signal, (t) => output.appendLine(t))));
    ends.forEach((end, i) =>
      output.appendLine(`${calls[i]?.name}: ${end.status === 'fulfilled' ? end.value.text : `no: ${end.reason}`}`),
    );
    output.appendLine('The task is over.');
  };
  context.subscriptions.push(
    output,
    servers,
    servers.onDidChange(() => output.appendLine('servers or tools have changed')),
    vscode.commands.registerCommand('exampleAgent.run', () =>
      run().catch((/** @type {unknown} */ e) => output.appendLine(String(e))),
    ),
    vscode.commands.registerCommand('exampleAgent.stop', () => stopped.abort('the user has stopped the task')),
    vscode.commands.registerCommand('exampleAgent.show', () => output.show()),
  );
};
