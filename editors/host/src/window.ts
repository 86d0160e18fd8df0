// A window that survives: after a broken stream and after a restart of the hub it attaches again, and its reader gets a
// new snapshot.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { clone, create } from '@bufbuild/protobuf';
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { AttachRequestSchema, HelloSchema } from './gen/mcphub/v1/editor_pb.js';
import type { AttachRequest, AttachResponse, Hello, Reply } from './gen/mcphub/v1/editor_pb.js';
import type { AcceptPromptSchema, DeclinePromptSchema, Prompt, PromptAnswerSchema } from './gen/mcphub/v1/prompt_pb.js';
import { HubError, asHubError, failureOfAbort, failureOfReply } from './failure.js';
import { Inbox } from './inbox.js';
import { becomes } from './source.js';
import type { StreamSource } from './source.js';
import type { HubStream } from './stream.js';
import { callOf, responseOf } from './windowcalls.js';

/**
 * An attached window. It must be read: replies come in order with the other messages, and a window that nobody reads
 * stops. After each return to a hub, the reader gets a welcome and a snapshot, which replaces all that it knew: what
 * happened meanwhile is not told in any other way.
 */
export interface HubWindow extends AsyncIterable<AttachResponse, undefined> {
  readonly windowId: string;
  /**
   * Sends a message. Throws a HubError (unavailable) while there is no stream: nothing is queued for later. The
   * exception are roots and capabilities, which are kept and sent with the next hello.
   */
  send(message: MessageInitShape<typeof AttachRequestSchema>): void;
  /**
   * Sends a message with a message id and resolves with its reply. Rejects with the HubError in the reply, or with a
   * HubError (unavailable) if the stream breaks before the reply.
   */
  ask(message: MessageInitShape<typeof AttachRequestSchema>, options?: { signal?: AbortSignal }): Promise<Reply>;
  /**
   * Calls a unary method of the hub in this window, for example `McpServerService.method.listTools`. The contract says
   * at `Call` how that differs from a call of a `Client`. Rejects as `ask` does. An abort also gives the call up at the
   * hub, which has no effect on what is carried out in any case (`GiveUp`). CallTool, ReadResource and GetMcpPrompt
   * resolve at their end with an empty message, because every window gets the result by `mcpRequestFinished`.
   */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options?: { signal?: AbortSignal },
  ): Promise<MessageShape<O>>;
  /**
   * Answers a prompt that was shown in full, and rejects if the hub refuses the answer: the prompt is then still open,
   * or was closed before (`PROMPT_CLOSED`). A yes to a launch carries the hash of what was shown.
   */
  answer<Action extends keyof Answers>(prompt: Prompt, action: Action, value?: Answers[Action]): Promise<void>;
  /** Half-closes the window for good. Resolves when the stream has ended. */
  close(): Promise<void>;
}

/** What goes with each answer. */
export interface Answers {
  accept: Omit<MessageInitShape<typeof AcceptPromptSchema>, '$typeName'>;
  decline: Omit<MessageInitShape<typeof DeclinePromptSchema>, '$typeName'>;
  dismiss: Record<string, never>;
}

/** Codes of errors for which another attempt is useless. */
const final: ReadonlySet<string> = new Set([
  'invalid_argument',
  'already_exists',
  'failed_precondition',
  'permission_denied',
  'unauthenticated',
  'unimplemented',
]);
/** The maximum number of unread messages. At this number the window reads no more, and flow control stops the hub. */
const maxUnread = 1024;
/**
 * The same limit while a reply is awaited: the reply comes after the unread messages, and the code that awaits it may
 * be their reader.
 */
const maxUnreadAsking = 16 * 1024;
/** How long a closed window waits for the hub to end its stream. */
const closeGraceMs = 2000;
const firstDelayMs = 100;
const maxDelayMs = 5000;

/** Reports whether a stream that ended with this error may be opened again. */
export function mayComeBack(error: HubError): boolean {
  return !final.has(error.code);
}

/**
 * Returns the delay in milliseconds before the next stream, after `failures` streams ended since the last welcome. The
 * first new stream opens at once.
 */
