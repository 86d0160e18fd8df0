import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';

scenario('the page follows the themes of the editor: light, dark, high contrast', async (act) => {
  const workspace = act.workspace();
  const window = await act.open(workspace);
  const page = await window.openSideBar();
  await page.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
  await page.call('demo', 'ask_name');
  await page.card('What is your name?').waitFor();
  const shots = join(act.stage.out, 'shots');
  mkdirSync(shots, { recursive: true });
  for (const [name, kind, media] of /** @type {const} */ ([
    ['light', 'vscode-light', { colorScheme: 'light', forcedColors: 'none' }],
    ['dark', 'vscode-dark', { colorScheme: 'dark', forcedColors: 'none' }],
    ['high-contrast', 'vscode-high-contrast', { colorScheme: 'dark', forcedColors: 'active' }],
  ])) {
    await window.page.emulateMedia(media);
    await page.frame.locator(`body[data-vscode-theme-kind="${kind}"]`).waitFor();
    await window.page.screenshot({ path: join(shots, `${name}.png`) });
  }
});
