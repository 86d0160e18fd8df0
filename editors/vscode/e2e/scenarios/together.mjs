import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';
import { demoServersOf, hubOfServer } from '../workspace.mjs';

scenario(
  'side bar and panel side by side: an answer in one closes the card in the other',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const sideBar = await window.openSideBar();
    await sideBar.call('demo', 'ask_name');
    const panel = await window.openPanel();
    const [left, right] = [sideBar.card('What is your name?'), panel.card('What is your name?')];
    await left.waitFor();
    await right.getByRole('textbox', { name: 'Name' }).first().fill('Edsger');
    await panel.accept(right);
    await left.waitFor({ state: 'detached' });
    await right.waitFor({ state: 'detached' });
    await sideBar.note('Answered in another window').waitFor();
    await sideBar.endedAs('ask_name', /done/i);
    await panel.frame
      .getByTestId('history')
      .getByTestId(/^ended-/)
      .first()
      .waitFor();
    assert.equal(workspace.answers().filter((message) => message.result?.action === 'accept').length, 1);
  },
  { core: true },
);

scenario('three windows on one folder have a hub each, and none disturbs another', async (act) => {
  const workspace = act.workspace();
  const [one, other, third] = [await act.open(workspace), await act.open(workspace), await act.open(workspace)];
  const [first, second, last] = [await one.openSideBar(), await other.openSideBar(), await third.openSideBar()];
  await first.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
  await second.call('demo', 'ask_name');
  await second.card('What is your name?').waitFor();
  await last.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
  await workspace.journal.has({ event: 'started', tool: 'long_task' }, { count: 2 });
  const servers = demoServersOf(workspace);
  assert.equal(servers.length, 3, 'a server for each window');
  assert.equal(new Set(servers.map((server) => hubOfServer(server).pid)).size, 3, 'and a hub');
  for (const page of [first, last]) assert.equal(await page.cards.count(), 0, 'the question is of another window');
  assert.equal(await second.request('long_task').count(), 0, 'and so are the calls');
  for (const page of [first, last]) assert.equal(await page.requests.count(), 1, 'each has its own');

  await other.close();
  await first.cancel(first.request('long_task'), 'alone again');
  const [heard] = await workspace.journal.has({ event: 'cancel_received' });
  assert.equal(heard?.reason, 'alone again');
  await first.endedAs('long_task', /cancelled/i);
  assert.equal(await last.request('long_task').count(), 1, 'the third one goes on');
});
