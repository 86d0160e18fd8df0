// Questions that a host answers itself: who is asked, what is sent, and what is not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Asking, kindsOf } from '../dist/api/asking.js';
import { ApprovalScope, HubError, PromptCause, PromptKind } from '../dist/contract.js';
import type { AttachRequest } from '../dist/contract.js';
import type { ApprovalQuestion, FormQuestion, QuestionHandlers, SamplingQuestion } from '../dist/index.js';
import { ApiScene } from './apiscene.js';
import { settle } from './fakestream.js';
import type { FakeStream } from './fakestream.js';

class AskingScene extends ApiScene {
  readonly reported: HubError[] = [];
  readonly asking: Asking;

  constructor(handlers: QuestionHandlers) {
    super({ promptKinds: kindsOf(handlers) });
    this.asking = new Asking(this.watcher, handlers, (error) => this.reported.push(error));
  }
}

/** A handler that answers when the test says so. */
function later<Q, A>() {
  const questions: Q[] = [];
  const answers: ((answer: A) => void)[] = [];
  const handler = (question: Q): Promise<A> =>
    new Promise((resolve) => {
      questions.push(question);
      answers.push(resolve);
    });
  return { questions, answers, handler };
}

/** The answers that a stream was sent, without what their schema says. */
function answersOf(stream: FakeStream): { id: string; action: string | undefined; value: unknown }[] {
  return stream.sent.flatMap(({ message, messageId }) => {
    if (message.case !== 'answerPrompt') {
      return [];
    }
    const { action } = message.value;
    const { $typeName: _, ...value } = action.value ?? { $typeName: '' };
    return [{ id: messageId, action: action.case, value }];
  });
}

async function reply(stream: FakeStream, error?: { code: string; reason: string; message: string }): Promise<void> {
  const messageId = (stream.sent.at(-1) as AttachRequest).messageId;
  stream.say({ case: 'reply', value: { messageId, ...(error && { error }) } });
  await settle();
}

const approval = (promptId = 'p') => ({
  promptId,
  server: 's',
  requestId: 'r',
  question: { case: 'toolApproval', value: { tool: 't', argumentsJson: '{"a":1}', destructiveHint: true } } as const,
});
const form = {
  promptId: 'f',
  server: 's',
  question: { case: 'elicitationForm', value: { message: 'Who?', schemaJson: '{"type":"object"}' } } as const,
};

async function opened(stream: FakeStream, prompt: object): Promise<void> {
  stream.say({ case: 'promptOpened', value: { prompt } });
  await settle();
}

test('the window says that it can answer what there are handlers for, and nothing else', async () => {
  const handlers = { approval: () => undefined, sampling: () => undefined, openUrl: () => undefined };
  assert.deepEqual(kindsOf(handlers), [PromptKind.TOOL_APPROVAL, PromptKind.SAMPLING]);
  assert.deepEqual(kindsOf({}), []);
  const scene = new AskingScene({});
  const stream = await scene.attach({ prompts: [approval()] });
  assert.deepEqual([stream.hello.promptKinds, answersOf(stream)], [[], []]);
  await scene.close();
});

test('a question is shown with its facts, and its answer is sent', async () => {
  const asked: ApprovalQuestion[] = [];
  const scene = new AskingScene({
    approval: (question) => {
      asked.push(question);
      return { action: 'accept', scope: 'always' };
    },
  });
  const stream = await scene.attach({ prompts: [approval()] }); // asked before this window came
  const [question] = asked;
  assert.deepEqual(
    [question?.tool, question?.argumentsJson, question?.destructive, question?.requestId, question?.refused],
    ['t', '{"a":1}', true, 'r', undefined],
  );
  assert.deepEqual(
    answersOf(stream).map(({ action, value }) => [action, (value as { scope: unknown }).scope]),
    [['accept', ApprovalScope.ALWAYS]],
  );
  await reply(stream);
  stream.say({
    case: 'promptClosed',
    value: { promptId: 'p', cause: PromptCause.ANSWERED, windowId: scene.watcher.windowId },
  });
  await settle();
  assert.equal(question?.signal.aborted, false, 'who has answered is not told that it is over');
  assert.deepEqual(scene.reported, []);
  await scene.close();
});

