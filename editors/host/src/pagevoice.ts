// Messages of this host to the page of a relay: the state of the hub, and replies to messages that did not reach a hub.
import { create, toJson } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { AttachResponseSchema, HubConnectionState } from './gen/mcphub/v1/editor_pb.js';
import type { AttachResponse, AttachResponseJson } from './gen/mcphub/v1/editor_pb.js';
import type { HubError } from './failure.js';
import { failureOfDecoding, replyOfFailure } from './failure.js';
import type { HubState } from './hubstate.js';
import { registry } from './windowcalls.js';

/** The host's end of a page, for example a webview. */
export interface PageEnd {
  post(message: AttachResponseJson): void;
  onMessage(listener: (message: unknown) => void): () => void;
}

/** An event that this host makes itself. */
export type EventOfHost = NonNullable<MessageInitShape<typeof AttachResponseSchema>['event']>;

/** Returns a message as a page gets it: as proto3 JSON. */
export const pageJson = (message: AttachResponse): AttachResponseJson =>
  // enumAsInteger has no effect: the type of the result depends on it.
  toJson(AttachResponseSchema, message, { registry, enumAsInteger: false });

export class PageVoice {
  readonly #page: PageEnd;
  #over = false;

  constructor(page: PageEnd) {
    this.#page = page;
  }

  /** Stops all posting. */
  end(): void {
    this.#over = true;
  }

  post(message: AttachResponse): void {
    if (this.#over) {
      return;
    }
    let json: AttachResponseJson;
    try {
      json = pageJson(message);
    } catch (error) {
      if (message.event.case === 'reply') {
        this.refuse(message.event.value.messageId, failureOfDecoding(error)); // the page would wait for ever
      }
      return;
    }
    // The webview may be disposed before its relay is told.
    harmless(() => this.#page.post(json));
  }

  tellHub(state: HubState, message: string): void {
    if (state === 'ready') {
      this.tell(HubConnectionState.READY, '');
    } else {
      this.tell(
        state === 'starting' || state === 'restarting' ? HubConnectionState.STARTING : HubConnectionState.FAILED,
        message,
      );
    }
  }

  tell(state: HubConnectionState, message: string): void {
    this.say({ case: 'hubConnection', value: { state, message } });
  }

  /** Replies to a message that was meant only for the host. A message without an id gets no reply. */
  done(messageId: string): void {
    if (messageId !== '') {
      this.say({ case: 'reply', value: { messageId } });
    }
  }

  /** Replies with an error to a message that was not carried out. A message without an id gets no reply. */
  refuse(messageId: string, error: HubError): void {
    if (messageId !== '') {
      this.say({ case: 'reply', value: { messageId, error: replyOfFailure(error) } });
    }
  }

  say(event: EventOfHost): void {
    this.post(create(AttachResponseSchema, { event }));
  }
}

/** Calls a function and ignores its errors: neither a closed page nor a failing hook may end a stream. */
export function harmless(call: () => void): void {
  try {
    call();
  } catch {
    // There is nobody to report the error to.
  }
}

/** Returns the message id of anything that a page has posted, or ''. */
export function idOf(message: unknown): string {
  if (
    typeof message === 'object'
    && message !== null
    && 'messageId' in message
    && typeof message.messageId === 'string'
  ) {
    return message.messageId;
  }
  return '';
}
