import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CancelDelivery, PromptCause, RequestState, ServerState } from '../dist/contract.js';
import type { AttachResponse, Prompt, Request, Server } from '../dist/contract.js';
import { lost, missed, nothing, runningRequests, transition, type Standing } from '../dist/contract.js';

type Event = AttachResponse['event'];

const request = (requestId: string, more: object = {}): Request =>
  ({ requestId, server: 's', method: 'tools/call', tool: 't', state: RequestState.RUNNING, ...more }) as Request;
const prompt = (promptId: string): Prompt =>
  ({ promptId, server: 's', question: { case: 'sampling', value: { requestJson: '{}' } } }) as unknown as Prompt;
const after = (before: Standing, event: Event): Standing => transition(before, { event } as AttachResponse).after;
const change = (before: Standing, event: Event): ReturnType<typeof transition>['change'] =>
  transition(before, { event } as AttachResponse).change;
const snapshot = (parts: {
  servers?: Server[];
  requests?: Request[];
  prompts?: Prompt[];
  history?: unknown[];
  laterPromptIds?: string[];
}): Event =>
  ({
    case: 'snapshot',
    value: { servers: [], requests: [], prompts: [], problems: [], history: [], laterPromptIds: [], ...parts },
  }) as unknown as Event;
const ended = (requestId: string): Event => ({ case: 'mcpRequestCancelled', value: { requestId } }) as unknown as Event;
const closed = (promptId: string): Event =>
  ({ case: 'promptClosed', value: { promptId, cause: PromptCause.WITHDRAWN } }) as unknown as Event;

test('a request counts from its start to its end, and no longer', () => {
  let s = after(nothing, snapshot({ requests: [request('a')] }));
  s = after(s, { case: 'mcpRequestStarted', value: { request: request('b') } } as unknown as Event);
  assert.equal(runningRequests(s).length, 2);
  s = after(s, { case: 'mcpRequestCancelling', value: { requestId: 'a' } } as unknown as Event);
  assert.equal(s.requests.get('a')?.state, RequestState.CANCELLING);
  s = after(s, ended('a'));
  assert.deepEqual(
    runningRequests(s).map((r) => r.requestId),
    ['b'],
  );
  assert.deepEqual(change(s, ended('a')), {}, 'a second end changes nothing');
});

// Finding B2: the outcome of a pending cancel comes after the end of its request.
for (const delivery of [CancelDelivery.DELIVERED, CancelDelivery.FAILED]) {
  test(`a request whose cancel was pending is over at once, and stays so when it is ${CancelDelivery[delivery]}`, () => {
    const outcome = { case: 'mcpRequestCancelDelivery', value: { requestId: 'a', server: 's', delivery, error: '' } };
    const before = after(nothing, snapshot({ requests: [request('a'), request('b')] }));
    const pending = { case: 'mcpRequestCancelled', value: { requestId: 'a', delivery: CancelDelivery.PENDING } };
    const s = after(before, pending as unknown as Event);
    assert.deepEqual([...s.requests.keys()], ['b'], 'nothing is waited for');
    assert.deepEqual(transition(s, { event: outcome } as unknown as AttachResponse), { after: s, change: {} });
  });
}

test('the start of a session is not something that the user runs', () => {
  assert.equal(
    runningRequests(after(nothing, snapshot({ requests: [request('i', { method: 'initialize' })] }))).length,
    0,
  );
});

test('a snapshot after a break tells which prompts are new and which are gone', () => {
  const before = after(nothing, snapshot({ prompts: [prompt('old'), prompt('kept')] }));
  const { opened = [], closed: gone = [] } = change(before, snapshot({ prompts: [prompt('kept'), prompt('new')] }));
  assert.deepEqual(
    opened.map((p) => p.promptId),
    ['new'],
  );
  assert.deepEqual(
    gone.map((c) => [c.prompt.promptId, c.end]),
    [['old', undefined]],
  );
});

test('a long prompt, which follows its snapshot, is neither gone nor new', () => {
  const before = after(nothing, snapshot({ prompts: [prompt('long')] }));
  const back = snapshot({ laterPromptIds: ['long', 'new'] });
  assert.deepEqual([change(before, back).opened, change(before, back).closed], [[], []]);
  const opened: Event = { case: 'promptOpened', value: { prompt: prompt('long') } } as unknown as Event;
  assert.deepEqual(change(after(before, back), opened), {});
});

test('a snapshot after a break stands for the ends, the beginnings and the changes of tools that were missed', () => {
  const ready = { name: 's', state: ServerState.READY } as Server;
  const servers = [ready, { name: 'stopped', state: ServerState.STOPPED } as Server];
  const before = after(nothing, snapshot({ servers, requests: ['a', 'b', 'c', 'd'].map((id) => request(id)) }));
  const history = [
    { end: { case: 'finished', value: { requestId: 'long ago' } } },
    { end: { case: 'finished', value: { requestId: 'd' } } },
    { end: { case: 'cancelled', value: { requestId: 'a' } } },
    { end: { case: 'finished', value: { requestId: 'b', state: RequestState.FAILED } } },
  ];
  const again = snapshot({ servers, requests: [request('c'), request('d'), request('e')], history });
  const of = (standing: Standing, event: Event): unknown[] =>
    missed(standing, { event } as AttachResponse).map(({ case: name, value }) => [
      name,
      name === 'mcpRequestStarted'
        ? value.request?.requestId
        : name === 'mcpRequestCancelled' || name === 'mcpRequestFinished'
          ? value.requestId
          : name === 'toolsChanged' && value.server,
    ]);
  assert.deepEqual(
    of(before, again),
    [
      ['mcpRequestCancelled', 'a'],
      ['mcpRequestFinished', 'b'],
      ['mcpRequestStarted', 'e'],
      ['toolsChanged', 's'],
    ],
    'd has begun anew',
  );
  assert.deepEqual(of(nothing, again), [], 'nothing was missed before the first one, or with another hub');
  assert.deepEqual(of(before, ended('a')), []);
});

test('a prompt closes once, with its cause', () => {
  const before = after(nothing, snapshot({ prompts: [prompt('p')] }));
  assert.equal(change(before, closed('p')).closed?.[0]?.end?.cause, PromptCause.WITHDRAWN);
  assert.deepEqual(change(after(before, closed('p')), closed('p')), {});
});

test('when the hub is gone, so is all that it asked', () => {
  const before = after(nothing, snapshot({ prompts: [prompt('p')], requests: [request('a')] }));
  const { after: s, change: c } = lost(before);
  assert.equal(s.prompts.size + s.requests.size, 0);
  assert.equal(s.known, false);
  assert.deepEqual(
    c.closed?.map((x) => x.prompt.promptId),
    ['p'],
  );
});

test('states are not changed in place', () => {
  const before = after(nothing, snapshot({ requests: [request('a')] }));
  after(before, ended('a'));
  assert.equal(before.requests.size, 1);
});
