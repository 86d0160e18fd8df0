// Fake streams of a hub: tests send the events, and see what the code sends.
import assert from 'node:assert/strict';
import { clone, create } from '@bufbuild/protobuf';
import type { DescMethod, MessageInitShape } from '@bufbuild/protobuf';
import { Inbox } from '../dist/inbox.js';
import { AttachRequestSchema, AttachResponseSchema, HelloSchema, HubError } from '../dist/contract.js';
import type { AttachRequest, AttachResponse, Hello, HubState, HubStream } from '../dist/contract.js';
import type { StreamSource } from '../dist/source.js';

export class FakeStream implements HubStream {
  readonly sent: AttachRequest[] = [];
  readonly inbox = new Inbox<AttachResponse>();
  ended = '';
  constructor(readonly hello: Hello) {}
  send(message: MessageInitShape<typeof AttachRequestSchema>): void {
    if (this.inbox.over) {
      throw new HubError('unavailable', 'CONNECTION_LOST', 'over');
    }
    this.sent.push(create(AttachRequestSchema, message));
  }
  close(): void {
    this.ended = 'closed';
    this.inbox.end();
  }
  break(): void {
    this.ended = 'broken';
    this.inbox.end(new HubError('cancelled', '', 'broken'));
  }
  [Symbol.asyncIterator](): AsyncIterator<AttachResponse, undefined> {
    return this.inbox[Symbol.asyncIterator]();
  }
  say(event: NonNullable<MessageInitShape<typeof AttachResponseSchema>['event']>): void {
    this.inbox.push(create(AttachResponseSchema, { event }));
  }
  welcome(hubId = 'h1'): void {
    this.say({ case: 'welcome', value: { hubId, windowId: this.hello.windowId || 'minted' } });
  }
}

export class FakeSource implements StreamSource {
  state: HubState = 'ready';
  message = 'The hub is ready.';
  failure: HubError | undefined;
  responsive = true;
  readonly streams: FakeStream[] = [];
  readonly #listeners = new Set<(state: HubState, detail: { message: string }) => void>();
  onState(listener: (state: HubState, detail: { message: string }) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  readonly #responses = new Set<(responsive: boolean) => void>();
  onResponsive(listener: (responsive: boolean) => void): () => void {
    this.#responses.add(listener);
    return () => this.#responses.delete(listener);
  }
  respond(responsive: boolean): void {
    this.responsive = responsive;
    for (const l of this.#responses) {
      l(responsive);
    }
  }
  attach(hello: MessageInitShape<typeof HelloSchema>): HubStream {
    const stream = new FakeStream(clone(HelloSchema, create(HelloSchema, hello)));
    this.streams.push(stream);
    return stream;
  }
  become(state: HubState, message: string): void {
    this.state = state;
    this.message = message;
    for (const l of this.#listeners) {
      l(state, { message });
    }
  }
  stream(n: number): FakeStream {
    const stream = this.streams.at(n);
    assert.ok(stream !== undefined, `no stream ${n}`);
    return stream;
  }
}

/** Waits until everything has run that needs no timer. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Returns a call of a method as a page says it. */
export function call(
  { parent, name, input }: DescMethod,
  request: Readonly<Record<string, unknown>> = {},
): { method: string; request: { '@type': string } } {
  return {
    method: `/${parent.typeName}/${name}`,
    request: { '@type': `type.googleapis.com/${input.typeName}`, ...request },
  };
}
