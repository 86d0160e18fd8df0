// Converts requests, their ends and questions to the plain objects of the API.
import type { EndedRequest, McpRequestCancelled, McpRequestFinished } from '../gen/mcphub/v1/editor_pb.js';
import type { Prompt } from '../gen/mcphub/v1/prompt_pb.js';
import { CancelDelivery, Origin, RequestDirection, RequestState } from '../gen/mcphub/v1/request_pb.js';
import type { Cancellation, LateAnswer, McpError, Progress, Request } from '../gen/mcphub/v1/request_pb.js';
import { date, milliseconds, type Duration } from './duration.js';
import type {
  McpCancellation,
  McpEndedRequest,
  McpOpenQuestion,
  McpOrigin,
  McpProgress,
  McpQuestionKind,
  McpRequest,
  McpRequestFacts,
  McpServerError,
} from './mcphub.js';

const states: Readonly<Partial<Record<RequestState, McpRequest['state']>>> = {
  [RequestState.QUEUED]: 'queued',
  [RequestState.AWAITING_APPROVAL]: 'awaiting_approval',
  [RequestState.CONNECTING]: 'connecting',
  [RequestState.RUNNING]: 'running',
  [RequestState.AWAITING_INPUT]: 'awaiting_input',
  [RequestState.TASK_WORKING]: 'task_working',
  [RequestState.CANCELLING]: 'cancelling',
};

const origins: Readonly<Record<Origin, McpOrigin>> = {
  [Origin.UNSPECIFIED]: '',
  [Origin.USER]: 'user',
  [Origin.HOST]: 'host',
  [Origin.SERVER]: 'server',
  [Origin.TIMEOUT]: 'timeout',
  [Origin.PARENT]: 'parent',
  [Origin.TRANSPORT]: 'transport',
  [Origin.POLICY]: 'policy',
  [Origin.SHUTDOWN]: 'shutdown',
};

const deliveries: Readonly<Record<CancelDelivery, McpEndedRequest['delivery']>> = {
  [CancelDelivery.UNSPECIFIED]: '',
  [CancelDelivery.NOT_NEEDED]: 'not_needed',
  [CancelDelivery.PENDING]: 'pending',
  [CancelDelivery.DELIVERED]: 'delivered',
  [CancelDelivery.FAILED]: 'failed',
};

const kinds: Readonly<Record<NonNullable<Prompt['question']['case']>, McpQuestionKind>> = {
  toolApproval: 'approval',
  serverLaunch: 'launch',
  elicitationForm: 'form',
  elicitationUrl: 'url',
  sampling: 'sampling',
  signIn: 'signIn',
  configInput: 'input',
};

type Facts = Pick<Request, 'requestId' | 'server' | 'direction' | 'method' | 'tool' | 'title' | 'subject'>
  & Pick<Request, 'argumentsPreview' | 'caller'> & { readonly cancellation?: Cancellation | undefined };

function facts(r: Facts): McpRequestFacts {
  return {
    requestId: r.requestId,
    server: r.server,
    direction: r.direction === RequestDirection.INCOMING ? 'incoming' : 'outgoing',
    method: r.method,
    tool: r.tool,
    title: r.title,
    subject: r.subject,
    argumentsPreview: r.argumentsPreview,
    caller: r.caller,
    cancellation: r.cancellation && cancellation(r.cancellation),
  };
}

/** Returns an open request. A state that this host does not know is that of a newer hub: it runs. */
export function request(r: Request): McpRequest {
  return {
    ...facts(r),
    state: states[r.state] ?? 'running',
    startTime: date(r.startTime) ?? new Date(0),
    label: r.taskLabel,
    parentRequestId: r.parentRequestId,
    progress: r.progress && progress(r.progress),
  };
}

export function endedRequest({ endTime, end }: Pick<EndedRequest, 'endTime' | 'end'>): McpEndedRequest | undefined {
  switch (end.case) {
    case 'cancelled':
      return cancelled(end.value, endTime);
    case 'finished':
      return finished(end.value, endTime);
    default:
      return undefined;
  }
}

