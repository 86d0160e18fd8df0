import assert from 'node:assert/strict';
import { scenario } from '../stage.mjs';

scenario(
  'a question that its server withdraws: the card appears and vanishes by itself, and nothing is answered',
  async (act) => {
    const workspace = act.workspace();
    const page = await (await act.open(workspace)).openSideBar();
    await page.call('demo', 'ask_then_withdraw', { after_ms: 10_000, reason: 'it was found elsewhere' });
    const card = page.card('What is your name?');
    await card.waitFor();
    await page.note('Withdrawn by demo: it was found elsewhere').waitFor();
    await card.waitFor({ state: 'detached' });
    await workspace.journal.has({ event: 'withdrawn', tool: 'ask_then_withdraw', reason: 'it was found elsewhere' });
    await page.endedAs('ask_then_withdraw', /done/i);
    // The result of the call has arrived, so an answer to the question would have been written before it.
    assert.deepEqual(
      workspace.answers().filter((message) => message.result?.action !== undefined || message.error !== undefined),
      [],
    );
  },
  { core: true },
);

scenario(
  'a tool approval: approve, deny and dismiss are three different ends',
  async (act) => {
    const workspace = act.workspace();
    const page = await (await act.open(workspace)).openSideBar();

    await page.call('demo', 'echo', { text: 'allowed words' });
    await page.accept(page.card('allowed words'));
    await page.endedAs('echo', /done/i);

    await page.call('demo', 'echo', { text: 'denied words' });
    await page.card('denied words').getByTestId('decline').click();
    await page.endedAs('echo', /denied/i);

    await page.call('demo', 'echo', { text: 'dismissed words' });
    await page.card('dismissed words').getByTestId('card-more').click();
    await page.card('dismissed words').getByTestId('dismiss').click();
    await page.endedAs('echo', /dismissed by you/i);

    const sent = workspace.wire().filter((message) => message.method === 'tools/call');
    assert.equal(sent.length, 1, 'only what was allowed reached the server');
    assert.equal(workspace.journal.all({ event: 'started', tool: 'echo' }).length, 1);
  },
  { core: true },
);

scenario(
  'a form: what does not fit is not sent, what fits is, and the tool goes on with it',
  async (act) => {
    const workspace = act.workspace();
    const page = await (await act.open(workspace)).openSideBar();
    await page.call('demo', 'ask_name');
    const card = page.card('What is your name?');
    await page.accept(card, async () => (await card.locator('[aria-invalid="true"]').count()) > 0);
    assert.equal(await card.count(), 1, 'the card stays open');
    assert.deepEqual(
      workspace.answers().filter((message) => message.result?.action !== undefined),
      [],
    );

    await card.getByRole('textbox', { name: 'Name' }).first().fill('Ada');
    await page.accept(card);
    await page.endedAs('ask_name', /done/i);
    await page.showsResult('ask_name', /Hello, Ada!/);
  },
  { core: true },
);
