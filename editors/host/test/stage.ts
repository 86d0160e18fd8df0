// Shared by the tests that start processes: a temporary directory of their own, hubs that are stopped even if a test
// fails, and functions that wait for conditions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { Hub, HubError } from '../dist/contract.js';
import type { HubOptions, HubState } from '../dist/contract.js';
import { createHub } from '../dist/index.js';
import type { HubSettings, OwnedHub } from '../dist/index.js';

/** The bound, in ms, of what a test waits for: far beyond what anything takes, so that only what never comes fails. */
export const long = 300_000;

export const fakeHub = resolve(import.meta.dirname, 'fakehub.js');

/** Returns the path of the real binary: MCPHUB_BINARY, or bin/mcphub, which is built if it is missing. */
export function realBinary(): string {
  const root = resolve(import.meta.dirname, '../../..');
  const given = process.env['MCPHUB_BINARY'];
  const binary = given ?? join(root, 'bin', 'mcphub');
  if (given === undefined && !existsSync(binary)) {
    execFileSync('go', ['build', '-o', 'bin/', './cmd/mcphub'], { cwd: root, stdio: 'inherit' });
  }
  return binary;
}

export interface Stage {
  readonly directory: string;
  hub(options: Partial<HubOptions> & { mode?: string }): Hub;
  /** Creates a hub of the real binary by the API. */
  owned(settings?: HubSettings): Promise<OwnedHub>;
  /** The socket directories that exist. */
  sockets(): string[];
}

/** The hubs of a stage keep their sockets in its directory. At the end of the test no socket directory may be left. */
export function stage(t: TestContext): Stage {
  const directory = mkdtempSync(join(tmpdir(), 'host-'));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = directory; // the tests of one file run one after the other
  const hubs: Hub[] = [];
  const owned: OwnedHub[] = [];
  const sockets = (): string[] => readdirSync(directory).filter((name) => name.startsWith('mcphub-'));
  t.after(async () => {
    await Promise.all([...hubs.map((hub) => hub.stop()), ...owned.map((hub) => hub.close())]);
    if (before === undefined) {
      delete process.env['TMPDIR'];
    } else {
      process.env['TMPDIR'] = before;
    }
    const left = sockets();
    rmSync(directory, { recursive: true, force: true });
    assert.deepEqual(left, [], 'socket directories were left behind');
  });
  return {
    directory,
    sockets,
    owned: async (settings = {}) => {
      const hub = await createHub({
        binary: realBinary(),
        cwd: directory,
        stopTimeoutMs: long,
        ...settings,
        env: { MCPHUB_STATE_DIR: '', ...settings.env },
      });
      owned.push(hub);
      return hub;
    },
    hub: ({ mode, ...options }) => {
      const fake = mode === undefined ? {} : { binary: process.execPath, args: [fakeHub] };
      const hub = new Hub({
        binary: mode === undefined ? realBinary() : process.execPath,
        stopTimeoutMs: long,
        ...fake,
        ...options,
        env: { MCPHUB_STATE_DIR: '', FAKE_HUB: mode, ...options.env },
      });
      hubs.push(hub);
      return hub;
    },
  };
}

export function failure(promise: Promise<unknown>): Promise<HubError> {
  return promise.then(
    () => assert.fail('it should have failed'),
    (error: unknown) => (error instanceof HubError ? error : assert.fail(String(error))),
  );
}

/**
 * Resolves when a file, whose directory is there, is as wanted; undefined is the text of one that is not there. The
 * system tells of each change.
 */
export async function untilChanged(
  file: string,
  wanted: (text: string | undefined) => boolean,
  signal?: AbortSignal,
): Promise<void> {
  const watcher = watch(dirname(file));
  try {
    for (;;) {
      const changed = once(watcher, 'change', { signal });
      if (wanted(existsSync(file) ? readFileSync(file, 'utf8') : undefined)) {
        changed.catch(() => undefined);
        return;
      }
      await changed;
    }
  } finally {
    watcher.close();
  }
}

/** Resolves when the hub enters the state. */
export function reaches(hub: Hub, wanted: HubState): Promise<string> {
  return new Promise((resolve) => {
    const stop = hub.onState((state, { message }) => {
      if (state === wanted) {
        stop();
        resolve(message);
      }
    });
  });
}

/** The pid of a hub that must be running. */
export function pidOf(hub: Hub): number {
  assert.ok(hub.processId !== undefined);
  return hub.processId;
}
