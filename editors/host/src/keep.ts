// What survives this process so that the next one finds its hub again: one small file a hub, private to the user, since
// it holds the key of the door.
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from './failure.js';
import { protocolVersion } from './handshake.js';
import { isAlive } from './liveness.js';
import { removeSocketDirectory } from './socketdir.js';
import type { Target } from './transport.js';

/** What the file says. */
export interface KeepRecord {
  /** Whose hub this is: host and workspace, say, and the version of the binary. */
  readonly key: string;
  readonly hubPid: number;
  /** Who wrote it. The name of the file decides: 0 there says that its host has left it. */
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
 * A record that this process owns. Whose it is stands in the name of its file, so that one rename takes it over, and
 * can succeed only once.
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

  /** From now on any host with the key may have the hub. */
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

/** Where a hub with this key writes what it ended when nobody has come back for it, for the next one to tell. */
export function leftFile(directory: string, key: string): string {
  return join(directory, `left-${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`);
}

const nobody = 0;
const draftEnd = '.tmp';
/** No host needs as long to write one. */
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
  await chmod(directory, 0o700); // it may have been there before, and the umask may take more than it should
  const id = randomUUID();
  await replace(join(directory, fileName(id, record.hostPid)), record);
  return new KeptFile(directory, id, record);
}

/** How long to wait before a host that has to leave is looked for again. */
const lookAgainMs = 50;

/**
 * Takes over a hub whose host is gone. Of several processes that want it exactly one gets it: the rename decides. Files
 * of hubs that are gone are removed on the way; those of hosts that live are left alone, also with the same key (two
 * windows of one workspace have a hub each).
 *
 * It waits up to departureMs for a host with this key that is still there: after a reload the new process of an editor
 * may be there before the old one has left. Another window with the same key is never told from that, and costs the
 * whole wait.
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

/** 'held': there is none to take, but one of a host that lives. */
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
      continue; // somebody else's, taken over in this moment, or no file can be opened now
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
      continue; // somebody else was faster
    }
    const owned = { ...record, hostPid: process.pid };
    await replace(mine, owned);
    return new KeptFile(directory, id, owned);
  }
  return held ? 'held' : undefined;
}

/** Where the hub of a record listens. */
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
    await removeSocketDirectory(record.socketDirectory); // of a living host it is that host's to remove
  }
}

// Whole or not at all: whoever reads meanwhile gets the old text or the new one.
async function replace(path: string, record: KeepRecord): Promise<void> {
  const draft = `${path}.${randomUUID()}${draftEnd}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.chmod(0o600); // whatever the umask
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

// A process that was killed while it wrote has left a draft, with keys in it.
async function forgetDraft(path: string): Promise<void> {
  const written = await lstat(path).then(
    (info) => info.mtimeMs,
    () => Infinity,
  );
  if (written < Date.now() - draftLifeMs) {
    await rm(path, { force: true }).catch(() => {});
  }
}

// A record says where this process connects to and with which key, so it is believed from this user alone, and through
// no link.
async function read(path: string): Promise<KeepRecord | undefined | 'unreadable'> {
  let text: string;
  try {
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- Windows has no such flag
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
