// The state of everything, as a window of the host receives it: one state and one transition function.
import type { AttachResponse } from './gen/mcphub/v1/editor_pb.js';
import type { Prompt, PromptClosed } from './gen/mcphub/v1/prompt_pb.js';
import { RequestDirection, RequestState } from './gen/mcphub/v1/request_pb.js';
import type { Request } from './gen/mcphub/v1/request_pb.js';
import { ServerState } from './gen/mcphub/v1/server_pb.js';
import type { Server } from './gen/mcphub/v1/server_pb.js';

export interface Standing {
  readonly known: boolean; // a snapshot has come
  readonly servers: ReadonlyMap<string, Server>;
  readonly requests: ReadonlyMap<string, Request>; // open ones, oldest first
  readonly prompts: ReadonlyMap<string, Prompt>; // open ones, oldest first
}

/** The changes of one event, for code that acts on changes rather than on states. */
export interface Change {
  readonly servers?: true;
  readonly requests?: true;
  readonly opened?: readonly Prompt[];
  readonly closed?: readonly PromptEnd[];
}

/** A prompt that is no longer open. Without an end it closed unseen: the stream was broken, or the hub was replaced. */
export interface PromptEnd {
  readonly prompt: Prompt;
  readonly end: PromptClosed | undefined;
}

export const nothing: Standing = { known: false, servers: new Map(), requests: new Map(), prompts: new Map() };

/** Returns the next state. A state is never changed in place, so code may keep one. */
export function transition(
  before: Standing,
  response: AttachResponse,
): { readonly after: Standing; readonly change: Change } {
  const event = response.event;
  switch (event.case) {
    case 'snapshot': {
      const prompts = new Map(event.value.prompts.map((p) => [p.promptId, p]));
      for (const id of event.value.laterPromptIds) {
        const prompt = before.prompts.get(id); // an unknown one opens when it comes
        if (prompt !== undefined) {
          prompts.set(id, prompt);
        }
      }
      const after: Standing = {
        known: true,
        servers: new Map(event.value.servers.map((s) => [s.name, s])),
        requests: new Map(event.value.requests.map((r) => [r.requestId, r])),
        prompts,
      };
      return { after, change: { servers: true, requests: true, ...promptChange(before, after) } };
    }
    case 'serverChanged': {
      const { server, removed } = event.value;
      if (server === undefined) {
        return { after: before, change: {} };
      }
      const servers = new Map(before.servers);
      if (removed) {
        servers.delete(server.name);
      } else {
        servers.set(server.name, server);
      }
      return { after: { ...before, servers }, change: { servers: true } };
    }
    case 'mcpRequestStarted': {
      const { request } = event.value;
      return request === undefined ? { after: before, change: {} } : withRequest(before, request);
    }
    case 'mcpRequestProgressed': {
      const request = before.requests.get(event.value.requestId);
      if (request === undefined) {
        return { after: before, change: {} };
      }
      const { state, progress } = event.value;
      return withRequest(before, { ...request, state, ...(progress === undefined ? {} : { progress }) });
    }
    case 'mcpRequestCancelling': {
      const request = before.requests.get(event.value.requestId);
      return request === undefined
        ? { after: before, change: {} }
        : withRequest(before, {
            ...request,
            state: RequestState.CANCELLING,
            ...(event.value.cancellation && { cancellation: event.value.cancellation }),
          });
    }
    case 'mcpRequestCancelled':
    case 'mcpRequestFinished': {
      if (!before.requests.has(event.value.requestId)) {
        return { after: before, change: {} };
      }
      const requests = new Map(before.requests);
      requests.delete(event.value.requestId);
      return { after: { ...before, requests }, change: { requests: true } };
    }
    case 'promptOpened': {
      const { prompt } = event.value;
      if (prompt === undefined) {
        return { after: before, change: {} };
      }
      const after = { ...before, prompts: new Map(before.prompts).set(prompt.promptId, prompt) };
      return { after, change: before.prompts.has(prompt.promptId) ? {} : { opened: [prompt] } };
    }
    case 'promptClosed': {
      const prompt = before.prompts.get(event.value.promptId);
      if (prompt === undefined) {
        return { after: before, change: {} };
      }
      const prompts = new Map(before.prompts);
      prompts.delete(event.value.promptId);
      return { after: { ...before, prompts }, change: { closed: [{ prompt, end: event.value }] } };
    }
    default:
      return { after: before, change: {} };
  }
}

/**
 * Returns the events that a snapshot stands for, if it comes after a broken stream: how known requests have ended, that
 * others have begun, and that the tools of any server may have changed.
 */
export function missed(before: Standing, { event }: AttachResponse): AttachResponse['event'][] {
  if (event.case !== 'snapshot' || !before.known) {
    return [];
  }
  const { history, requests, servers } = event.value;
  const open = new Set(requests.map(({ requestId }) => requestId));
  const ended = ({ requestId }: { readonly requestId: string }): boolean =>
    before.requests.has(requestId) && !open.has(requestId);
  return [
    ...history.flatMap(({ end }): AttachResponse['event'][] =>
      end.case === 'cancelled' && ended(end.value)
        ? [{ case: 'mcpRequestCancelled', value: end.value }]
        : end.case === 'finished' && ended(end.value)
          ? [{ case: 'mcpRequestFinished', value: end.value }]
          : [],
    ),
    ...requests
      .filter(({ requestId }) => !before.requests.has(requestId))
      .map((request) => ({
        case: 'mcpRequestStarted' as const,
        value: { $typeName: 'mcphub.v1.McpRequestStarted' as const, request },
      })),
    ...servers
      .filter(({ state }) => state === ServerState.READY)
      .map(({ name }) => ({
        case: 'toolsChanged' as const,
        value: { $typeName: 'mcphub.v1.ToolsChanged' as const, server: name },
      })),
  ];
}

/** Returns the state after the loss of the hub: everything is empty. Its prompts can no longer be answered. */
export function lost(before: Standing): { readonly after: Standing; readonly change: Change } {
  return { after: nothing, change: { servers: true, requests: true, ...promptChange(before, nothing) } };
}

/** Methods of requests that the user does not run: the start of a session, and questions of servers and of the hub. */
const notRun: ReadonlySet<string> = new Set(['initialize', 'server/discover', 'authorization', 'launch', 'input']);

/** Returns the requests that the status bar counts and that the user may stop. */
export function runningRequests(standing: Standing): Request[] {
  return [...standing.requests.values()].filter(
    ({ direction, method }) => direction !== RequestDirection.INCOMING && !notRun.has(method),
  );
}

function withRequest(before: Standing, request: Request): { after: Standing; change: Change } {
  return {
    after: { ...before, requests: new Map(before.requests).set(request.requestId, request) },
    change: { requests: true },
  };
}

function promptChange(before: Standing, after: Standing): Pick<Change, 'opened' | 'closed'> {
  return {
    opened: [...after.prompts.values()].filter((p) => !before.prompts.has(p.promptId)),
    closed: [...before.prompts.values()]
      .filter((p) => !after.prompts.has(p.promptId))
      .map((prompt) => ({ prompt, end: undefined })),
  };
}