test('a question that the server withdraws is taken back with its reason, and a late answer is not sent', async () => {
  const { questions, answers, handler } = later<FormQuestion, { action: 'accept'; content: Record<string, unknown> }>();
  const scene = new AskingScene({ form: handler });
  const stream = await scene.attach();
  await opened(stream, form);
  const [question] = questions;
  assert.deepEqual([question?.message, question?.schema], ['Who?', { type: 'object' }]);
  stream.say({
    case: 'promptClosed',
    value: { promptId: 'f', cause: PromptCause.WITHDRAWN, reason: 'I know it now' },
  });
  await settle();
  const reason: unknown = question?.signal.reason;
  assert.ok(reason instanceof HubError);
  assert.deepEqual([reason.code, reason.reason, reason.message], ['cancelled', 'WITHDRAWN', 'I know it now']);
  answers[0]?.({ action: 'accept', content: { name: 'late' } });
  await settle();
  assert.deepEqual([answersOf(stream), scene.reported], [[], []]);
  await scene.close();
});

test('an answer that crosses the end of its question harms nobody', async () => {
  const scene = new AskingScene({ approval: () => ({ action: 'decline', reason: 'no' }) });
  const stream = await scene.attach();
  await opened(stream, approval());
  assert.deepEqual(answersOf(stream)[0]?.value, { reason: 'no' });
  await reply(stream, { code: 'NOT_FOUND', reason: 'PROMPT_CLOSED', message: 'it is over' });
  stream.say({ case: 'promptClosed', value: { promptId: 'p', cause: PromptCause.PARENT } });
  await settle();
  assert.deepEqual([answersOf(stream).length, scene.reported], [1, []]);
  await scene.close();
});

test('an answer that the hub refuses is asked for again, with the reason; the same again dismisses the question', async () => {
  const { questions, answers, handler } = later<FormQuestion, { action: 'accept'; content: Record<string, unknown> }>();
  const scene = new AskingScene({ form: handler });
  const stream = await scene.attach();
  await opened(stream, form);
  const refused = { code: 'INVALID_ARGUMENT', reason: 'INVALID_CONTENT', message: 'age is a number' };
  for (const age of ['x', 'y', 'y']) {
    answers.at(-1)?.({ action: 'accept', content: { age } });
    await settle();
    await reply(stream, refused);
  }
  assert.deepEqual(
    questions.map((one) => one.refused?.message),
    [undefined, 'age is a number', 'age is a number'],
  );
  assert.deepEqual(
    answersOf(stream).map(({ action }) => action),
    ['accept', 'accept', 'accept', 'dismiss'],
  );
  assert.deepEqual(
    scene.reported.map(({ reason }) => reason),
    ['INVALID_CONTENT'],
  );
  await scene.close();
});

test('a handler that throws has its question dismissed, so that nobody waits for ever', async () => {
  const scene = new AskingScene({
    approval: () => {
      throw new Error('the dialog is broken');
    },
    form: () => ({ action: 'yes' }) as never,
  });
  const stream = await scene.attach();
  await opened(stream, approval());
  await reply(stream);
  await opened(stream, form);
  assert.deepEqual(
    answersOf(stream).map(({ action }) => action),
    ['dismiss', 'dismiss'],
  );
  assert.match(scene.reported.map(String).join(), /the dialog is broken.*action "yes"/);
  await scene.close();
});

test('a question that its handler leaves alone stays open', async () => {
  const scene = new AskingScene({ approval: () => undefined });
  const stream = await scene.attach();
  await opened(stream, approval());
  assert.deepEqual(answersOf(stream), []);
  assert.equal(scene.mirror.questions.length, 1);
  await scene.close();
});

