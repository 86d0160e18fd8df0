import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answeredHere, closesIn, closingNote, opened, transition } from '../src/questions/cardstate.js';
import { withEdits } from '../src/questions/cardsampling.js';
import { aboutUrl } from '../src/questions/cardurl.js';
import { quoted } from '../src/questions/cardparts.js';

/**
 * @typedef {import('../src/questions/cardstate.js').CardEvent} CardEvent
 * @typedef {import('../src/questions/cardstate.js').CardState} CardState
 * @typedef {import('../../host/src/gen/mcphub/v1/prompt_pb.js').PromptClosedJson} PromptClosedJson
 * @typedef {import('../../host/src/gen/mcphub/v1/prompt_pb.js').PromptCauseJson} PromptCauseJson
 */

const actions = /** @type {const} */ (['accept', 'decline', 'dismiss']);

/** @param {CardEvent[]} events */
const after = (...events) => events.reduce(transition, opened);

test('a card is answered once', () => {
  const sent = after({ answer: 'accept' });
  assert.equal(sent.phase, 'sending');
  for (const answer of actions) assert.equal(transition(sent, { answer }), sent, answer);
  const over = after('closed');
  for (const answer of actions) assert.equal(transition(over, { answer }), over);
  assert.equal(transition(over, 'closed'), over);
});

test('a refused answer opens the card again, a late refusal of an earlier one does not', () => {
  assert.equal(after({ answer: 'accept' }, { refused: 1 }).phase, 'open');
  assert.equal(after({ answer: 'accept' }, { refused: 1 }, { answer: 'accept' }, { refused: 1 }).phase, 'sending');
  assert.equal(after({ answer: 'accept' }, 'closed', { refused: 1 }).phase, 'closed');
  assert.equal(transition(opened, { refused: 0 }), opened);
});

test('while the model runs, only a no is taken', () => {
  const running = after({ answer: 'accept', runs: true });
  assert.equal(running.phase, 'running');
  assert.equal(transition(running, { answer: 'accept' }), running);
  assert.deepEqual(transition(running, { answer: 'decline' }), { phase: 'sending', sent: 'decline', answers: 2 });
  assert.equal(after({ answer: 'accept', runs: true }, { answer: 'dismiss' }, { refused: 1 }).phase, 'sending');
});

test('no order of events answers twice without a refusal between', () => {
  /** @type {CardEvent[]} */
  const events = [
    { answer: 'accept' },
    { answer: 'accept', runs: true },
    { answer: 'decline' },
    { answer: 'dismiss' },
    { refused: 1 },
    { refused: 2 },
    'closed',
  ];
  let walks = 0;
  /** @param {CardState} state @param {number} depth @param {number} accepts */
  const walk = (state, depth, accepts) => {
    walks++;
    if (depth === 0) return;
    for (const event of events) {
      const next = transition(state, event);
      const sent = next.answers > state.answers;
      assert.ok(!sent || state.phase !== 'closed');
      let open = accepts;
      if (next.phase === 'open') open = 0;
      if (sent && next.sent === 'accept') open++;
      assert.ok(open <= 1, JSON.stringify([state, event]));
      walk(next, depth - 1, open);
    }
  };
  walk(opened, 6, 0);
  assert.ok(walks > 100_000);
});

test('every end is told in a sentence that says who and why', () => {
  /** @param {string} cause @param {PromptClosedJson} [more] */
  const note = (cause, more) =>
    closingNote({ cause: /** @type {PromptCauseJson} */ (`PROMPT_CAUSE_${cause}`), ...more }, 'booking', 'w-1');
  assert.equal(
    note('WITHDRAWN', { reason: 'no longer\u202e needed.' }),
    'Withdrawn by booking: no longer⟨U+202E⟩ needed. Nothing was sent.',
  );
  assert.equal(note('WITHDRAWN'), 'Withdrawn by booking. Nothing was sent.');
  assert.equal(note('ANSWERED'), 'Answered in another window.');
  assert.equal(note('DECLINED', { reason: 'too far', windowId: 'w-2' }), 'Declined in another window: too far.');
  assert.equal(note('DECLINED'), 'Declined.', 'by no window: its server was silenced');
  assert.equal(note('DECLINED', { windowId: 'w-1' }), 'Declined.', 'here, but not on this card');
  assert.equal(note('DISMISSED', { windowId: 'w-2' }), 'Dismissed in another window.');
  assert.equal(note('PARENT', { origin: 'ORIGIN_USER' }), 'The call was cancelled.');
  assert.equal(note('PARENT', { origin: 'ORIGIN_PARENT', reason: 'the request is over' }), 'The call ended first.');
  assert.equal(note('PARENT', { origin: 'ORIGIN_TIMEOUT' }), 'The call timed out.');
  assert.equal(note('TIMEOUT'), 'Timed out: nobody answered.');
  assert.equal(note('SERVER_GONE'), 'The connection to the server ended.');
  assert.equal(note('SHUTDOWN'), 'McpHub is shutting down.');
  assert.equal(note('SUPERSEDED', { reason: 'a policy allows it' }), 'No longer needed: a policy allows it.');
  assert.equal(note('UNSPECIFIED'), 'Closed.');
});

