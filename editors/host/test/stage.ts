// Shared by the tests that start processes: a temporary directory of their own, hubs that are stopped even if a test
// fails, and functions that wait for conditions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { Hub, HubError } from '../dist/index.js';
import type { HubOptions, HubState } from '../dist/index.js';

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
  /** The socket directories that exist. */
  sockets(): string[];
}

/** The hubs of a stage keep their sockets in its directory. At the end of the test no socket directory may be left. */
export function stage(t: TestContext): Stage {
  const directory = mkdtempSync(join(tmpdir(), 'host-'));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = directory; // the tests of one file run one after the other
  const hubs: Hub[] = [];
  const sockets = (): string[] => readdirSync(directory).filter((name) => name.startsWith('mcphub-'));
  t.after(async () => {
    await Promise.all(hubs.map((hub) => hub.stop()));
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
    hub: ({ mode, ...options }) => {
      const fake = mode === undefined ? {} : { binary: process.execPath, args: [fakeHub] };
      const hub = new Hub({
        binary: mode === undefined ? realBinary() : process.execPath,
        stopTimeoutMs: 5000,
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
