import { after } from 'node:test';
import { Stage } from './stage.mjs';

/** The grace time of hubs without a window on this stage. */
const briefGraceSeconds = 2;

/** @type {Promise<Stage> | undefined} */
let started;

/** A server with a short grace time. All of its windows share the setting. */
export function briefStage() {
  started ??= new Stage({ name: 'brief', settings: { 'mcphub.reloadGraceSeconds': briefGraceSeconds } }).start();
  return started;
}

after(async () => {
  await (await started?.catch(() => undefined))?.stop();
});
