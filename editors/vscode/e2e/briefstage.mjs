import { after } from 'node:test';
import { Stage } from './stage.mjs';

/** How long hubs without a window wait here. */
export const briefGraceSeconds = 2;

/** @type {Promise<Stage> | undefined} */
let started;

/**
 * A second server, for what the shared one cannot have: workspaces that are not trusted, and a grace that is over soon.
 * A server has one of each for all of its windows.
 */
export function briefStage() {
  started ??= new Stage({
    name: 'brief',
    trust: true,
    settings: {
      'mcphub.reloadGraceSeconds': briefGraceSeconds,
      'security.workspace.trust.startupPrompt': 'never',
      'security.workspace.trust.banner': 'never',
    },
  }).start();
  return started;
}

after(async () => {
  await (await started?.catch(() => undefined))?.stop();
});
