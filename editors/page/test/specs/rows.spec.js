// What the rows of open requests show, and which requests have a row.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { finished, prompts, request, server } from '../harness/world.js';

const call = request('r-book', { server: 'booking', tool: 'book', state: 'REQUEST_STATE_AWAITING_INPUT' });
const question = request('r-form', {
  server: 'booking',
  direction: 'REQUEST_DIRECTION_INCOMING',
  method: 'elicitation/create',
  tool: '',
  parentRequestId: 'r-book',
  state: 'REQUEST_STATE_AWAITING_INPUT',
});

mainTest(
  'a call and its question are one row, which leads to the card; the row of the question comes when its card goes',
  { snapshot: { servers: [server('booking')], requests: [call, question], prompts: [prompts.form] } },
  async ({ by, hub, settle }) => {
    const row = by('request-r-book');
    await row.waitFor();
    assert.equal(await by('request-r-form').count(), 0);
    assert.equal(await row.getByTestId('cancel').count(), 1);
    await row.getByTestId('show-question').press('Enter');
    await settle();
    assert.ok(await by('prompt-p-form').evaluate((card) => card.contains(document.activeElement)));
    await row.getByTestId('show-question').focus();
    await hub.say({
      promptClosed: { promptId: 'p-form', cause: 'PROMPT_CAUSE_ANSWERED', windowId: 'w-2', origin: 'ORIGIN_USER' },
    });
    await by('request-r-form').waitFor();
    assert.equal(await row.getByTestId('show-question').count(), 0);
    assert.ok(await row.evaluate((element) => element === document.activeElement), 'the focus stays on the row');
    await hub.say({ mcpRequestFinished: { requestId: 'r-form', state: 'REQUEST_STATE_DONE' } });
    await by('request-r-form').waitFor({ state: 'detached' });
    assert.equal(await row.count(), 1);
  },
);

pageTest(
  'a call whose client is asked says where the answer is awaited, and the page has no question; what is asked here is not awaited there',
  {
    snapshot: {
      servers: [server('booking')],
      requests: [{ ...call, caller: 'Agent \u202e' }, question],
      prompts: [],
    },
  },
  async ({ by, hub }) => {
    const words = () => by('request-r-book').locator('.telling p').allInnerTexts();
    await by('request-r-form').waitFor();
    assert.deepEqual(await words(), Array(2).fill('Waiting for an answer in Agent ⟨U+202E⟩'));
    await hub.say({ promptOpened: { prompt: prompts.form } });
    await by('request-r-form').waitFor({ state: 'detached' });
    assert.deepEqual(await words(), ['Waiting for an answer']);
  },
);

pageTest(
  "an approval is its call's own question, and what the hub asks about a server has its card alone",
  {
    snapshot: {
      servers: [server('files')],
      requests: [
        request('r-write', { tool: 'write_file', state: 'REQUEST_STATE_AWAITING_APPROVAL' }),
        request('r-launch', { method: 'launch', tool: '', subject: '' }),
      ],
      prompts: [prompts.approval, { ...prompts.launch, requestId: 'r-launch' }],
    },
  },
  async ({ by }) => {
    await by('request-r-write').getByTestId('show-question').waitFor();
    await by(`prompt-${prompts.launch.promptId}`).waitFor();
    assert.equal(await by('request-r-launch').count(), 0);
  },
);

const titled = { tool: 'write_file', title: 'Write a file \u202e' };
pageTest(
  'a call is named by the title of its tool, and the name of the tool stands behind it',
  {
    snapshot: {
      servers: [server('files')],
      requests: [request('r-new', titled), request('r-old', { tool: 'read_file' })],
      history: [finished('r-gone', titled)],
    },
  },
  async ({ by, page }) => {
    const row = by('request-r-new');
    assert.equal(await row.locator('.name').innerText(), 'Write a file ⟨U+202E⟩');
    assert.match(await row.locator('.of').innerText(), /^write_file · files/);
    assert.equal(await row.getByTestId('cancel').getAttribute('aria-label'), 'Cancel Write a file ⟨U+202E⟩ of files');
    assert.equal(await by('request-r-old').locator('.name').innerText(), 'read_file');
    assert.match(await by('request-r-old').locator('.of').innerText(), /^files/);
    const ended = by('ended-r-gone');
    assert.match(await ended.innerText(), /^Write a file ⟨U\+202E⟩\s+files/);
    await page.getByRole('button', { name: 'Search the history' }).click();
    await page.getByLabel('Filter the history by text').fill('write a file');
    await ended.click();
    assert.match(await by('facts').innerText(), /Details/);
    await by('facts').getByText('Details').click();
    assert.match(await by('facts').innerText(), /Tool\s+write_file/);
  },
);
