// The demo server: the hub's own program as an MCP server, for those who have none yet. It stands in no file. The
// extension gives it to the hub as a source of its own, for as long as the user wants it: so it is the program of this
// version after each update, needs no launch consent (nobody but this extension has written it), and goes without a
// trace.
import * as vscode from 'vscode';
import type { ConfigFiles, InlineSource } from '../config/configfiles.js';
import type { HubProcess } from '../hub/hubprocess.js';

/** Its name in the hub. A server of that name in a file of the user takes its place. */
export const demoName = 'mcphub-demo';

/** What stands for a file in the hub: no path, so no file can pass for it. */
export const demoFile = 'McpHub demo server';

const key = 'mcphub.demoServer';

/** What the hub reads of it. The two tools that the page's guide calls are allowed: the user clicks on each by name. */
export function demoSource(binary: string): InlineSource {
  const entry = {
    command: binary,
    args: ['demo-server'],
    era: 'legacy', // in which servers send questions of their own, and can withdraw them
    alwaysAllow: ['sleep', 'ask_then_withdraw'],
  };
  return { path: demoFile, json: JSON.stringify({ mcpServers: { [demoName]: entry } }), scope: 'host' };
}

export class DemoServer {
  readonly #wanted: vscode.Memento;
  readonly #process: HubProcess;

  constructor(wanted: vscode.Memento, process: HubProcess) {
    this.#wanted = wanted;
    this.#process = process;
    this.#tell();
  }

  get wanted(): boolean {
    return this.#wanted.get(key) === true;
  }

  /** Weaker than all files: it must take nobody's name away. */
  sources(): InlineSource[] {
    return this.wanted ? [demoSource(this.#process.binary)] : [];
  }

  /** Resolves when it runs. */
  async add(configFiles: ConfigFiles): Promise<void> {
    await this.#set(true, configFiles);
    await this.#process.hub.servers.startServer({ server: demoName });
  }

  /** Its calls are cancelled, and told why, as with every server that goes from the config. */
  async remove(configFiles: ConfigFiles): Promise<void> {
    await this.#set(false, configFiles);
  }

  async #set(wanted: boolean, configFiles: ConfigFiles): Promise<void> {
    await this.#wanted.update(key, wanted ? true : undefined);
    this.#tell();
    await configFiles.reloadNow();
  }

  #tell(): void {
    void vscode.commands.executeCommand('setContext', 'mcphub.demo', this.wanted);
  }
}
