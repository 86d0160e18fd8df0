import { after } from 'node:test';
import { Stage } from './stage.mjs';

/** @type {Promise<Stage> | undefined} */
let started;

/** A server that trusts no workspace before its user does. It does not ask by itself. */
export function trustStage() {
  started ??= new Stage({
    name: 'trust',
    trust: true,
    settings: {
      'security.workspace.trust.startupPrompt': 'never',
      'security.workspace.trust.banner': 'never',
    },
  }).start();
  return started;
}

after(async () => {
  await (await started?.catch(() => undefined))?.stop();
});
