// Converts questions to the plain objects of the API, and answers to those of the contract.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { HubError } from '../failure.js';
import { ApprovalScope, PromptCause } from '../gen/mcphub/v1/prompt_pb.js';
import type { Prompt, PromptAnswerSchema, PromptClosed, ServerLaunch } from '../gen/mcphub/v1/prompt_pb.js';
import { date } from './duration.js';
import type { Answer, Launch, Question, QuestionHandlers, Remembered } from './question.js';

/** An answer as the contract has it, without the id of its question. */
export type Action = Omit<MessageInitShape<typeof PromptAnswerSchema>, 'promptId' | '$typeName' | '$unknown'>;

/** Asks the handler of a question. Returns undefined if there is none. */
export type Ask = (common: Question) => Promise<Action | undefined>;

/** Returns how the question is asked, or undefined if there is no handler for its kind. */
export function askOf({ question }: Prompt, handlers: QuestionHandlers): Ask | undefined {
  switch (question.case) {
    case 'toolApproval': {
      const { approval } = handlers;
      const { destructiveHint: destructive, readOnlyHint: readOnly, changes, ...all } = plain(question.value);
      return (
        approval && asked((q) => approval({ ...q, ...all, destructive, readOnly, changes: changes.map(plain) }), yes)
      );
    }
    case 'serverLaunch': {
      const { launch } = handlers;
      const { launchHash } = question.value;
      return (
        launch
        && asked(
          (q) => launch({ ...q, ...launchOf(question.value) }),
          (answer) => ({ ...yes(answer), launchHash }),
        )
      );
    }
    case 'elicitationForm': {
      const { form } = handlers;
      const { message, schemaJson, requestJson } = question.value;
      return (
        form
        && asked(
          (q) => form({ ...q, message, schema: parsed(schemaJson), schemaJson, requestJson }),
          ({ content }) => ({ contentJson: JSON.stringify(content) }),
        )
      );
    }
    case 'elicitationUrl': {
      const { url } = handlers;
      const { requestJson: _, ...all } = plain(question.value);
      return url && asked((q) => url({ ...q, ...all }), nothing);
    }
    case 'sampling': {
      const { sampling } = handlers;
      const { requestJson } = question.value;
      return (
        sampling
        && asked(
          (q) => sampling({ ...q, request: parsed(requestJson), requestJson }),
          ({ result }) => ({ contentJson: JSON.stringify(result) }),
        )
      );
    }
    case 'signIn': {
      const { signIn } = handlers;
      return signIn && asked((q) => signIn({ ...q, ...plain(question.value) }), nothing);
    }
    case 'configInput': {
      const { input } = handlers;
      const { options, ...all } = plain(question.value);
      return (
        input
        && asked(
          (q) => input({ ...q, ...all, options: options.map(plain) }),
          ({ value, keptByHost = false }) => ({ contentJson: JSON.stringify(value), keptByHost }),
        )
      );
    }
    default:
      return undefined; // a kind of a newer hub
  }
}

type Accept = Extract<NonNullable<Action['action']>, { case: 'accept' }>['value'];

function asked<Yes>(
  ask: (common: Question) => Answer<Yes> | undefined | Promise<Answer<Yes> | undefined>,
  accept: (yes: Yes) => Accept,
): Ask {
  return async (common) => {
    const answer = await ask(common);
    return answer && actionOf(answer, accept);
  };
}

function actionOf<Yes>(answer: Answer<Yes>, accept: (yes: Yes) => Accept): Action {
  switch (answer.action) {
    case 'accept':
      return { action: { case: 'accept', value: accept(answer) } };
    case 'decline': {
      const { reason = '', muteServer = false } = answer;
      return { action: { case: 'decline', value: { reason } }, muteServer };
    }
    case 'dismiss':
      return { action: { case: 'dismiss', value: {} }, muteServer: answer.muteServer ?? false };
    default:
      throw new HubError(
        'invalid_argument',
        'INVALID_REQUEST',
        `An answer has the action ${JSON.stringify((answer as { action?: unknown }).action)}: it is accept, decline or dismiss.`,
      );
  }
}

export const scopes: Readonly<Record<NonNullable<Remembered['scope']>, ApprovalScope>> = {
  once: ApprovalScope.ONCE,
  window: ApprovalScope.WINDOW,
  workspace: ApprovalScope.WORKSPACE,
  always: ApprovalScope.ALWAYS,
};

const yes = ({ scope = 'once' }: Remembered): Accept => ({ scope: scopes[scope] });
const nothing = (): Accept => ({});

/** Returns what there is to see of a launch. */
export function launchOf(launch: ServerLaunch): Launch {
  const { launchHash: _, environment, changes, writtenBy, ...all } = plain(launch);
  return {
    ...all,
    environment: environment.map(plain),
    changes: changes.map(plain),
    writtenBy: writtenBy && { name: writtenBy.name },
  };
}

/** Returns the fields of a message. */
function plain<M extends { readonly $typeName: string }>(message: M): Omit<M, '$typeName' | '$unknown'> {
  const { $typeName: _, $unknown: __, ...fields } = message as M & { readonly $unknown?: unknown };
  return fields;
}

/** A server may send what is no JSON; the text is there, too. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the fields that all questions have. */
export function common(prompt: Prompt, signal: AbortSignal, refused: HubError | undefined): Question {
  const { promptId, server, requestId, parentRequestId, openTime, deadline } = prompt;
  return {
    questionId: promptId,
    server,
    requestId,
    parentRequestId,
    openTime: date(openTime),
    deadline: date(deadline),
    signal,
    refused,
  };
}

const causes: Readonly<Record<PromptCause, readonly [reason: string, words: string]>> = {
  [PromptCause.UNSPECIFIED]: ['', 'The question is over.'],
  [PromptCause.ANSWERED]: ['ANSWERED', 'The question was answered in another window.'],
  [PromptCause.DECLINED]: ['DECLINED', 'The question was declined in another window.'],
  [PromptCause.DISMISSED]: ['DISMISSED', 'The question was dismissed in another window.'],
  [PromptCause.WITHDRAWN]: ['WITHDRAWN', 'The server has withdrawn its question.'],
  [PromptCause.PARENT]: ['PARENT', 'The request that led to the question has ended.'],
  [PromptCause.TIMEOUT]: ['TIMEOUT', 'Nobody has answered in time.'],
  [PromptCause.SERVER_GONE]: ['SERVER_GONE', 'The connection to the server has ended.'],
  [PromptCause.SHUTDOWN]: ['SHUTDOWN', 'The hub is being shut down.'],
  [PromptCause.SUPERSEDED]: ['SUPERSEDED', 'The question has become pointless.'],
};

/** Returns the reason of the signal of a question that is over. Without an end, it closed unseen. */
export function overBecause(end: PromptClosed | undefined): HubError {
  if (end === undefined) {
    return new HubError('cancelled', 'CONNECTION_LOST', 'The hub is gone, or has closed the question unseen.');
  }
  const [reason, words] = causes[end.cause];
  return new HubError('cancelled', reason, end.reason === '' ? words : end.reason);
}
