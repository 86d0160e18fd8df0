import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scenario } from '../stage.mjs';
import { until } from '../until.mjs';

scenario('sampling by hand: what is written in the page is what the server gets', async (act) => {
  const workspace = act.workspace();
  const page = await (await act.open(workspace)).openSideBar();
  await page.call('demo', 'summarize', { text: 'A long story about little.' });
  const card = page.card('A long story about little.');
  await card.getByLabel('Answer', { exact: true }).fill('Little happened.');
  await card.getByLabel('Model, or who answers').fill('a person');
  await page.accept(card);
  await page.endedAs('summarize', /done/i);
  await page.showsResult('summarize', /Little happened\. \(by a person\)/);
});

scenario(
  'sampling by a model of the editor: it runs after the yes, and the server gets its words after a second one',
  async (act) => {
    const workspace = act.workspace();
    writeFileSync(join(workspace.folder, 'model.json'), JSON.stringify({ says: 'The parrot has read it.' }));
    const window = await act.open(workspace);
    await window.runCommand('Other: Offer a Model');
    await window.openSideBar();
    // The editor reports a model when it has activated the extension that provides it. A page that was drawn before
    // does not offer the model. A new page does.
    const page = await until('a new page knows the model', async () => {
      const panel = await window.openPanel();
      if ((await panel.frame.locator('html').getAttribute('data-surface'))?.includes('Parrot') === true) return panel;
      await window.runCommand('View: Close Editor');
      return undefined;
    });
    const tab = await page.call('demo', 'summarize', { text: 'A story for a parrot.' });
    const card = tab.card('A story for a parrot.'); // it stands beside the button that made the call
    await card.getByRole('button', { name: 'Run with Parrot' }).waitFor();
    assert.deepEqual(
      workspace.answers().filter((message) => message.result !== undefined && 'model' in message.result),
      [],
    );

    await page.accept(card, async () => (await window.dialog.isVisible()) || (await card.count()) === 0);
    // The editor first asks whether this extension may use the models of another one. Then McpHub shows the answer.
    await until('the words are shown for a second yes', async () => {
      if (await window.dialog.filter({ hasText: 'The parrot has read it.' }).isVisible()) return true;
      const allow = window.dialog.getByRole('button', { name: 'Allow' });
      if (await allow.isVisible()) await allow.click();
      return false;
    });
    assert.equal(workspace.journal.all({ event: 'finished', tool: 'summarize' }).length, 0, 'nothing is sent before');
    await window.dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await page.endedAs('summarize', /done/i);
    await page.showsResult('summarize', /The parrot has read it\. \(by parrot-1\)/);
  },
  { notOn: { editor: 'oldest', because: 'VS Code lets an extension bring a model from 1.104 on' } },
);
