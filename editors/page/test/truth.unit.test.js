import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addEnded } from '../src/hub/ended.js';
import { truthOf } from '../src/hub/truth.js';

/** @param {Partial<import('../../host/src/gen/mcphub/v1/editor_pb.js').McpRequestCancelledJson>} more */
const truth = (more) =>
  truthOf(
    addEnded(
      [],
      { cancelled: { requestId: 'r-1', cancellation: { origin: 'ORIGIN_USER', reason: 'wrong folder' }, ...more } },
      undefined,
    ),
  );

test('what has become of a cancelled call', () => {
  const delivery = 'CANCEL_DELIVERY_DELIVERED';
  for (const [more, words] of /** @type {const} */ ([
    [{ delivery, serverMayContinue: true }, 'The server was told; it may still be working.'],
    [{ delivery, lateAnswer: { after: '3.400s' } }, 'The server answered 3.4 s later; its result was dropped.'],
    [{ delivery, lateAnswer: { after: '75s' } }, 'The server answered 1 min 15 s later; its result was dropped.'],
    [{ delivery, lateAnswer: { after: '0.004s', isError: true } }, 'The server answered 0.1 s later, with an error.'],
    [{ delivery: 'CANCEL_DELIVERY_FAILED', deliveryError: 'no\u202e' }, 'The server could not be told: no⟨U+202E⟩.'],
  ]))
    assert.equal(truth(more), `Cancelled: wrong folder. ${words}`);
  const timedOut = { cancellation: { origin: /** @type {const} */ ('ORIGIN_TIMEOUT'), reason: 'too slow' } };
  assert.equal(
    truth({ ...timedOut, delivery, lateAnswer: { after: '1s' } }),
    'Timed out: too slow. The server answered 1 s later; its result was dropped.',
  );
});
