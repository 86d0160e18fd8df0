// Finds the config files, and tells the hub which to read: at each start of a hub, and whenever folders, trust,
// settings or the set of files change. Changes inside of a file are the hub's own business: it watches them.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { Hub } from '@mcphub/host';
import {
  awaited,
  configSources,
  editorFileNames,
  parsePlaces,
  unusable,
  type Discover,
  type Place,
  type Source,
} from './configsources.js';
import { describe, setting, type HubProcess } from '../hub/hubprocess.js';
import type { Output } from '../log/output.js';

/** A ConfigSource of the contract that stands in no file. */
export interface InlineSource {
  readonly path: string;
  readonly json: string;
  readonly scope: 'host';
}

const run = promisify(execFile);

/** What the program says of the places of these folders. */
interface Found {
  readonly asked: string; // all that the answer depends on
  readonly folders: readonly string[];
  readonly places: Promise<Place[]>;
}

/**
 * The hub reads files and stops what is run differently now; a hub that needs longer must not hold up every command.
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
  #trouble: Error | undefined; // of the last reading
  #sources: readonly Source[] = [];
  #disposed = false;
  #reading: Promise<void> = Promise.resolve();
  #wanted = 0; // readings asked for and not begun

  /** `own` are sources that stand in no file, weaker than all that do. */
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
      this.#look(); // beside what the hub may be doing
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
    this.#look(); // beside the start of the hub, which takes as long
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

  /** The same for who wants to hear of it: rejects when the hub has not read the config. */
  async reloadNow(): Promise<void> {
    await this.reload();
    if (this.#trouble !== undefined) {
      throw this.#trouble;
    }
  }

  /**
   * Resolves when no reading is under way. A hub that is ready is told its config at once, so until then it knows no
   * server.
   */
  get read(): Promise<void> {
    return this.#reading;
  }

  /** The files that the hub was told to read last, the weakest first. */
  get sources(): readonly Source[] {
    return this.#sources;
  }

  /**
   * The files that a person may want to open: those of this editor and of the folders, which need not be there yet, and
   * those that other applications have.
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
        'McpHub does not run: the config is read as soon as it does. See the log, or run “McpHub: Restart McpHub”.',
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
      this.#sources = ofFiles;
      const sources = [...this.#own(), ...ofFiles];
      for (const name of unusable(extra, home)) {
        this.#output.hub.warn(`mcphub.configFiles: ${name} is no absolute path and is not read`);
      }
      const where = `${folders.length === 1 ? '1 folder' : `${folders.length} folders`}, ${trusted ? 'trusted' : 'not trusted'}`;
      const there = ofFiles.filter((s) => s.mayBeMissing !== true);
      this.#output.hub.info(
        `config files (${where}): ${there.length === 0 ? 'none' : there.map((s) => s.path).join(', ')}`,
      );
      // An empty list would mean: the same as last time.
      const nothing = { path: 'no config file', json: '{"mcpServers":{}}', scope: 'host' };
      await hub.servers.reloadConfig(
        { sources: sources.length === 0 ? [nothing] : sources },
        { timeoutMs: readingLimitMs },
      );
    } catch (error) {
      this.#trouble = new Error(`The config could not be read: ${describe(error)}`, { cause: error });
      this.#output.hub.error(this.#trouble.message);
    }
  }

  /** Without the places there are still the files that the user named. */
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

  /** The places of the folders that there are now: what was found for others is no answer. */
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
        // told by who uses it; the next reading asks again
        if (this.#found === found) {
          this.#found = undefined;
        }
      },
    );
    return found;
  }

  // What was there when the program was asked may have changed since.
  #present(places: readonly Place[]): Promise<Place[]> {
    return Promise.all(places.map(async (p) => ({ ...p, exists: await isFile(p.file) })));
  }

  /** Watches for files that come and go. A workspace that is not trusted is not looked at. */
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

// The program knows where applications keep their servers; it is asked once for each folder.
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

// Only what is known not to be there is left out: of a file that cannot be looked at the hub says why.
async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch (error) {
    return !(error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'));
  }
}
