// The extension's own window: it sees everything, whether a page is open or not, and carries the answers that are given
// outside of a page.
import { PromptKind, type ApprovalScope } from '@mcphub/host';
import type { AttachResponse, Hub, HubWindow, Reply } from '@mcphub/host';
import { lost, nothing, transition, type Change, type Standing } from './standing.js';

export interface Root {
  readonly uri: string;
  readonly name: string;
}

/**
 * Every kind: what the extension cannot ask by itself, it asks the user to open the page for. So no question is refused
 * for want of a window.
 */
export const everyKind: readonly PromptKind[] = [
  PromptKind.TOOL_APPROVAL,
  PromptKind.SAMPLING,
  PromptKind.ELICITATION_FORM,
  PromptKind.ELICITATION_URL,
  PromptKind.SIGN_IN,
  PromptKind.SERVER_LAUNCH,
  PromptKind.CONFIG_INPUT,
];

/** Views (MCP Apps), as the client's capabilities say that they are shown. */
const appsExtension = '{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}';

type RequestInit = Parameters<HubWindow['send']>[0];

/** The answers that are given outside of a page: none of them opens anything or carries more than a choice. */
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
  event?(event: AttachResponse): void;
}

/** Follows one hub after the other. Ends with close, which waits for its reading loop. */
export class WatcherWindow {
  readonly #listeners = new Set<WatcherListener>();
  #standing: Standing = nothing;
  #window: HubWindow | undefined;
  #reading: Promise<void> = Promise.resolve();
  #roots: readonly Root[];
  #lost = false; // until the next welcome: what is still read was said by a hub that is gone
  readonly #listenerFailed: (error: unknown) => void;
  readonly #extensions: string;

  /**
   * `listenerFailed` hears of listeners that threw: some are other extensions', and none of them may end the reading.
   * `views`: servers are told that views of tools (MCP Apps) are shown.
   */
  constructor(roots: readonly Root[], listenerFailed: (error: unknown) => void, views = true) {
    this.#roots = roots;
    this.#extensions = views ? appsExtension : '';
    this.#listenerFailed = listenerFailed;
  }

  get standing(): Standing {
    return this.#standing;
  }

  listen(listener: WatcherListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Turns to this hub, which may be starting still, and forgets the last one. */
  follow(hub: Hub): void {
    const before = this.#window;
    const window = hub.window({
      title: 'editor',
      promptKinds: [...everyKind],
      roots: this.#rootInits(),
      maxProgressRate: 4,
      // The page shows views and can be opened at any time; said later, it would have idle servers connected anew.
      extensionsJson: this.#extensions,
      maxHistory: 200, // what an earlier hub has ended is the first of it
    });
    this.#window = window;
    this.#forget();
    const previous = this.#reading;
    this.#reading = (async () => {
      await before?.close().catch(() => undefined); // it may have gone with its hub
      await previous;
      await this.#read(window);
    })();
  }

  /** The hub is gone: what it asked cannot be answered any more. A snapshot of the next one follows. */
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

  /** Says something and waits for the reply; rejects with a HubError when it was not carried out. */
  ask(message: RequestInit, options?: { signal?: AbortSignal }): Promise<Reply> {
    const window = this.#window;
    if (window === undefined) {
      return Promise.reject(new Error('McpHub does not run; start it with the command “McpHub: Restart McpHub”'));
    }
    return window.ask(message, options);
  }

  answer({ promptId, action }: Answer): Promise<Reply> {
    return this.ask({ message: { case: 'answerPrompt', value: { promptId, action } } });
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
        if (!this.#lost) {
          const { after, change } = transition(this.#standing, response);
          this.#apply(after, change);
        }
        this.#tell((listener) => listener.event?.(response));
      }
    } catch {
      // The hub failed for good. Its state says so, in the status bar; here only what it asked is over.
      if (window === this.#window) {
        this.hubLost();
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