export function comebackDelay(failures: number): number {
  return failures <= 1 ? 0 : Math.min(maxDelayMs, firstDelayMs * 2 ** (failures - 2));
}

export class ReturningWindow implements HubWindow {
  readonly windowId: string;
  readonly #source: StreamSource;
  readonly #hello: Hello;
  readonly #closing = new AbortController();
  readonly #inbox = new Inbox<AttachResponse>(() => this.#roomMade());
  readonly #asked = new Map<string, { resolve: (reply: Reply) => void; reject: (error: HubError) => void }>();
  readonly #over: Promise<void>;
  #stream: HubStream | undefined;
  #askCount = 0;
  #failures = 0;
  #closeTimer: NodeJS.Timeout | undefined;
  #roomMade: () => void = () => {};

  constructor(source: StreamSource, hello: MessageInitShape<typeof HelloSchema>, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#hello = clone(HelloSchema, create(HelloSchema, hello)); // a clone, since the window changes it
    this.#hello.windowId ||= randomUUID();
    this.windowId = this.#hello.windowId;
    const aborted = (): void => void this.close();
    signal?.addEventListener('abort', aborted, { once: true });
    if (signal?.aborted === true) {
      this.#closing.abort();
    }
    this.#over = this.#run()
      .then(
        () => this.#inbox.end(),
        (error: unknown) => this.#inbox.end(asHubError(error)),
      )
      .finally(() => signal?.removeEventListener('abort', aborted));
  }

  send(message: MessageInitShape<typeof AttachRequestSchema>): void {
    const kept = this.#keepInHello(message);
    try {
      if (this.#stream === undefined) {
        throw this.#absent();
      }
      this.#stream.send(message);
    } catch (error) {
      if (!kept || asHubError(error).code !== 'unavailable') {
        throw error;
      }
    }
  }

