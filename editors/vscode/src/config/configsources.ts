// Decides which config files the hub reads. It has no side effects. The sources are in order of increasing precedence.
import path from 'node:path';

/** One place of `mcphub config places --json`. The hub's program knows where applications keep their servers. */
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

/** The fields of a ConfigSource of the contract that are used here. */
export interface Source {
  readonly path: string;
  readonly scope: 'user' | 'workspace';
  readonly dialect: string;
  readonly folder: string;
  readonly trusted: false;
  readonly mayBeMissing?: true;
}

/**
 * Returns the files of the user, then those of the workspace, then those of the setting; a later one takes precedence.
 * Files that do not exist are left out, with two exceptions. The user named the files of the setting and should be told
 * about them. The editor's own files are places to which servers can be added. No source is `trusted`: trust in a
 * workspace only allows its files to be read, and each server in them still needs consent. Of a workspace that is not
 * trusted no source has the folder: an entry of the user that names ${workspaceFolder} would run what is there.
 */
export function configSources(known: Known): Source[] {
  const first = known.trusted ? (known.folders[0] ?? '') : '';
  const folders = new Set(known.trusted ? known.folders : []);
  const found = new Map<string, Source>();
  const add = (source: Source, key = source.path): void => {
    found.delete(key); // the last mention decides, and its position
    found.set(key, source);
  };
  const places = known.places.filter(
    (p) =>
      (p.exists || isOfEditor(p))
      && (known.discover === 'all' || (known.discover === 'editor' && p.dialect === 'vscode')),
  );
  // The program was asked for each folder, and lists the files of the user each time. One file may have parts for
  // several folders. Each part is a source of its own, at the position of its file.
  const ofUser = known.discover === 'all' ? places.filter((p) => p.scope === 'user') : [];
  for (const file of new Set(ofUser.map((p) => p.file))) {
    for (const place of ofUser.filter((p) => p.file === file)) {
      const folder = place.folder !== undefined && folders.has(place.folder) ? place.folder : first;
      add(
        { path: file, scope: 'user', dialect: place.dialect, folder, trusted: false },
        `${file}\n${known.trusted ? (place.folder ?? '') : ''}`,
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

/** The setting of VS Code by which an organisation says which servers may start. */
export const policySetting = 'chat.mcp.access';

/** The fields of a ManagedPolicy of the contract. */
export interface EditorPolicy {
  readonly json: string;
  readonly dialect: 'vscode';
  readonly name: string;
}

/**
 * Returns the managed policy of the editor. `access` is the value of `policySetting` that counts, in which an
 * organisation's takes precedence. Without one there is no policy, which the hub has to be told: it keeps the last.
 */
export function editorPolicy(access: unknown, editor: string): EditorPolicy {
  const json = access === undefined ? '' : JSON.stringify({ [policySetting]: access });
  return { json, dialect: 'vscode', name: `${editor} (${policySetting})` };
}

/** Reports whether a place is the .vscode/mcp.json of a folder. */
function isOfEditor(place: Place): boolean {
  return (
    place.scope === 'workspace'
    && place.dialect === 'vscode'
    && path.basename(place.file) === 'mcp.json'
    && path.basename(path.dirname(place.file)) === '.vscode'
  );
}

/** Returns the names of the setting that are not absolute paths, for the log. */
export function unusable(extra: readonly string[], home: string): string[] {
  return extra.filter((name) => expandHome(name, home) === undefined);
}

function expandHome(name: string, home: string): string | undefined {
  const file = name.startsWith('~/') ? path.join(home, name.slice(2)) : name;
  return path.isAbsolute(file) ? path.normalize(file) : undefined;
}

/** Returns the files of the workspace that may be created later, relative to a folder, for a watcher. */
export function awaited(places: readonly Place[], folder: string): string[] {
  return places
    .filter((p) => p.scope === 'workspace' && p.folder === folder)
    .map((p) => path.relative(folder, p.file).split(path.sep).join('/'))
    .filter((name) => !name.startsWith('..'));
}

/** Parses the output of `mcphub config places --json`. */
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
 * Returns the user's mcp.json files of this editor, derived from the extension's folder in the editor's user data
 * (User/globalStorage/mcphub.mcphub).
 */
export function editorFileNames(globalStorage: string): string[] {
  const user = path.dirname(path.dirname(globalStorage));
  const names = [path.join(user, 'mcp.json')];
  // On a remote machine the editor keeps data of the machine in a folder beside User.
  if (path.basename(user) === 'User') {
    names.unshift(path.join(path.dirname(user), 'Machine', 'mcp.json'));
  }
  return names;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
