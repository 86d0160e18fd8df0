// What an earlier hub ended is reported once, in a fake editor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestDirection } from '@mcphub/host';
import type { AttachResponse } from '@mcphub/host';
import { EndedAway } from '../src/hub/endedaway.js';
import { newEditor } from './fakevscode.js';

const end = (requestId: string, direction: RequestDirection, earlierHub = true): object => ({
  earlierHub,
  end: { case: 'cancelled', value: { requestId, direction } },
});
const snapshot = (...history: object[]): AttachResponse =>
  ({ event: { case: 'snapshot', value: { history } } }) as unknown as AttachResponse;

test('what ended while the window was away is told once, with a way to it', async () => {
  const editor = newEditor();
  editor.choose = (_, [first]) => first;
  let shown = 0;
  const away = new EndedAway(() => {
    shown++;
    return Promise.resolve();
  });
  const said = snapshot(
    end('a', RequestDirection.OUTGOING),
    end('b', RequestDirection.INCOMING),
    end('c', RequestDirection.OUTGOING, false),
  );
  away.event(said);
  away.event(said);
  away.event(snapshot(end('d', RequestDirection.OUTGOING, false)));
  assert.equal(editor.messages.length, 1);
  assert.match(editor.messages[0] ?? '', /ended 1 request and 1 question/u);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(shown, 1);
});
