import { after } from 'node:test';
import { Stage } from './stage.mjs';

/** @type {Promise<Stage> | undefined} */
let started;

/**
 * A server whose settings scenarios may change. A change is for all of its windows, so scenarios on it run one after
 * the other.
 */
export function settingsStage() {
  started ??= new Stage({ name: 'settings' }).start();
  return started;
}

after(async () => {
  await (await started?.catch(() => undefined))?.stop();
});
