// The events of the API for other extensions.
import { RequestState } from '@mcphub/host';
import type { AttachResponse } from '@mcphub/host';
import type { McpEvent, McpHub, McpLogMessage, McpQuestionChange, McpRequestChange } from '../../api.js';
import type { WatcherWindow } from '../hub/watcherwindow.js';

type Changes = Pick<
  McpHub,
  'onDidChangeServers' | 'onDidChangeTools' | 'onDidChangeRequests' | 'onDidChangeQuestions' | 'onDidLog'
>;

export function changes(watcher: WatcherWindow): Changes {
  const events =
    <T>(pick: (response: AttachResponse) => T | undefined): McpEvent<T> =>
    (listener) => {
      const stop = watcher.listen({
        event: (response) => {
          const found = pick(response);
          if (found !== undefined) {
            listener(found);
          }
        },
      });
      return { dispose: stop };
    };
  return {
    onDidChangeServers: (listener) => ({
      dispose: watcher.listen({
        changed: ({ servers }) => {
          if (servers === true) {
            listener(undefined);
          }
        },
      }),
    }),
    onDidChangeTools: events(({ event }) =>
      event.case === 'toolsChanged' ? { server: event.value.server } : undefined,
    ),
    onDidChangeRequests: events((response) => requestChange(response, watcher)),
    onDidChangeQuestions: (listener) => ({
      dispose: watcher.listen({
        changed: ({ opened = [], closed = [] }) => {
          const change = (open: boolean, { promptId, server, requestId, parentRequestId }: Question) =>
            listener({
              questionId: promptId,
              server,
              open,
              requestId: parentRequestId !== '' ? parentRequestId : requestId,
            } satisfies McpQuestionChange);
          opened.forEach((prompt) => change(true, prompt));
          closed.forEach(({ prompt }) => change(false, prompt));
        },
      }),
    }),
    onDidLog: events(({ event }): McpLogMessage | undefined =>
      event.case === 'logMessage'
        ? {
            server: event.value.server,
            level: event.value.level,
            logger: event.value.logger,
            dataJson: event.value.dataJson,
          }
        : undefined,
    ),
  };
}

interface Question {
  readonly promptId: string;
  readonly server: string;
  readonly requestId: string;
  readonly parentRequestId: string;
}

function requestChange({ event }: AttachResponse, watcher: WatcherWindow): McpRequestChange | undefined {
  switch (event.case) {
    case 'mcpRequestStarted': {
      const { request } = event.value;
      return request && { ...of(request), state: 'open', reason: '' };
    }
    case 'mcpRequestProgressed': {
      const request = watcher.standing.requests.get(event.value.requestId);
      return request && { ...of(request), state: 'open', reason: '' };
    }
    case 'mcpRequestCancelling': {
      const request = watcher.standing.requests.get(event.value.requestId);
      return request && { ...of(request), state: 'cancelling', reason: event.value.cancellation?.reason ?? '' };
    }
    case 'mcpRequestCancelled':
      return { ...of(event.value), state: 'cancelled', reason: event.value.cancellation?.reason ?? '' };
    case 'mcpRequestFinished':
      return { ...of(event.value), state: event.value.state === RequestState.DONE ? 'done' : 'failed', reason: '' };
    default:
      return undefined;
  }
}

function of(request: Omit<McpRequestChange, 'state' | 'reason'>): Omit<McpRequestChange, 'state' | 'reason'> {
  const { requestId, server, method, tool, caller } = request;
  return { requestId, server, method, tool, caller };
}
