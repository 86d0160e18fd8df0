// When a reading of the config counts as shown: what the hub tells of it and what it answers come on two connections.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, AttachResponseSchema } from '../dist/contract.js';
import { readAndShown } from '../dist/api/untilshown.js';
import type { WatcherListener, WatcherWindow } from '../dist/contract.js';

/** A window that a test feeds. */
class FedWindow {
  readonly #listeners = new Set<WatcherListener>();
  readonly window = {
    failure: undefined,
    listen: (listener: WatcherListener) => {
      this.#listeners.add(listener);
      return () => this.#listeners.delete(listener);
    },
  } as unknown as WatcherWindow;

  get listeners(): number {
    return this.#listeners.size;
  }

  read(changedFile = ''): void {
    const event = { case: 'configReloaded', value: { changedFile } } as const;
    [...this.#listeners].forEach((one) => one.event?.(create(AttachResponseSchema, { event })));
  }
}

const { signal } = new AbortController();
const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let is = false;
  void promise.then(() => (is = true));
  await new Promise((resolve) => setImmediate(resolve));
  return is;
};

test('what is told of one reading is not taken for the next one', async () => {
  const fed = new FedWindow();
  const first = readAndShown(fed.window, () => Promise.resolve('first'), signal);
  assert.equal(await settled(first), false, 'the hub has answered, and the window does not show it yet');
  const second = first.then(() => readAndShown(fed.window, () => Promise.resolve('second'), signal));
  fed.read();
  assert.equal(await first, 'first');
  fed.read('/a/file/that/has/changed');
  assert.equal(await settled(second), false);
  fed.read();
  assert.equal(await second, 'second');
  assert.equal(fed.listeners, 0);
});

test('a reading that is told of before it is answered counts, and one that is refused waits for nothing', async () => {
  const fed = new FedWindow();
  let answer: (text: string) => void = () => undefined;
  const early = readAndShown(fed.window, () => new Promise<string>((resolve) => (answer = resolve)), signal);
  fed.read();
  assert.equal(await settled(early), false);
  answer('read');
  assert.equal(await early, 'read');
  const refused = readAndShown(fed.window, () => Promise.reject(new Error('no such dialect')), signal);
  await assert.rejects(refused, /no such dialect/);
  assert.equal(fed.listeners, 0);
});
