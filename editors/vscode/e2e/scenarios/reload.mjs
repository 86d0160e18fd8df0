import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';
import { hubOf } from '../workspace.mjs';

scenario(
  'a reload of the window in the middle of a call and of a question: both are there again, one is answered, the other cancelled',
  async (act) => {
    const workspace = act.workspace();
    const window = await act.open(workspace);
    const before = await window.openSideBar();
    await before.call('demo', 'long_task', { steps: 10_000, step_ms: 200 });
    await before.call('demo', 'ask_name');
    await before.card('What is your name?').waitFor();
    const request = await before.request('long_task').getAttribute('data-testid');
    const prompt = await before.card('What is your name?').getAttribute('data-testid');
    const hub = hubOf(workspace);

    await window.reload();

    const page = await window.sideBar(); // the editor restores open views
    await page.request('long_task').waitFor();
    assert.equal(await page.request('long_task').getAttribute('data-testid'), request, 'the same request');
    const card = page.card('What is your name?');
    await card.waitFor();
    assert.equal(await card.getAttribute('data-testid'), prompt, 'the same question');
    assert.equal(hubOf(workspace).pid, hub.pid, 'the same hub');

    await card.getByRole('textbox', { name: 'Name' }).first().fill('Grace');
    await page.accept(card);
    await page.endedAs('ask_name', /done/i);
    await page.cancel(page.request('long_task'), 'seen enough after the reload');
    const [heard] = await workspace.journal.has({ event: 'cancel_received' });
    assert.equal(heard?.reason, 'seen enough after the reload');
    await page.endedAs('long_task', /cancelled/i);
  },
  { core: true },
);
