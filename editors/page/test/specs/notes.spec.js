// The note that a cancelled request leaves: what has become of it, where a person looks.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';
import { at, request, server } from '../harness/world.js';

const running = () => ({
  servers: [server('files')],
  requests: ['r-1', 'r-2', 'r-3', 'r-4', 'r-5', 'r-6'].map((id) => request(id)),
});

/**
 * @param {string} requestId
 * @param {Partial<import('../../../host/src/gen/mcphub/v1/editor_pb.js').McpRequestCancelledJson>} [more]
 * @returns {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachResponseJson}
 */
const end = (requestId, more = {}) => ({
  mcpRequestCancelled: {
    requestId,
    server: 'files',
    tool: 'index_folder',
    method: 'tools/call',
    direction: 'REQUEST_DIRECTION_OUTGOING',
    cancellation: { origin: 'ORIGIN_USER', reason: 'wrong folder', time: at(0) },
    delivery: 'CANCEL_DELIVERY_PENDING',
    serverMayContinue: true,
    ...more,
  },
});

mainTest(
  'a cancelled call leaves a note that changes with the truth, and goes a minute after it last did',
  { snapshot: running() },
  async ({ by, hub, pass, settle }) => {
    await hub.say(end('r-1'));
    await settle();
    const note = by('note-r-1');
    assert.match(await note.innerText(), /Cancelled: wrong folder\. The server is being told\./);
    await pass(50_000);
    await hub.say({
      mcpRequestCancelDelivery: { requestId: 'r-1', server: 'files', delivery: 'CANCEL_DELIVERY_DELIVERED' },
    });
    await settle();
    assert.match(await note.innerText(), /Cancelled: wrong folder\. The server was told; it may still be working\./);
    await pass(55_000);
    assert.equal(await note.count(), 1, 'a minute counts from the last change');
    await pass(10_000);
    assert.equal(await note.count(), 0);
    assert.equal(await by('ended-r-1').count(), 1, 'the history has it');
  },
);

mainTest(
  'the note of a cancelled call says that its server has answered, and when',
  { snapshot: running() },
  async ({ by, hub, settle }) => {
    await hub.say(end('r-1', { delivery: 'CANCEL_DELIVERY_DELIVERED' }));
    await settle();
    await hub.say({ mcpRequestAnsweredLate: { requestId: 'r-1', server: 'files', answer: { after: '3.400s' } } });
    await settle();
    assert.match(
      await by('note-r-1').innerText(),
      /Cancelled: wrong folder\. The server answered 3\.4 s later; its result was dropped\./,
    );
    await hub.say(end('r-2', { delivery: 'CANCEL_DELIVERY_DELIVERED', lateAnswer: { after: '0.2s', isError: true } }));
    await settle();
    assert.match(await by('note-r-2').innerText(), /The server answered 0\.2 s later, with an error\./);
  },
);

mainTest(
  'a note leads to the details, can be dismissed, and stays while a person is at it',
  { snapshot: running() },
  async ({ by, hub, page, pass, settle }) => {
    await hub.say(end('r-1'));
    await settle();
    await by('note-r-1').getByRole('button', { name: 'index_folder', exact: true }).focus();
    await pass(120_000);
    assert.equal(await by('note-r-1').count(), 1, 'the focus is in it');
    await page.keyboard.press('Enter');
    await settle();
    assert.match(await by('ended-details').innerText(), /wrong folder/);
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'H2', 'the details have the focus');
    await hub.say(end('r-3'));
    await settle();
    await by('note-r-3')
      .getByRole('button', { name: /dismiss/i })
      .click();
    await settle();
    assert.equal(await by('note-r-3').count(), 0);
  },
);

pageTest(
  'at most five notes stand there, the newest first; an answer leaves none',
  { snapshot: running() },
  async ({ by, hub, page, settle }) => {
    await hub.say({ mcpRequestFinished: { requestId: 'r-1', server: 'files', state: 'REQUEST_STATE_DONE' } });
    for (const id of ['r-2', 'r-3', 'r-4', 'r-5', 'r-6']) await hub.say(end(id));
    await hub.say({ mcpRequestStarted: { request: request('r-7') } });
    await hub.say(end('r-7', { delivery: 'CANCEL_DELIVERY_FAILED', deliveryError: 'the pipe is full' }));
    await settle();
    const notes = page.locator('.note');
    assert.equal(await notes.count(), 5);
    assert.match(await notes.first().innerText(), /could not be told: the pipe is full/);
    assert.equal(await by('note-r-2').count(), 0, 'the oldest went');
    assert.equal(await by('note-r-1').count(), 0, 'an answer is an answer');
  },
);