  async ask(
    message: MessageInitShape<typeof AttachRequestSchema>,
    options: { signal?: AbortSignal } = {},
  ): Promise<Reply> {
    const { signal } = options;
    if (signal?.aborted === true) {
      throw failureOfAbort(signal);
    }
    const stream = this.#stream;
    if (stream === undefined) {
      throw this.#absent();
    }
    const request = clone(AttachRequestSchema, create(AttachRequestSchema, message));
    this.#keepInHello(request);
    request.messageId = `ask-${++this.#askCount}`;
    const waited = new AbortController();
    try {
      return await new Promise<Reply>((resolve, reject) => {
        signal?.addEventListener(
          'abort',
          () => {
            giveUp(stream, request);
            reject(failureOfAbort(signal));
          },
          { once: true, signal: waited.signal },
        );
        this.#asked.set(request.messageId, { resolve, reject });
        stream.send(request);
        this.#roomMade(); // the reply may come after unread messages
      });
    } finally {
      this.#asked.delete(request.messageId);
      waited.abort();
    }
  }

  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    options?: { signal?: AbortSignal },
  ): Promise<MessageShape<O>> {
    const reply = await this.ask({ message: { case: 'call', value: callOf(method, request) } }, options);
    return responseOf(method, reply);
  }

  async answer<Action extends keyof Answers>(
    prompt: Prompt,
    action: Action,
    value: Answers[Action] = {},
  ): Promise<void> {
    const { promptId, question } = prompt;
    const shown =
      question.case === 'serverLaunch' && action === 'accept' ? { launchHash: question.value.launchHash } : {};
    const said = { case: action, value: { ...shown, ...value } } as NonNullable<
      MessageInitShape<typeof PromptAnswerSchema>['action']
    >;
    await this.ask({ message: { case: 'answerPrompt', value: { promptId, action: said } } });
  }

  close(): Promise<void> {
    this.#closing.abort();
    this.#stream?.close();
    this.#roomMade();
    if (this.#closeTimer === undefined) {
      // The hub may be stopped by a signal and not answer.
      this.#closeTimer = setTimeout(() => this.#stream?.break(), closeGraceMs).unref();
      void this.#over.then(() => clearTimeout(this.#closeTimer));
    }
    return this.#over;
  }

  [Symbol.asyncIterator](): AsyncIterator<AttachResponse, undefined> {
    return this.#inbox[Symbol.asyncIterator]();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    // A window may be opened before its hub is started. Once there was a hub, its stop ends the window.
    await becomes(this.#source, (s) => s !== 'stopped', signal);
    while (!signal.aborted && (await this.#hubIsReady(signal))) {
      const stream = this.#source.attach(this.#hello);
      this.#stream = stream;
      let ended: HubError | undefined;
      try {
        for await (const message of stream) {
          await this.#take(message);
        }
      } catch (error) {
        ended = asHubError(error);
        stream.break(); // if the error comes from this window
      }
      this.#stream = undefined;
      const lost =
        ended ?? new HubError('unavailable', 'CONNECTION_LOST', 'The window was closed before the reply came.');
      for (const asked of this.#asked.values()) {
        asked.reject(
          new HubError(
            'unavailable',
            lost.reason,
            `There is no reply any more, and it may have been carried out. ${lost.message}`,
            { cause: lost },
          ),
        );
      }
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- it may have been aborted meanwhile
      if (ended !== undefined && !signal.aborted && !mayComeBack(ended)) {
        throw ended;
      }
      this.#failures++;
      if (this.#source.state === 'ready') {
        await sleep(comebackDelay(this.#failures), undefined, { signal }).catch(() => {});
      }
    }
  }

  /** Returns false if there will be no hub, or if the window is closing. Throws the hub's failure. */
  async #hubIsReady(signal: AbortSignal): Promise<boolean> {
    const state = await becomes(this.#source, (s) => s === 'ready' || s === 'failed' || s === 'stopped', signal);
    if (signal.aborted) {
      // Aborted between the change of state and this line.
      return false;
    }
    if (state === 'failed' && this.#source.failure !== undefined) {
      throw this.#source.failure;
    }
    return state === 'ready';
  }

  async #take(message: AttachResponse): Promise<void> {
    const { event } = message;
    if (event.case === 'welcome') {
      this.#failures = 0;
      this.#hello.comesBackTo = event.value.hubId;
    }
    if (event.case === 'reply') {
      const asked = this.#asked.get(event.value.messageId);
      if (asked !== undefined) {
        if (event.value.error === undefined) {
          asked.resolve(event.value);
        } else {
          asked.reject(failureOfReply(event.value.error));
        }
        return;
      }
    }
    this.#inbox.push(message);
    while (this.#inbox.size > maxUnread && !this.#closing.signal.aborted) {
      if (this.#asked.size > 0) {
        if (this.#inbox.size <= maxUnreadAsking) {
          return;
        }
        throw new HubError(
          'resource_exhausted',
          'WINDOW_TOO_SLOW',
          'Nobody reads this window: it goes on when somebody does.',
        );
      }
      await new Promise<void>((resolve) => {
        this.#roomMade = resolve;
      });
    }
  }

  /** Keeps roots and capabilities for later hellos. Returns true for a message of these kinds. */
  #keepInHello(message: MessageInitShape<typeof AttachRequestSchema>): boolean {
    const { message: said } = create(AttachRequestSchema, message);
    if (said.case === 'setRoots') {
      this.#hello.roots = said.value.roots;
    } else if (said.case === 'setCapabilities') {
      this.#hello.promptKinds = said.value.promptKinds;
      this.#hello.samplingTools = said.value.samplingTools;
      this.#hello.extensionsJson = said.value.extensionsJson;
    } else {
      return false;
    }
    return true;
  }

  #absent(): HubError {
    return new HubError('unavailable', 'HUB_NOT_READY', 'This window is not attached to a hub now: nothing was sent.');
  }
}

/** Gives up a call that has no reply yet. For any other message it does nothing. */
function giveUp(stream: HubStream, { message, messageId }: AttachRequest): void {
  if (message.case !== 'call') {
    return;
  }
  try {
    stream.send({ message: { case: 'giveUp', value: { messageId } } });
  } catch {
    // The stream has just broken, and the call with it.
  }
}
