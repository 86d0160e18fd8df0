import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';

scenario('a server is added, agreed to, used, changed, removed and brought back, from the page', async (act) => {
  const workspace = act.workspace();
  const file = join(workspace.folder, '.vscode/mcp.json');
  const window = await act.open(workspace);
  await window.runCommand('McpHub: Add Server...');
  const tab = await window.tab();
  const form = tab.frame.getByTestId('adding');
  const files = form.getByTestId('adding-file');
  await files.locator('option', { hasText: workspace.folder }).waitFor({ state: 'attached' });
  await form.getByTestId('adding-name').fill('mine');
  await form.getByTestId('adding-command').fill(act.stage.binary);
  await form.getByTestId('adding-args').fill('demo-server');
  await files.selectOption(file);
  await form.getByText('"mine": {').first().waitFor(); // the preview has it
  assert.equal(existsSync(file), false, 'a preview writes nothing');
  await form.getByTestId('adding-save').click();

  // The card shows the whole command, in Now, and nothing runs before the user accepts.
  const page = await window.sideBar();
  const launch = page.card(/Start mine\?/);
  await launch.waitFor();
  assert.match(await launch.innerText(), /mcphub demo-server/);
  assert.match(await launch.innerText(), /“McpHub’s page” wrote the entry/);
  assert.match(readFileSync(file, 'utf8'), /"mine": \{[^}]*"demo-server"/);
  assert.doesNotMatch(String(await page.server('mine').getAttribute('aria-label')), /ready/i);
  await page.accept(launch);
  await page.serverIs('mine', /ready/i);
  await tab.frame.getByTestId('tool-echo').waitFor(); // the tab shows the server now

  /** @param {string} item of the menu of the server */
  const choose = async (item) => {
    await tab.frame.getByRole('button', { name: 'More actions for mine' }).click();
    await tab.frame.getByTestId(item).click();
  };
  // A change of the command is asked about again, with what has changed.
  await choose('edit-entry');
  await form.getByRole('button', { name: 'Add a variable' }).click();
  await form.getByRole('textbox', { name: 'Name of the variable' }).fill('LEVEL');
  await form.getByRole('textbox', { name: 'Value of LEVEL' }).fill('debug');
  await form.getByTestId('adding-total').fill('90s');
  await form.getByTestId('adding-save').click();
  const again = page.card(/Start mine\?/);
  await again.waitFor();
  assert.match(await again.innerText(), /LEVEL=debug/);
  assert.match(readFileSync(file, 'utf8'), /"LEVEL": "debug"/);
  assert.match(readFileSync(file, 'utf8'), /"total": "90s"/);
  await page.accept(again);
  await page.serverIs('mine', /ready/i);

  await choose('remove-entry');
  await form.getByText('"LEVEL": "debug"').waitFor();
  await form.getByTestId('remove-now').click();
  await page.server('mine').waitFor({ state: 'detached' });
  assert.doesNotMatch(readFileSync(file, 'utf8'), /mine/);
  await tab.frame.getByTestId('undo').click();
  await page.server('mine').waitFor();
  assert.match(readFileSync(file, 'utf8'), /"LEVEL": "debug"/);
});
