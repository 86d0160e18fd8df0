// Which config files the hub reads. Pure: what is known comes in, sources go out, the weakest first.
import path from 'node:path';

/** One place of `mcphub config places --json`: the hub's own knowledge of where applications keep their servers. */
export interface Place {
  readonly file: string;
  readonly scope: string;
  readonly dialect: string;
  readonly folder?: string;
  readonly exists: boolean;
}

export type Discover = 'all' | 'editor' | 'none';

export interface Known {
  readonly places: readonly Place[]; // those of all folders, in the order of the hub
  readonly folders: readonly string[]; // of the workspace, absolute
  readonly trusted: boolean; // the workspace is
  readonly discover: Discover;
  // The user's mcp.json of this editor.
  readonly editorFiles: readonly { readonly file: string; readonly exists: boolean }[];
  readonly extra: readonly string[]; // of the setting mcphub.configFiles
  readonly home: string;
}

/** A ConfigSource of the contract, the fields that are used. */
export interface Source {
  readonly path: string;
  readonly scope: 'user' | 'workspace';
  readonly dialect: string;
  readonly folder: string;
  readonly trusted: false;
  readonly mayBeMissing?: true;
}

/**
 * Files of the user first, then those of the workspace, then what the setting names: a later one wins. Files that are
 * not there are left out, but for those of the setting, which the user named and should hear about, and for the
 * editor's own, which are places to add servers to. Nothing says
 * `trusted`: trust in a workspace lets its files be read; each server of them is asked about all the same.
 */
export function configSources(known: Known): Source[] {
  const first = known.folders[0] ?? '';
  const folders = new Set(known.folders);
  const found = new Map<string, Source>();
  const add = (source: Source, key = source.path): void => {
    found.delete(key); // the last mention counts, and its place
    found.set(key, source);
  };
  const places = known.places.filter(
    (p) =>
      (p.exists || isOfEditor(p))
      && (known.discover === 'all' || (known.discover === 'editor' && p.dialect === 'vscode')),
  );
  // The hub was asked for each folder, and names the files of the user each time. One file may have parts for several
  // folders: each is a source of its own, at the place that the file has among the others.
  const ofUser = known.discover === 'all' ? places.filter((p) => p.scope === 'user') : [];
  for (const file of new Set(ofUser.map((p) => p.file))) {
    for (const place of ofUser.filter((p) => p.file === file)) {
      const folder = place.folder !== undefined && folders.has(place.folder) ? place.folder : first;
      add(
        { path: file, scope: 'user', dialect: place.dialect, folder, trusted: false },
        `${file}\n${place.folder ?? ''}`,
      );
    }
  }
  if (known.discover !== 'none') {
    for (const { file, exists } of known.editorFiles) {
      if (exists || file === known.editorFiles.at(-1)?.file) {
        const missing = exists ? {} : { mayBeMissing: true as const };
        add({ path: file, scope: 'user', dialect: 'vscode', folder: first, trusted: false, ...missing }, `${file}\n`);
      }
    }
  }
  for (const place of places) {
    if (
      place.scope === 'workspace'
      && known.trusted
      && place.folder !== undefined
      && folders.has(place.folder)
      && !found.has(`${place.file}\n`)
    ) {
      const missing = place.exists ? {} : { mayBeMissing: true as const };
      const { file, dialect, folder } = place;
      add({ path: file, scope: 'workspace', dialect, folder, trusted: false, ...missing });
    }
  }
  for (const name of known.extra) {
    const file = expandHome(name, known.home);
    if (file !== undefined) {
      add({ path: file, scope: 'user', dialect: '', folder: first, trusted: false });
    }
  }
  return [...found.values()];
}

/** .vscode/mcp.json of a folder. */
function isOfEditor(place: Place): boolean {
  return (
    place.scope === 'workspace'
    && place.dialect === 'vscode'
    && path.basename(place.file) === 'mcp.json'
    && path.basename(path.dirname(place.file)) === '.vscode'
  );
}

/** Names of the setting that are no absolute paths, for the log. */
export function unusable(extra: readonly string[], home: string): string[] {
  return extra.filter((name) => expandHome(name, home) === undefined);
}

function expandHome(name: string, home: string): string | undefined {
  const file = name.startsWith('~/') ? path.join(home, name.slice(2)) : name;
  return path.isAbsolute(file) ? path.normalize(file) : undefined;
}

/** Files of the workspace that may come into being, relative to a folder: what a watcher waits for. */
export function awaited(places: readonly Place[], folder: string): string[] {
  return places
    .filter((p) => p.scope === 'workspace' && p.folder === folder)
    .map((p) => path.relative(folder, p.file).split(path.sep).join('/'))
    .filter((name) => !name.startsWith('..'));
}

/** What `mcphub config places --json` printed. */
export function parsePlaces(text: string): Place[] {
  const parsed: unknown = JSON.parse(text);
  const list = isRecord(parsed) && Array.isArray(parsed['places']) ? (parsed['places'] as unknown[]) : undefined;
  if (list === undefined) {
    throw new Error('“mcphub config places --json” printed no list of places: is mcphub.binaryPath an older version?');
  }
  return list.flatMap((entry): Place[] => {
    if (!isRecord(entry)) {
      return [];
    }
    const { file, scope, dialect, folder, exists } = entry;
    if (typeof file !== 'string' || typeof scope !== 'string' || typeof dialect !== 'string') {
      return [];
    }
    return [{ file, scope, dialect, exists: exists === true, ...(typeof folder === 'string' ? { folder } : {}) }];
  });
}

/**
 * The user's mcp.json of this editor, from the extension's folder in the editor's own
 * (User/globalStorage/mcphub.mcphub).
 */
export function editorFileNames(globalStorage: string): string[] {
  const user = path.dirname(path.dirname(globalStorage));
  const names = [path.join(user, 'mcp.json')];
  // On a remote machine the editor keeps what belongs to the machine beside User.
  if (path.basename(user) === 'User') {
    names.unshift(path.join(path.dirname(user), 'Machine', 'mcp.json'));
  }
  return names;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
