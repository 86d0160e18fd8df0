// Finds the config files and tells the hub which ones to read: at each start of a hub, and whenever folders, trust,
// settings or the set of files change. The hub itself watches for changes of their content.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { Hub } from '@mcphub/host/contract';
import {
  awaited,
  configSources,
  editorFileNames,
  editorPolicy,
  parsePlaces,
  policySetting,
  unusable,
  type Discover,
  type Place,
} from './configsources.js';
import { describe, setting, type HubProcess } from '../hub/hubprocess.js';
import type { Output } from '../log/output.js';

/** A ConfigSource of the contract that has no file. */
export interface InlineSource {
  readonly path: string;
  readonly json: string;
  readonly scope: 'host';
}

const run = promisify(execFile);

/** The places that the program reports for these folders. */
interface Found {
  readonly asked: string; // everything on which the answer depends
  readonly folders: readonly string[];
  readonly places: Promise<Place[]>;
}

/**
 * The time limit of a reload, in which the hub reads the files and stops servers whose entries have changed. A hub that
 * needs longer must not block every command.
 */
const readingLimitMs = 60_000;

export class ConfigFiles implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #process: HubProcess;
  readonly #output: Output;
  readonly #own: () => readonly InlineSource[];
  readonly #disposables: vscode.Disposable[] = [];
  #watchers: vscode.Disposable[] = [];
  #found: Found | undefined;
  #trouble: Error | undefined; // the error of the last reading
  #disposed = false;
  #reading: Promise<void> = Promise.resolve();
  #wanted = 0; // number of readings that were asked for and have not begun

  /** `own` returns sources that have no file. Their precedence is lower than that of all files. */
  constructor(
    context: vscode.ExtensionContext,
    process: HubProcess,
    output: Output,
    own: () => readonly InlineSource[] = () => [],
  ) {
    this.#own = own;
    this.#context = context;
    this.#process = process;
    this.#output = output;
    const anew = (): void => {
      this.#look(); // in parallel with the hub's work
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
        } else if (change.affectsConfiguration(policySetting)) {
          void this.reload();
        }
      }),
    );
    this.#look(); // in parallel with the start of the hub, which takes as long
  }

  /**
   * Makes the hub read the config again. Calls that come while a reading is in progress are served by one further
   * reading.
   */
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

  /** Does the same, and rejects if the hub has not read the config. */
  async reloadNow(): Promise<void> {
    await this.reload();
    if (this.#trouble !== undefined) {
      throw this.#trouble;
    }
  }

  /**
   * Resolves when no reading is in progress. A reading begins as soon as a hub is ready; before its end the hub has no
   * servers.
   */
  get read(): Promise<void> {
    return this.#reading;
  }

  /**
   * Returns the files that a person may want to open: those of this editor and of the folders, which need not exist
   * yet, and the existing ones of other applications.
   */
  async files(): Promise<{ ours: { file: string; exists: boolean }[]; others: Place[] }> {
    const found = this.#look();
    const names = [
      ...this.#editorFiles().slice(-1),
      ...found.folders.flatMap((folder) => [path.join(folder, '.vscode', 'mcp.json'), path.join(folder, '.mcp.json')]),
    ];
    const ours = await Promise.all(names.map(async (file) => ({ file, exists: await isFile(file) })));
    const present = (await this.#present(await this.#known(found))).filter((p) => p.exists);
    const others = new Map(present.filter((p) => !names.includes(p.file)).map((p) => [p.file, p]));
    return { ours, others: [...others.values()] };
  }

  dispose(): void {
    this.#disposed = true;
    vscode.Disposable.from(...this.#disposables, ...this.#watchers).dispose();
  }

  async #tell(hub: Hub): Promise<void> {
    if (this.#process.standing.state !== 'ready') {
      this.#trouble = new Error(
        'McpHub is not running. It reads the config when it starts. See the log, or run “McpHub: Restart McpHub”.',
      );
      return;
    }
    this.#trouble = undefined;
    try {
      const found = this.#look();
      const { folders } = found;
      const places = await this.#present(await this.#known(found));
      const extra = setting<unknown[]>('configFiles', []).filter((name) => typeof name === 'string');
      const home = homedir();
      const editorFiles = await Promise.all(
        this.#editorFiles().map(async (file) => ({ file, exists: await isFile(file) })),
      );
      const trusted = vscode.workspace.isTrusted;
      const ofFiles = configSources({
        places,
        folders,
        trusted,
        discover: setting<Discover>('discover', 'all'),
        editorFiles,
        extra,
        home,
      });
      const sources = [...this.#own(), ...ofFiles];
      for (const name of unusable(extra, home)) {
        this.#output.hub.warn(`mcphub.configFiles: ${name} is no absolute path and is not read`);
      }
      const where = `${folders.length === 1 ? '1 folder' : `${folders.length} folders`}, ${trusted ? 'trusted' : 'not trusted'}`;
      const there = ofFiles.filter((s) => s.mayBeMissing !== true);
      this.#output.hub.info(
        `config files (${where}): ${there.length === 0 ? 'none' : there.map((s) => s.path).join(', ')}`,
      );
      // An empty list would mean: the same sources as last time.
      const nothing = { path: 'no config file', json: '{"mcpServers":{}}', scope: 'host' };
      await hub.servers.reloadConfig(
        {
          sources: sources.length === 0 ? [nothing] : sources,
          managedPolicy: editorPolicy(vscode.workspace.getConfiguration().get(policySetting), vscode.env.appName),
        },
        { timeoutMs: readingLimitMs },
      );
    } catch (error) {
      this.#trouble = new Error(`The config could not be read: ${describe(error)}`, { cause: error });
      this.#output.hub.error(this.#trouble.message);
    }
  }

  /** Returns the known places. If they cannot be found, the files that the user named are still read. */
  async #known({ places }: Found): Promise<Place[]> {
    try {
      return await places;
    } catch (error) {
      this.#output.hub.warn(
        `Config files of the workspace and of other applications are not looked for: ${describe(error)}. “McpHub: Reload Config” tries again.`,
      );
      return [];
    }
  }

  /**
   * Returns the places of the current folders, and asks for them only if the folders, the program or the trust have
   * changed.
   */
  #look(): Found {
    const folders = localFolders();
    const { binary } = this.#process;
    const asked = JSON.stringify([binary, folders, vscode.workspace.isTrusted]);
    if (this.#found?.asked === asked) {
      return this.#found;
    }
    const found: Found = { asked, folders, places: placesOf(binary, folders) };
    this.#found = found;
    this.#watch([], folders);
    found.places.then(
      (places) => {
        if (this.#found === found) {
          this.#watch(places, folders);
        }
      },
      () => {
        // the user of the promise reports the error; the next reading asks again
        if (this.#found === found) {
          this.#found = undefined;
        }
      },
    );
    return found;
  }

  // Files may have come or gone since the program was asked.
  #present(places: readonly Place[]): Promise<Place[]> {
    return Promise.all(places.map(async (p) => ({ ...p, exists: await isFile(p.file) })));
  }

  /** Watches for files that are created or deleted. Folders of an untrusted workspace are not watched. */
  #watch(places: readonly Place[], folders: readonly string[]): void {
    if (this.#disposed) {
      return;
    }
    vscode.Disposable.from(...this.#watchers).dispose();
    const reload = (): void => void this.reload();
    const watch = (base: string, glob: string): vscode.Disposable => {
      const watcher = vscode.workspace.createFileSystemWatcher(
        new vscode.RelativePattern(vscode.Uri.file(base), glob),
        false,
        true,
        false,
      );
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

// Asks the program, which knows where applications keep their servers, once for each folder.
async function placesOf(binary: string, folders: readonly string[]): Promise<Place[]> {
  const asked = folders.length === 0 ? [undefined] : folders;
  const lists = await Promise.all(
    asked.map(async (folder) => {
      const { stdout } = await run(
        binary,
        ['config', 'places', '--json', ...(folder === undefined ? [] : ['--folder', folder])],
        {
          cwd: homedir(),
          timeout: 10_000,
          maxBuffer: 1 << 20,
          windowsHide: true,
        },
      );
      return parsePlaces(stdout);
    }),
  );
  return lists.flat();
}

// Reports false only if the file certainly does not exist. If a file cannot be accessed, the hub reports why.
async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch (error) {
    return !(error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'));
  }
}
