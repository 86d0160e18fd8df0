// The host's own window. It receives everything, whether a page is open or not, and sends the answers that are given
// outside a page.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { asHubError, HubError } from '../failure.js';
import type { AttachResponse, HelloSchema, Reply } from '../gen/mcphub/v1/editor_pb.js';
import type { ApprovalScope } from '../gen/mcphub/v1/prompt_pb.js';
import type { Hub } from '../hub.js';
import type { HubWindow } from '../window.js';
import { lost, missed, nothing, transition, type Change, type Standing } from '../standing.js';

export interface Root {
  readonly uri: string;
  readonly name: string;
}

/** What the window says of itself, beside its folders. */
export type WindowHello = Omit<MessageInitShape<typeof HelloSchema>, 'roots' | '$typeName' | '$unknown'>;

type RequestInit = Parameters<HubWindow['send']>[0];

/** An answer that is given outside a page. It opens nothing and carries no more than a choice. */
export interface Answer {
  readonly promptId: string;
  readonly action:
    | {
        readonly case: 'accept';
        readonly value: {
          readonly scope?: ApprovalScope;
          readonly contentJson?: string;
          readonly keptByHost?: boolean;
          readonly launchHash?: string;
        };
      }
    | { readonly case: 'decline' | 'dismiss'; readonly value: Record<string, never> };
}

export interface WatcherListener {
  changed?(change: Change, standing: Standing): void;
  /** Is also called, before the snapshot after a broken stream, for the missed events that the snapshot stands for. */
  event?(event: AttachResponse): void;
  /** Is called for the messages of the stream alone, as they come. */
  read?(message: AttachResponse): void;
  /** The window has ended for good, other than by close. */
  ended?(error: HubError): void;
}

/** Follows one hub after the other. close ends it and waits for its reading loop. */
export class WatcherWindow {
  readonly #listeners = new Set<WatcherListener>();
  #standing: Standing = nothing;
  #window: HubWindow | undefined;
  #reading: Promise<void> = Promise.resolve();
  #roots: readonly Root[];
  #lost = false; // true until the next welcome: messages that are still read come from a hub that is gone
  readonly #listenerFailed: (error: unknown) => void;
  readonly #hello: WindowHello;
  readonly #notRunning: string;
  #failure: HubError | undefined;

  /**
   * `listenerFailed` is called for listeners that throw: some belong to others, and none of them may end the reading.
   * `notRunning` is the text of the error of what is called before there is a hub.
   */
  constructor(
    hello: WindowHello,
    roots: readonly Root[],
    listenerFailed: (error: unknown) => void,
    notRunning = 'There is no hub: start it.',
  ) {
    this.#hello = hello;
    this.#roots = roots;
    this.#listenerFailed = listenerFailed;
    this.#notRunning = notRunning;
  }

  get standing(): Standing {
    return this.#standing;
  }

  listen(listener: WatcherListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Attaches to this hub, which may still be starting, and forgets the state of the last one. */
  follow(hub: Hub): void {
    const before = this.#window;
    // The history is also for how requests ended while the stream was broken.
    const window = hub.window({ maxHistory: 1000, ...this.#hello, roots: this.#rootInits() });
    this.#window = window;
    this.#failure = undefined;
    this.#forget();
    const previous = this.#reading;
    this.#reading = (async () => {
      await before?.close().catch(() => undefined); // it may have ended with its hub
      await previous;
      await this.#read(window);
    })();
  }

  /**
   * Forgets the state of a hub that is gone: its prompts can no longer be answered. A snapshot of the next hub follows.
   */
  hubLost(): void {
    this.#lost = true;
    this.#forget();
  }

  #forget(): void {
    if (this.#standing !== nothing) {
      const { after, change } = lost(this.#standing);
      this.#apply(after, change);
    }
  }

  setRoots(roots: readonly Root[]): void {
    this.#roots = roots;
    this.#window?.send({ message: { case: 'setRoots', value: { roots: this.#rootInits() } } });
  }

  /** Sends a message and resolves with the reply. Rejects with a HubError if the message was not carried out. */
  async ask(message: RequestInit): Promise<Reply> {
    return this.#followed().ask(message);
  }

  /** Calls a method of the hub in this window. Rejects in the same way. */
  readonly call: HubWindow['call'] = async (...called) => this.#followed().call(...called);

  answer({ promptId, action }: Answer): Promise<Reply> {
    return this.ask({ message: { case: 'answerPrompt', value: { promptId, action } } });
  }

  #followed(): HubWindow {
    if (this.#window === undefined) {
      throw new HubError('unavailable', 'HUB_NOT_READY', this.#notRunning);
    }
    return this.#window;
  }

  /** Why the window on the present hub has ended for good; undefined if it has not. */
  get failure(): HubError | undefined {
    return this.#failure;
  }

  /** The id of the window; '' while there is none. */
  get windowId(): string {
    return this.#window?.windowId ?? '';
  }

  async close(): Promise<void> {
    const window = this.#window;
    this.#window = undefined;
    await window?.close().catch(() => undefined);
    await this.#reading;
  }

  async #read(window: HubWindow): Promise<void> {
    try {
      for await (const response of window) {
        if (window !== this.#window) {
          return;
        }
        this.#lost &&= response.event.case !== 'welcome';
        this.#tell((listener) => listener.read?.(response));
        if (!this.#lost) {
          const before = this.#standing;
          const { after, change } = transition(before, response);
          this.#apply(after, change);
          for (const event of missed(before, response)) {
            this.#tell((listener) => listener.event?.({ ...response, event }));
          }
        }
        this.#tell((listener) => listener.event?.(response));
      }
    } catch (error) {
      // The hub failed for good. Who shows its state says so; here its prompts are closed.
      if (window === this.#window) {
        const failure = asHubError(error);
        this.#failure = failure;
        this.hubLost();
        this.#tell((listener) => listener.ended?.(failure));
      }
    }
  }

  #apply(after: Standing, change: Change): void {
    this.#standing = after;
    if (Object.keys(change).length > 0) {
      this.#tell((listener) => listener.changed?.(change, after));
    }
  }

  #tell(what: (listener: WatcherListener) => void): void {
    for (const listener of [...this.#listeners]) {
      try {
        what(listener);
      } catch (error) {
        this.#listenerFailed(error);
      }
    }
  }

  #rootInits(): { uri: string; name: string }[] {
    return this.#roots.map(({ uri, name }) => ({ uri, name }));
  }
}
