// The files by which the next process finds the hub of this one: one small file for each hub. It is private to the
// user, since it holds the client's key.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from './failure.js';
import { protocolVersion } from './handshake.js';
import { isAlive } from './liveness.js';
import { removeSocketDirectory } from './socketdir.js';
import type { Target } from './transport.js';

/** The content of the file. */
export interface KeepRecord {
  /** Identifies the owner of the hub, for example by host, workspace and version of the binary. */
  readonly key: string;
  readonly hubPid: number;
  /**
   * The process that wrote the file. What counts is the pid in the file's name: 0 there means that the host has left
   * the hub.
   */
  readonly hostPid: number;
  readonly network: 'unix' | 'tcp';
  readonly target: string;
  /** PEM texts, '' without TLS. */
  readonly serverCert: string;
  readonly clientCert: string;
  readonly clientKey: string;
  readonly socketDirectory: string;
  readonly protocolVersion: number;
}

/**
 * A record that this process owns. The owner's pid is in the name of the file, so that one rename takes the record
 * over, and only one process can succeed.
 */
export class KeptFile {
  readonly record: KeepRecord;
  readonly #directory: string;
  readonly #id: string;

  constructor(directory: string, id: string, record: KeepRecord) {
    this.#directory = directory;
    this.#id = id;
    this.record = record;
  }

  /** Leaves the hub: from now on any host with the same key may take it over. */
  async leave(): Promise<void> {
    await rename(this.#path(process.pid), this.#path(nobody));
  }

  async remove(): Promise<void> {
    await rm(this.#path(process.pid), { force: true });
  }

  #path(hostPid: number): string {
    return join(this.#directory, fileName(this.#id, hostPid));
  }
}

const nobody = 0;
const draftEnd = '.tmp';
/** No host needs that long to write a file. */
const draftLifeMs = 60_000;

function fileName(id: string, hostPid: number): string {
  return `hub-${id}.${hostPid}.json`;
}

/** Writes the file of a hub that this process has started. */
export async function keep(directory: string, record: KeepRecord): Promise<KeptFile> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (!(await isOwn(directory))) {
    throw new HubError(
      'failed_precondition',
      'KEEP_DIRECTORY',
      `${directory} is no directory of this user: name one for keep that nobody else can write to.`,
    );
  }
  await chmod(directory, 0o700); // the directory may have existed before, and the umask may remove too many permissions
  const id = randomUUID();
  await replace(join(directory, fileName(id, record.hostPid)), record);
  return new KeptFile(directory, id, record);
}

/** The delay between two searches while a host is expected to leave. */
const lookAgainMs = 50;

/**
 * Takes over a hub whose host is gone. If several processes want it, exactly one gets it: the rename decides. Files of
 * hubs that are gone are removed during the search. Files of hosts that are alive are left alone, even with the same
 * key: two windows of one workspace have a hub each.
 *
 * It waits up to departureMs for a living host with this key to leave: after a reload, the new process of an editor may
 * start before the old one has left. It cannot tell another window with the same key from that, and then waits for the
 * whole time.
 */
export async function claim(
  directory: string,
  key: string,
  departureMs = 0,
  signal?: AbortSignal,
): Promise<KeptFile | undefined> {
  const until = performance.now() + departureMs;
  for (;;) {
    const found = await search(directory, key);
    if (found !== 'held' || signal?.aborted === true || performance.now() >= until) {
      return found === 'held' ? undefined : found;
    }
    await sleep(lookAgainMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
  }
}

/** Returns 'held' if there is no hub to take over, but one with this key has a living host. */
async function search(directory: string, key: string): Promise<KeptFile | 'held' | undefined> {
  let held = false;
  if (!(await isOwn(directory))) {
    return undefined;
  }
  const names = await readdir(directory).catch((): string[] => []);
  for (const name of names.sort()) {
    if (name.endsWith(draftEnd)) {
      await forgetDraft(join(directory, name));
      continue;
    }
    const [, id, host] = /^hub-([0-9a-f-]{36})\.(\d+)\.json$/.exec(name) ?? [];
    if (id === undefined || host === undefined) {
      continue;
    }
    const path = join(directory, name);
    const hostPid = Number(host);
    const record = await read(path);
    if (record === 'unreadable') {
      continue; // another user's file, or taken over just now, or no file can be opened at present
    }
    if (record === undefined || !isAlive(record.hubPid)) {
      await forget(path, record, hostPid);
      continue;
    }
    if (record.key !== key || record.protocolVersion !== protocolVersion) {
      continue;
    }
    if (isAlive(hostPid)) {
      held ||= hostPid !== process.pid;
      continue;
    }
    const mine = join(directory, fileName(id, process.pid));
    try {
      await rename(path, mine);
    } catch {
      continue; // another process was faster
    }
    const owned = { ...record, hostPid: process.pid };
    await replace(mine, owned);
    return new KeptFile(directory, id, owned);
  }
  return held ? 'held' : undefined;
}

/** Returns where the hub of a record listens. */
export function targetOf(record: KeepRecord): Target {
  return {
    network: record.network,
    address: record.target,
    tls:
      record.serverCert === ''
        ? undefined
        : { serverCert: record.serverCert, client: { cert: record.clientCert, key: record.clientKey } },
  };
}

async function forget(path: string, record: KeepRecord | undefined, hostPid: number): Promise<void> {
  await rm(path, { force: true });
  if (record !== undefined && !isAlive(hostPid)) {
    await removeSocketDirectory(record.socketDirectory); // a living host removes its directory itself
  }
}

// Replaces the file atomically: a process that reads it meanwhile gets the old text or the new text.
async function replace(path: string, record: KeepRecord): Promise<void> {
  const draft = `${path}.${randomUUID()}${draftEnd}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.chmod(0o600); // independent of the umask
      await file.writeFile(JSON.stringify(record));
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

// Removes a draft, which holds keys, that was left by a process that was killed while it wrote.
async function forgetDraft(path: string): Promise<void> {
  const written = await lstat(path).then(
    (info) => info.mtimeMs,
    () => Infinity,
  );
  if (written < Date.now() - draftLifeMs) {
    await rm(path, { force: true }).catch(() => {});
  }
}

// A record decides where this process connects and with which key. So only a file of this user is trusted, and no
// symbolic link.
async function read(path: string): Promise<KeepRecord | undefined | 'unreadable'> {
  let text: string;
  try {
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- Windows has no such flag
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const info = await file.stat();
      if (!info.isFile() || !isOwnPrivate(info)) {
        return 'unreadable';
      }
      text = await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch {
    return 'unreadable';
  }
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function isOwn(directory: string): Promise<boolean> {
  const info = await lstat(directory).catch(() => undefined);
  return info?.isDirectory() === true && (process.platform === 'win32' || info.uid === process.getuid?.());
}

function isOwnPrivate(info: { uid: number; mode: number }): boolean {
  return process.platform === 'win32' || (info.uid === process.getuid?.() && (info.mode & 0o077) === 0);
}

function isRecord(value: unknown): value is KeepRecord {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const v = value as Record<string, unknown>;
  return (
    ['key', 'target', 'serverCert', 'clientCert', 'clientKey', 'socketDirectory'].every(
      (name) => typeof v[name] === 'string',
    )
    && ['hubPid', 'hostPid', 'protocolVersion'].every((name) => Number.isInteger(v[name]))
    && (v['network'] === 'unix' || v['network'] === 'tcp')
  );
}
