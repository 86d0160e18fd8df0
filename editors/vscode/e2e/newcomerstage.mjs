import { after } from 'node:test';
import { Stage } from './stage.mjs';

/** @type {Promise<Stage> | undefined} */
let started;

/** A server with a user who has no MCP server in any config file. */
export function newcomerStage() {
  started ??= new Stage({ name: 'newcomer', newcomer: true }).start();
  return started;
}

after(async () => {
  await (await started?.catch(() => undefined))?.stop();
});
