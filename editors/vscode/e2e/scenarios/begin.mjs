import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { newcomerStage } from '../newcomerstage.mjs';
import { until } from '../until.mjs';

scenario(
  'a first start: the demo server by one click, a call of it stopped, a question of it withdrawn, and it goes without a trace',
  async (act) => {
    const window = await act.open(act.workspace());
    const page = await window.openSideBar();
    const begin = page.frame.getByTestId('first-start');
    await begin.waitFor();
    await page.frame.getByTestId('add-demo').click();
    const guide = page.frame.getByTestId('demo-guide');
    await guide.waitFor();
    await page.serverIs('mcphub-demo', /ready/);

    await page.frame.getByTestId('demo-slow').click();
    const call = page.request('sleep');
    await call.getByText(/slept/).first().waitFor();
    await page.cancel(call, 'seen enough');
    await page.frame.getByTestId('demo-slow-seen').waitFor();
    await page.endedAs('sleep', /cancelled.*seen enough/is);

    await page.frame.getByTestId('demo-ask').click();
    await page.card('What is your name?').waitFor();
    await page.note('the demo has no more use for an answer').waitFor();
    await page.frame.getByTestId('demo-ask-seen').waitFor();

    await guide.getByRole('link', { name: 'Remove the demo server' }).click();
    await begin.waitFor();
    await page.server('mcphub-demo').waitFor({ state: 'detached' });
    assert.ok(!existsSync(join(act.stage.server.userData, 'User/mcp.json')), 'it never stood in a file');
  },
  { stage: newcomerStage, turns: true },
);

scenario(
  'the walkthrough opens by its command, with pictures, and its button for a config file begins one',
  async (act) => {
    const window = await act.open(act.workspace());
    await window.runCommand('McpHub: Get Started');
    const walkthrough = window.page.locator('.gettingStartedContainer');
    await walkthrough.getByText('Get Started with McpHub').first().waitFor();
    await walkthrough.getByText('See it in a minute').first().waitFor();
    await walkthrough.getByText('Add a server').first().click();
    await walkthrough.getByRole('button', { name: 'Open or Create a Config File' }).first().click();
    await window.quickPick.filter({ hasText: 'Open or Create Config File' }).waitFor();
    await window.quickPick.locator('.monaco-list-row').first().click();
    const file = join(act.stage.server.userData, 'User/mcp.json');
    await until('the file is begun', () => existsSync(file) && readFileSync(file, 'utf8').includes('"servers"'));
    await window.editorShows(/"servers"/);
  },
  { stage: newcomerStage, turns: true },
);

scenario(
  'a first server of one’s own, its command in the clipboard: five clicks to a call, six to its cancel',
  async (act) => {
    const window = await act.open(act.workspace());
    await window.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await window.page.evaluate((text) => navigator.clipboard.writeText(text), `${act.stage.binary} demo-server`);
    const page = await window.openSideBar(); // 1
    const box = page.frame.getByTestId('first-command');
    await until('the box has the focus', () => box.evaluate((element) => element === document.activeElement));
    await window.page.keyboard.press('Control+v');

    const { frame } = await window.tab();
    const form = frame.getByTestId('adding');
    await form.getByText('"demo-server"').first().waitFor(); // the preview has it
    await form.getByTestId('adding-save').click(); // 2
    const launch = page.card(/^Start /);
    await page.accept(launch); // 3
    await frame.getByTestId('tool-long_task').getByRole('button').first().click(); // 4
    await frame.getByTestId('call').click(); // 5
    const running = page.request('long_task');
    await running.waitFor();
    await page.cancel(running); // 6
    await page.endedAs('long_task', /cancelled by you/i);
  },
  { stage: newcomerStage, turns: true },
);
