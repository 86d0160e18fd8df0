import { after } from 'node:test';
import { Stage } from './stage.mjs';

/** The grace time of hubs without a window on this stage. */
const briefGraceSeconds = 2;

/** @type {Promise<Stage> | undefined} */
let started;

/**
 * A second server, for workspaces that are not trusted and for a short grace time. All windows of a server share these
 * settings.
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