function cancelled(r: McpRequestCancelled, endTime: Duration | undefined): McpEndedRequest {
  return {
    ...facts(r),
    ...ending(r, endTime),
    state: 'cancelled',
    isError: false,
    error: r.error && { code: r.error.code.toLowerCase(), reason: r.error.reason, message: r.error.message },
    mcpError: undefined,
    delivery: deliveries[r.delivery],
    deliveryError: r.deliveryError,
    lateAnswer: r.lateAnswer && lateAnswer(r.lateAnswer),
  };
}

function finished(r: McpRequestFinished, endTime: Duration | undefined): McpEndedRequest {
  const { hubError } = r;
  return {
    ...facts(r),
    ...ending(r, endTime),
    state: r.state === RequestState.DONE ? 'done' : 'failed',
    isError: r.isError,
    error: hubError && { code: hubError.code.toLowerCase(), reason: hubError.reason, message: hubError.message },
    mcpError: r.mcpError && serverError(r.mcpError),
    delivery: '',
    deliveryError: '',
    lateAnswer: undefined,
  };
}

function ending(
  { serverMayContinue, timings }: Pick<McpRequestCancelled | McpRequestFinished, 'serverMayContinue' | 'timings'>,
  endTime: Duration | undefined,
) {
  return {
    endTime: date(endTime) ?? new Date(0),
    serverMayContinue,
    timings: {
      queuedMs: milliseconds(timings?.queued),
      activeMs: milliseconds(timings?.active),
      humanMs: milliseconds(timings?.human),
    },
  };
}

/** Returns the end of a request whose hub is gone. What became of it at its server is not known. */
export function lostRequest(r: McpRequest): McpEndedRequest {
  const { requestId, server, direction, method, tool, title, subject, argumentsPreview, caller, cancellation } = r;
  const message = 'The hub is gone, and nobody tells how the request has ended.';
  return {
    ...{ requestId, server, direction, method, tool, title, subject, argumentsPreview, caller, cancellation },
    state: 'failed',
    endTime: new Date(),
    isError: false,
    error: { code: 'unavailable', reason: 'CONNECTION_LOST', message },
    mcpError: undefined,
    delivery: '',
    deliveryError: '',
    serverMayContinue: true,
    lateAnswer: undefined,
    timings: { queuedMs: 0, activeMs: 0, humanMs: 0 },
  };
}

/** Returns an ended request with what has become known of its cancel since. */
export function delivered(ended: McpEndedRequest, delivery: CancelDelivery, deliveryError: string): McpEndedRequest {
  return { ...ended, delivery: deliveries[delivery], deliveryError };
}

/** Returns an ended request with the answer that came after its cancel: its server is done with it. */
export function answeredLate(ended: McpEndedRequest, answer: LateAnswer): McpEndedRequest {
  return { ...ended, serverMayContinue: false, lateAnswer: lateAnswer(answer) };
}

function lateAnswer({ after, isError }: LateAnswer): { afterMs: number; isError: boolean } {
  return { afterMs: milliseconds(after), isError };
}

function cancellation({ origin, reason, time }: Cancellation): McpCancellation {
  return { origin: origins[origin], reason, time: date(time) };
}

export function progress({ progress: value, total, message }: Progress): McpProgress {
  return { progress: value, message, ...(total === undefined ? {} : { total }) };
}

export function serverError({ code, message, dataJson }: McpError): McpServerError {
  return { code: Number(code), message, dataJson };
}

/** Returns undefined for a kind of question that this host does not know. */
export function openQuestion(prompt: Prompt): McpOpenQuestion | undefined {
  const { promptId, server, requestId, parentRequestId, question } = prompt;
  return question.case === undefined
    ? undefined
    : {
        questionId: promptId,
        server,
        kind: kinds[question.case],
        requestId: parentRequestId !== '' ? parentRequestId : requestId,
      };
}