test('an answer that was lost with its stream is sent again, if the question is still open', async () => {
  const { answers, handler } = later<ApprovalQuestion, { action: 'accept' }>();
  const scene = new AskingScene({ approval: handler });
  const first = await scene.attach({ prompts: [approval('a'), approval('b')] });
  answers.forEach((answer) => answer({ action: 'accept' }));
  await settle();
  assert.equal(answersOf(first).length, 2);
  const again = new Promise<void>((resolve) => {
    const attach = scene.source.attach.bind(scene.source);
    scene.source.attach = (hello) => {
      resolve();
      return attach(hello);
    };
  });
  first.inbox.end(new HubError('unavailable', 'CONNECTION_LOST', 'it broke'));
  await again;
  const second = scene.source.stream(-1);
  second.welcome();
  second.say({ case: 'snapshot', value: { prompts: [approval('b')] } });
  await settle();
  assert.deepEqual(
    second.sent.map(({ message }) => message.case === 'answerPrompt' && message.value.promptId),
    ['b'],
  );
  assert.equal(answers.length, 2, 'nobody was asked twice');
  await scene.close();
});

test('a model of the host answers sampling, and a launch is agreed to with the hash of what was shown', async () => {
  const asked: SamplingQuestion[] = [];
  const launched: string[] = [];
  const scene = new AskingScene({
    sampling: (question) => {
      asked.push(question);
      return {
        action: 'accept',
        result: { role: 'assistant', content: { type: 'text', text: 'blue' }, model: 'mine' },
      };
    },
    launch: ({ command, args, writtenBy, environment }) => {
      launched.push(`${command} ${args.join(' ')} for ${writtenBy?.name}, ${environment[0]?.name}`);
      return { action: 'accept' };
    },
  });
  const stream = await scene.attach();
  const requestJson = '{"messages":[],"maxTokens":5}';
  await opened(stream, { promptId: 's', question: { case: 'sampling', value: { requestJson } } });
  await reply(stream);
  const value = {
    command: 'npx',
    args: ['-y', 'x'],
    launchHash: 'h',
    writtenBy: { name: 'Some Program' },
    environment: [{ name: 'PATH', loadsCode: true }],
  };
  await opened(stream, { promptId: 'l', question: { case: 'serverLaunch', value } });
  assert.deepEqual(asked[0]?.request, { messages: [], maxTokens: 5 });
  assert.deepEqual(launched, ['npx -y x for Some Program, PATH']);
  const [sampled, agreed] = answersOf(stream).map((one) => one.value as { contentJson: string; launchHash: string });
  assert.equal(sampled?.contentJson, '{"role":"assistant","content":{"type":"text","text":"blue"},"model":"mine"}');
  assert.equal(agreed?.launchHash, 'h');
  await scene.close();
});

test('a page to visit is opened when the hub has taken the yes, and not before, and not twice', async () => {
  const visited: string[] = [];
  const scene = new AskingScene({
    url: () => ({ action: 'accept' }),
    openUrl: (url) => visited.push(url),
  });
  const stream = await scene.attach();
  const value = { url: 'https://example.com/a', urlHost: 'example.com', message: 'm' };
  await opened(stream, { promptId: 'u', question: { case: 'elicitationUrl', value } });
  assert.deepEqual([answersOf(stream).length, visited], [1, []]);
  await reply(stream);
  assert.deepEqual(visited, ['https://example.com/a']);
  await opened(stream, { promptId: 'v', question: { case: 'elicitationUrl', value: { ...value, waiting: true } } });
  await reply(stream);
  await opened(stream, { promptId: 'w', question: { case: 'elicitationUrl', value } });
  await reply(stream, { code: 'NOT_FOUND', reason: 'PROMPT_CLOSED', message: 'another window was faster' });
  assert.equal(visited.length, 1);
  await scene.close();
});

test('when the hub is lost or closed, every question is taken back', async () => {
  const { questions, handler } = later<ApprovalQuestion, { action: 'accept' }>();
  const scene = new AskingScene({ approval: handler });
  const stream = await scene.attach({ prompts: [approval('a')] });
  scene.watcher.hubLost();
  stream.welcome('h2');
  stream.say({ case: 'snapshot', value: { prompts: [approval('b')] } });
  await settle();
  scene.asking.dispose();
  assert.deepEqual(
    questions.map(({ questionId, signal }) => [questionId, (signal.reason as HubError).reason]),
    [
      ['a', 'CONNECTION_LOST'],
      ['b', 'SHUTDOWN'],
    ],
  );
  await scene.close();
});
