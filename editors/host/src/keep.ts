// What survives this process so that the next one finds its hub again: one small file a hub, private to the user, since it holds the key of the door.
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { protocolVersion } from './handshake.js';
import { isAlive } from './liveness.js';
import { removeSocketDirectory } from './socketdir.js';
import type { Target } from './transport.js';

/** What the file says. */
export interface KeepRecord {
  /** Whose hub this is: host and workspace, say, and the version of the binary. */
  readonly key: string;
  readonly hubPid: number;
  /** 0: its host has left it. */
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

/** A record that this process owns. */
export class KeptFile {
  readonly record: KeepRecord;
  readonly #path: string;

  constructor(path: string, record: KeepRecord) {
    this.#path = path;
    this.record = record;
  }

  /** From now on any host with the key may have the hub. */
  async leave(): Promise<void> {
    await replace(this.#path, { ...this.record, hostPid: 0 });
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }
}

/** Writes the file of a hub that this process has started. */
export async function keep(directory: string, record: KeepRecord): Promise<KeptFile> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700); // it may have been there before
  const path = join(directory, `hub-${randomUUID()}.json`);
  await replace(path, record);
  return new KeptFile(path, record);
}

/**
 * Takes over a hub whose host is gone. Of several processes that want it exactly one gets it: the rename decides. Files of hubs that are gone are removed
 * on the way; those of hosts that live are left alone, also with the same key (two windows of one workspace have a hub each).
 */
export async function claim(directory: string, key: string): Promise<KeptFile | undefined> {
  let names: string[];
  try {
    names = await readdir(directory);
  } catch {
    return undefined;
  }
  for (const name of names.sort()) {
    const file = /^(hub-[0-9a-f-]{36}\.json)(?:\.claimed-(\d+))?$/.exec(name);
    // A claim that was begun and not ended: its file is free again once the process that began it is gone.
    if (file?.[1] === undefined || (file[2] !== undefined && isAlive(Number(file[2])))) {
      continue;
    }
    const path = join(directory, name);
    const record = await read(path);
    if (record === undefined || !isAlive(record.hubPid)) {
      await forget(path, record);
      continue;
    }
    if (record.key !== key || record.protocolVersion !== protocolVersion || isAlive(record.hostPid)) {
      continue;
    }
    const claimed = join(directory, `${file[1]}.claimed-${process.pid}`);
    try {
      await rename(path, claimed);
    } catch {
      continue; // somebody else was faster
    }
    // What was read may have been claimed, left and written anew in between: only what lies here now counts.
    const mine = await read(claimed);
    if (mine === undefined || mine.hubPid !== record.hubPid) {
      await forget(claimed, mine);
      continue;
    }
    const owned = { ...mine, hostPid: process.pid };
    await replace(claimed, owned);
    await rename(claimed, join(directory, file[1]));
    return new KeptFile(join(directory, file[1]), owned);
  }
  return undefined;
}

/** Where the hub of a record listens. */
export function targetOf(record: KeepRecord): Target {
  return {
    network: record.network,
    address: record.target,
    tls: record.serverCert === '' ? undefined : { serverCert: record.serverCert, client: { cert: record.clientCert, key: record.clientKey } },
  };
}

async function forget(path: string, record: KeepRecord | undefined): Promise<void> {
  await rm(path, { force: true });
  if (record !== undefined && !isAlive(record.hubPid) && !isAlive(record.hostPid)) {
    await removeSocketDirectory(record.socketDirectory); // of a living host it is that host's to remove
  }
}

// Whole or not at all: whoever reads meanwhile gets the old text or the new one.
async function replace(path: string, record: KeepRecord): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(JSON.stringify(record));
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

async function read(path: string): Promise<KeepRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is KeepRecord {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const v = value as Record<string, unknown>;
  return ['key', 'target', 'serverCert', 'clientCert', 'clientKey', 'socketDirectory'].every((name) => typeof v[name] === 'string')
    && ['hubPid', 'hostPid', 'protocolVersion'].every((name) => Number.isInteger(v[name])) && (v['network'] === 'unix' || v['network'] === 'tcp');
}
