// The demo server: the hub's own program as an MCP server, for users who have no server yet. It has no config file. The
// extension passes it to the hub as an inline source as long as the user wants it. So it always is the program of the
// current version, needs no launch consent (only this extension has written the entry), and leaves nothing behind when
// it is removed.
import * as vscode from 'vscode';
import type { ConfigFiles, InlineSource } from '../config/configfiles.js';
import type { HubProcess } from '../hub/hubprocess.js';

/** The name of the demo server in the hub. A server of that name in a file of the user takes precedence. */
export const demoName = 'mcphub-demo';

/** Takes the place of the file name in the hub. It is not a path, so no file can have the same name. */
export const demoFile = 'McpHub demo server';

const key = 'mcphub.demoServer';

/**
 * Returns the source that the hub reads. The two tools that the page's guide calls are allowed, since the user clicks a
 * button for each.
 */
export function demoSource(binary: string): InlineSource {
  const entry = {
    command: binary,
    args: ['demo-server'],
    era: 'legacy', // in this era servers send questions of their own, and can withdraw them
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

  /**
   * Returns the source of the demo server, if it is wanted. Its precedence is lower than that of all files, so it
   * replaces no server.
   */
  sources(): InlineSource[] {
    return this.wanted ? [demoSource(this.#process.binary)] : [];
  }

  /** Resolves when the server runs. */
  async add(configFiles: ConfigFiles): Promise<void> {
    await this.#set(true, configFiles);
    await this.#process.hub.servers.startServer({ server: demoName });
  }

  /**
   * Removes the server. Its calls are cancelled with a reason, as with every server that is removed from the config.
   */
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
