// Finds the config files, and tells the hub which to read: at each start of a hub, and whenever folders, trust, settings or the set of files change.
// Changes inside of a file are the hub's own business: it watches them.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { Hub } from '@mcphub/host';
import { awaited, configSources, editorFileNames, parsePlaces, unusable, type Discover, type Place } from './configsources.js';
import { describe, setting, type HubProcess } from './hubprocess.js';
import type { Output } from './output.js';

const run = promisify(execFile);

export class ConfigFiles implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #process: HubProcess;
  readonly #output: Output;
  readonly #disposables: vscode.Disposable[] = [];
  #watchers: vscode.Disposable[] = [];
  #places: Promise<Place[]> | undefined; // of the present folders and program
  #reading: Promise<void> = Promise.resolve();
  #wanted = 0; // readings asked for and not begun

  constructor(context: vscode.ExtensionContext, process: HubProcess, output: Output) {
    this.#context = context;
    this.#process = process;
    this.#output = output;
    const anew = (): void => {
      this.#places = undefined;
      void this.reload();
    };
    this.#disposables.push(
      process.onDidChangeState(({ state }) => {
        if (state === 'ready') {
          void this.reload();
        }
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(anew),
      vscode.workspace.onDidGrantWorkspaceTrust(anew),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('mcphub')) {
          anew();
        }
      }),
    );
    this.#places = this.#find(); // beside the start of the hub, which takes as long
    this.#places.catch(() => undefined); // told when it is used
  }

  /** Has the config read anew. Of several wishes while one is being fulfilled, one is left. */
  reload(): Promise<void> {
    this.#wanted++;
    this.#reading = this.#reading.then(async () => {
      if (this.#wanted === 0) {
        return;
      }
      this.#wanted = 0;
      await this.#tell(this.#process.hub);
    });
    return this.#reading;
  }

  /** Resolves when no reading is under way. A hub that is ready is told its config at once, so until then it knows no server. */
  get read(): Promise<void> {
    return this.#reading;
  }

  dispose(): void {
    vscode.Disposable.from(...this.#disposables, ...this.#watchers).dispose();
  }

  async #tell(hub: Hub): Promise<void> {
    if (this.#process.standing.state !== 'ready') {
      return; // told when it is
    }
    try {
      const places = await this.#present(await this.#known());
      const folders = localFolders();
      const extra = setting<string[]>('configFiles', []);
      const home = homedir();
      const editorFiles = await Promise.all(this.#editorFiles().map(async (file) => ({ file, exists: await isFile(file) })));
      const trusted = vscode.workspace.isTrusted;
      const sources = configSources({ places, folders, trusted, discover: setting<Discover>('discover', 'all'), editorFiles, extra, home });
      for (const name of unusable(extra, home)) {
        this.#output.hub.warn(`mcphub.configFiles: ${name} is no absolute path and is not read`);
      }
      const where = `${folders.length === 1 ? '1 folder' : `${folders.length} folders`}, ${trusted ? 'trusted' : 'not trusted'}`;
      this.#output.hub.info(`config files (${where}): ${sources.length === 0 ? 'none' : sources.map((s) => s.path).join(', ')}`);
      // An empty list would mean: the same as last time.
      const nothing = { path: 'no config file', json: '{"mcpServers":{}}', scope: 'host' };
      await hub.servers.reloadConfig({ sources: sources.length === 0 ? [nothing] : sources });
    } catch (error) {
      this.#output.hub.error(`The config could not be read: ${describe(error)}`);
    }
  }

  /** Without the places there are still the files that the user named. */
  async #known(): Promise<Place[]> {
    try {
      return await (this.#places ??= this.#find());
    } catch (error) {
      this.#places = undefined;
      this.#output.hub.warn(`Config files of the workspace and of other applications are not looked for: ${describe(error)}`);
      return [];
    }
  }

  // The program knows where applications keep their servers; it is asked once for each folder.
  async #find(): Promise<Place[]> {
    const folders = localFolders();
    this.#watch([], folders);
    const { binary } = this.#process;
    const asked = folders.length === 0 ? [undefined] : folders;
    const lists = await Promise.all(
      asked.map(async (folder) => {
        const { stdout } = await run(binary, ['config', 'places', '--json', ...(folder === undefined ? [] : ['--folder', folder])], {
          cwd: homedir(), timeout: 10_000, maxBuffer: 1 << 20, windowsHide: true,
        });
        return parsePlaces(stdout);
      }),
    );
    const places = lists.flat();
    this.#watch(places, folders);
    return places;
  }

  // What was there when the program was asked may have changed since.
  #present(places: readonly Place[]): Promise<Place[]> {
    return Promise.all(places.map(async (p) => ({ ...p, exists: await isFile(p.file) })));
  }

  /** Watches for files that come and go. A workspace that is not trusted is not looked at. */
  #watch(places: readonly Place[], folders: readonly string[]): void {
    vscode.Disposable.from(...this.#watchers).dispose();
    const reload = (): void => void this.reload();
    const watch = (base: string, glob: string): vscode.Disposable => {
      const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(vscode.Uri.file(base), glob), false, true, false);
      return vscode.Disposable.from(watcher, watcher.onDidCreate(reload), watcher.onDidDelete(reload));
    };
    this.#watchers = this.#editorFiles().map((file) => watch(path.dirname(file), path.basename(file)));
    for (const folder of vscode.workspace.isTrusted ? folders : []) {
      const names = awaited(places, folder);
      if (names.length > 0) {
        this.#watchers.push(watch(folder, `{${names.join(',')}}`));
      }
    }
  }

  #editorFiles(): string[] {
    return editorFileNames(this.#context.globalStorageUri.fsPath);
  }
}

function localFolders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((f) => f.uri.scheme === 'file').map((f) => f.uri.fsPath);
}

async function isFile(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined))?.isFile() === true;
}
