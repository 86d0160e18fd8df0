// The page of a relay as this host speaks to it: how the hub stands, and answers to what never reached one.
import { create, toJson } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { AttachResponseSchema, HubConnectionState } from './gen/mcphub/v1/editor_pb.js';
import type { AttachResponse, AttachResponseJson } from './gen/mcphub/v1/editor_pb.js';
import type { HubError } from './failure.js';
import { replyOfFailure } from './failure.js';
import type { HubState } from './hubstate.js';
import type { AddServerProposed } from './options.js';

/** What a webview is. */
export interface PageEnd {
  post(message: AttachResponseJson): void;
  onMessage(listener: (message: unknown) => void): () => void;
}

export class PageVoice {
  readonly #page: PageEnd;
  #over = false;

  constructor(page: PageEnd) {
    this.#page = page;
  }

  /** Nothing is posted any more. */
  end(): void {
    this.#over = true;
  }

  post(message: AttachResponse): void {
    if (!this.#over) {
      // The webview may be gone before its relay hears of it.
      harmless(() => this.#page.post(toJson(AttachResponseSchema, message)));
    }
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
    this.#say({ case: 'hubConnection', value: { state, message } });
  }

  reveal(promptId: string): void {
    this.#say({ case: 'revealPrompt', value: { promptId } });
  }

  openAddServer(proposed: AddServerProposed): void {
    this.#say({ case: 'openAddServer', value: proposed });
  }

  /** Answers a message that was for the host alone; one without an id wants no answer. */
  done(messageId: string): void {
    if (messageId !== '') {
      this.#say({ case: 'reply', value: { messageId } });
    }
  }

  /** Answers a message that was not carried out; one without an id wants no answer. */
  refuse(messageId: string, error: HubError): void {
    if (messageId !== '') {
      this.#say({ case: 'reply', value: { messageId, error: replyOfFailure(error) } });
    }
  }

  #say(event: NonNullable<MessageInitShape<typeof AttachResponseSchema>['event']>): void {
    this.post(create(AttachResponseSchema, { event }));
  }
}

/** Neither a page that is gone nor a hook that fails may end a stream. */
export function harmless(call: () => void): void {
  try {
    call();
  } catch {
    // There is nobody to tell.
  }
}

/** The message id in whatever a page has posted. */
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
