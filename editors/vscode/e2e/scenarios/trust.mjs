import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';
import { briefStage } from '../briefstage.mjs';

scenario('in a workspace that is not trusted its config is not read; once it is trusted, it is', async (act) => {
  const workspace = act.workspace();
  workspace.brings({ stranger: { type: 'stdio', command: 'touch', args: ['${workspaceFolder}/was-here'] } });
  const window = await act.open(workspace);
  const page = await window.openSideBar();
  await page.server('demo').waitFor(); // the user's own
  assert.equal(await page.server('stranger').count(), 0);
  assert.doesNotMatch(await page.frame.locator('body').innerText(), /stranger/);

  await window.trustWorkspace();

  const trusted = await window.sideBar();
  await trusted.server('stranger').waitFor();
  assert.equal(await trusted.server('stranger').getAttribute('data-state').then((state) => /ready|connecting|failed/i.test(String(state))), false, 'read is not run');
}, { stage: briefStage });