test('only the answer that was sent from a card closes it without a note', () => {
  /** @param {string} cause */
  const closed = (cause) => ({ cause: /** @type {PromptCauseJson} */ (`PROMPT_CAUSE_${cause}`) });
  const accepted = transition(opened, { answer: 'accept' });
  assert.equal(answeredHere(closed('ANSWERED'), accepted), true);
  assert.equal(answeredHere(closed('WITHDRAWN'), accepted), false);
  assert.equal(answeredHere(closed('DECLINED'), accepted), false);
  assert.equal(answeredHere(closed('ANSWERED'), opened), false);
});

test('a deadline is told when it is near', () => {
  const at = (/** @type {number} */ s) =>
    closesIn('2026-03-31T10:00:00Z', Date.parse('2026-03-31T10:00:00Z') - s * 1000);
  assert.deepEqual([301, 300, 240, 239, 60, 59, 1, 0, -5].map(at), [
    '',
    'Closes in 5 min',
    'Closes in 4 min',
    'Closes in 4 min',
    'Closes in 1 min',
    'Closes in 59 s',
    'Closes in 1 s',
    'Closes in 0 s',
    'Closes in 0 s',
  ]);
  assert.equal(closesIn(undefined, 0), '');
});

test('a sampling request that was not edited is byte for byte what came', () => {
  const json =
    '{ "maxTokens":1e2, "messages":[{"role":"user","content":{"type":"text","text":"hi"}}],  "x":12345678901234567890 }';
  const edit = (/** @type {string} */ text) =>
    withEdits(json, [{ path: ['messages', 0, 'content', 'text'], was: 'hi', text }]);
  assert.equal(edit('hi'), json);
  assert.equal(
    edit('ho'),
    '{"maxTokens":1e2,"messages":[{"role":"user","content":{"type":"text","text":"ho"}}],"x":12345678901234567890}',
  );
  const several = '{"systemPrompt":"a","maxTokens":5,"messages":[{"content":[{"type":"text","text":"b"}]}]}';
  assert.equal(
    withEdits(several, [
      { path: ['messages', 0, 'content', 0, 'text'], was: 'b', text: 'B' },
      { path: ['maxTokens'], was: '5', text: '07'.replace('0', '') },
      { path: ['systemPrompt'], was: 'a', text: '' },
    ]),
    '{"maxTokens":7,"messages":[{"content":[{"type":"text","text":"B"}]}]}',
  );
});

test('what is odd about an address is said', () => {
  const warned = (/** @type {string} */ url, /** @type {string} */ host = '') => aboutUrl(url, host).warnings.join(' ');
  assert.deepEqual(aboutUrl('https://example.com/a?b#c', 'example.com'), {
    host: 'example.com',
    opens: true,
    warnings: [],
  });
  assert.match(warned('http://example.com/'), /not encrypted/);
  for (const local of [
    'localhost',
    'a.localhost',
    'localhost.',
    '127.1',
    '0.0.0.0',
    '0x7f000001',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ])
    assert.match(warned(`http://${local}/`), /a program on this computer/, local);
  assert.doesNotMatch(warned('http://localhost/'), /not encrypted/);
  assert.doesNotMatch(warned('http://localhost.example/'), /this computer/);
  assert.match(warned('http://localhost:8080/'), /port 8080/);
  assert.match(warned('https://xn--pple-43d.com/'), /xn--/);
  assert.match(warned('https://аpple.com/'), /xn--/, 'a browser turns it to punycode, and so does the page');
  assert.match(warned('https://github.com@evil.example/'), /leads: to evil\.example/);
  assert.match(warned('https://192.168.0.1/'), /IP address/);
  assert.match(warned('https://0x7f.1/'), /IP address/);
  assert.match(warned('https://[::1]/'), /IP address/);
  assert.match(warned('https://a.example\\@b.example/', 'b.example'), /differently: as b\.example/);
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'vscode://x', 'no url', '']) {
    assert.equal(aboutUrl(url).opens, false, url);
    assert.notEqual(warned(url), '');
  }
});

test('a word of a command line cannot pass for two, or hide its end', () => {
  assert.deepEqual(['npx', '-y', '@x/y@1.0', 'C:\\a\\b', 'a b', '', "it's", '$(rm)', 'a\nb'].map(quoted), [
    'npx',
    '-y',
    '@x/y@1.0',
    'C:\\a\\b',
    '"a b"',
    '""',
    '"it\'s"',
    '"$(rm)"',
    '"a\\nb"',
  ]);
});
