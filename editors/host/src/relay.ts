// Between a page and a stream: proto3 JSON on one side, the hub on the other. The page says hello itself; this file says what there is to say about the
// hub, keeps what must not reach it, and lets the host put in its word.
import { create, fromJson, toJson } from '@bufbuild/protobuf';
import type { JsonValue } from '@bufbuild/protobuf';
import { AttachRequestSchema, AttachResponseSchema, HelloSchema, HubConnectionState } from './gen/mcphub/v1/editor_pb.js';
import type { AttachRequest, AttachResponse, AttachResponseJson, Hello, HelloJson } from './gen/mcphub/v1/editor_pb.js';
import type { Prompt, PromptAnswer } from './gen/mcphub/v1/prompt_pb.js';
import { HubError, asHubError, replyOfFailure } from './failure.js';
import type { HubState } from './hub.js';
import { OpenPrompts } from './prompts.js';
import type { StreamSource } from './source.js';
import type { HubStream } from './stream.js';
import { comebackDelay, mayComeBack } from './window.js';

/** What a webview is. */
export interface PageEnd {
  post(message: AttachResponseJson): void;
  onMessage(listener: (message: unknown) => void): () => void;
}

export interface RelayOptions {
  /** The host's last word: window id, roots, title. */
  readonly hello?: (hello: HelloJson) => HelloJson;
  /** May replace an answer (a completion by a model, a secret). undefined: it is not sent, and the page hears that the question is still open. */
  readonly answer?: (answer: PromptAnswer, prompt: Prompt | undefined) => Promise<PromptAnswer | undefined>;
  /** The hub has taken the answer: open the URL now, keep the secret. */
  readonly answered?: (answer: PromptAnswer, prompt: Prompt) => void;
  readonly event?: (event: AttachResponse) => void;
}

export interface Relay {
  /** The id under which the hub knows the window; '' before the first welcome. */
  readonly windowId: string;
  /** The page is gone for good: half-close. */
  dispose(): void;
}

/** A point that no hub has reached: a stream that resumes there supersedes the one before, and begins with a snapshot. */
const beyondAll = '18446744073709551615';
/** Of messages of a page whose replies have not come. */
const maxUnanswered = 4096;

interface Unanswered {
  /** Ids that the page has not chosen are answered to nobody. */
  readonly ofPage: boolean;
  readonly answer?: PromptAnswer;
  readonly prompt?: Prompt | undefined;
}

/** A stream and what is known of it. */
interface Attached {
  readonly stream: HubStream;
  readonly said: string;
  welcomed: boolean;
  readonly unanswered: Map<string, Unanswered>;
}

export class PageRelay implements Relay {
  readonly #source: StreamSource;
  readonly #page: PageEnd;
  readonly #options: RelayOptions;
  readonly #prompts = new OpenPrompts();
  readonly #unsubscribe: (() => void)[];
  #attached: Attached | undefined;
  #waiting: HelloJson | undefined; // said while there was no hub, or before the last one was welcomed
  #windowId = '';
  #hubId = '';
  #failures = 0;
  #minted = 0;
  #comeback: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(source: StreamSource, page: PageEnd, options: RelayOptions) {
    this.#source = source;
    this.#page = page;
    this.#options = options;
    this.#unsubscribe = [
      page.onMessage((message) => this.#heard(message)),
      source.onState((state, detail) => this.#hubBecame(state, detail.message)),
    ];
    this.#tellState(source.state, source.message);
  }

  get windowId(): string {
    return this.#windowId;
  }

  dispose(): void {
    if (this.#disposed) {
      return;
    }
    this.#disposed = true;
    clearTimeout(this.#comeback);
    for (const stop of this.#unsubscribe) {
      stop();
    }
    this.#waiting = undefined;
    this.#attached?.stream.close();
  }

  // --- the page speaks

  #heard(message: unknown): void {
    let request: AttachRequest;
    try {
      request = fromJson(AttachRequestSchema, message as JsonValue); // it is what fromJson finds out
      if (request.message.case === undefined) {
        throw new Error('it says nothing');
      }
    } catch (error) {
      this.#refuse(idOf(message), new HubError('invalid_argument', 'MALFORMED_MESSAGE', `This message is none of the window stream (${asHubError(error).message}).`));
      return;
    }
    if (request.message.case === 'hello') {
      this.#hello(toJson(HelloSchema, request.message.value));
    } else if (request.message.case === 'answerPrompt') {
      this.#answer(request, request.message.value);
    } else {
      this.#forward(request, { ofPage: request.messageId !== '' });
    }
  }

  #hello(json: HelloJson): void {
    if (this.#source.state !== 'ready') {
      this.#waiting = json;
      this.#tellState(this.#source.state, this.#source.message); // the page may have been loading when it was told
      return;
    }
    if (this.#attached?.welcomed === false) {
      // The same again changes nothing (a page that said hello while the hub started says it once more when it hears that it is there). Another one waits for the
      // welcome, which brings what is needed to take this stream's place.
      this.#waiting = JSON.stringify(json) === this.#attached.said ? undefined : json;
      return;
    }
    this.#attach(json);
  }

  #attach(json: HelloJson): void {
    let hello: Hello;
    try {
      const known = this.#windowId === '' || (json.windowId ?? '') !== '' ? json : { ...json, windowId: this.#windowId };
      hello = fromJson(HelloSchema, this.#options.hello?.(known) ?? known);
    } catch (error) {
      this.#tell(HubConnectionState.FAILED, asHubError(error).message);
      return;
    }
    const before = this.#attached;
    if (hello.resume === undefined && this.#hubId !== '' && hello.windowId === this.#windowId) {
      hello.resume = create(HelloSchema, { resume: { hubId: this.#hubId, afterSequence: BigInt(beyondAll) } }).resume as NonNullable<Hello['resume']>;
    }
    this.#windowId = hello.windowId;
    const attached: Attached = { stream: this.#source.attach(hello), said: JSON.stringify(json), welcomed: false, unanswered: new Map() };
    this.#attached = attached;
    this.#waiting = undefined;
    clearTimeout(this.#comeback);
    before?.stream.break();
    this.#failUnanswered(before, 'The page has said hello again.');
    void this.#read(attached);
  }

  #answer(request: AttachRequest, answer: PromptAnswer): void {
    const ofPage = request.messageId !== '';
    if (!ofPage) {
      request.messageId = `relay-${++this.#minted}`; // to hear whether the hub has taken it
    }
    const prompt = this.#prompts.get(answer.promptId);
    const hook = this.#options.answer;
    if (hook === undefined) {
      this.#forward(request, { ofPage, answer, prompt });
      return;
    }
    const refused = (error: HubError): void => this.#refuse(ofPage ? request.messageId : '', error);
    Promise.resolve().then(() => hook(answer, prompt)).then((replaced) => {
      if (replaced === undefined) {
        refused(new HubError('cancelled', 'ANSWER_NOT_SENT', 'The answer was not sent. The question is still open.'));
      } else {
        request.message = { case: 'answerPrompt', value: replaced };
        this.#forward(request, { ofPage, answer: replaced, prompt });
      }
    }).catch((error: unknown) => refused(asHubError(error)));
  }

  #forward(request: AttachRequest, unanswered: Unanswered): void {
    const attached = this.#attached;
    if (this.#disposed) {
      return;
    }
    try {
      if (attached === undefined) {
        throw new HubError('unavailable', 'HUB_NOT_READY', `There is no hub now: ${this.#source.message} This was not sent.`);
      }
      if (attached.unanswered.size >= maxUnanswered) {
        throw new HubError('resource_exhausted', '', 'Too many messages wait for their replies: this one was not sent.');
      }
      attached.stream.send(request);
      if (request.messageId !== '') {
        attached.unanswered.set(request.messageId, unanswered);
      }
    } catch (error) {
      this.#refuse(unanswered.ofPage ? request.messageId : '', asHubError(error));
    }
  }

  // --- the hub speaks

  async #read(attached: Attached): Promise<void> {
    let ended: HubError | undefined;
    try {
      for await (const message of attached.stream) {
        if (this.#attached === attached) {
          this.#came(attached, message);
        }
      }
    } catch (error) {
      ended = asHubError(error);
    }
    if (this.#attached === attached) {
      this.#attached = undefined;
      this.#failUnanswered(attached, ended?.message ?? 'The stream has ended.');
      if (!this.#disposed) {
        this.#broke(ended);
      }
    }
  }

  #came(attached: Attached, message: AttachResponse): void {
    const { event } = message;
    if (event.case === 'welcome') {
      this.#hubId = event.value.hubId;
      this.#windowId = event.value.windowId;
      this.#failures = 0;
      attached.welcomed = true;
      if (this.#waiting !== undefined) {
        this.#attach(this.#waiting); // in this one's place; the page gets no event of two streams
        return;
      }
    }
    this.#prompts.see(message);
    if (event.case === 'reply') {
      const { messageId, error } = event.value;
      const asked = attached.unanswered.get(messageId);
      attached.unanswered.delete(messageId);
      if (asked?.answer !== undefined && asked.prompt !== undefined && error === undefined) {
        const { answer, prompt } = asked;
        this.#harmless(() => this.#options.answered?.(answer, prompt));
      }
      if (asked?.ofPage === false) {
        return;
      }
    }
    this.#harmless(() => this.#options.event?.(message));
    this.#post(toJson(AttachResponseSchema, message));
  }

  #broke(ended: HubError | undefined): void {
    if (this.#waiting !== undefined && this.#source.state === 'ready') {
      this.#attach(this.#waiting);
      return;
    }
    if (ended !== undefined && !mayComeBack(ended)) {
      this.#tell(HubConnectionState.FAILED, ended.message);
      return;
    }
    if (this.#source.state !== 'ready') {
      this.#tellState(this.#source.state, this.#source.message);
      return;
    }
    this.#failures++;
    this.#tell(HubConnectionState.STARTING, ended?.message ?? '');
    this.#comeback = setTimeout(() => {
      if (this.#attached === undefined && this.#source.state === 'ready') {
        this.#tell(HubConnectionState.READY, '');
      }
    }, comebackDelay(this.#failures));
  }

  #hubBecame(state: HubState, message: string): void {
    this.#tellState(state, message);
    if (state === 'ready' && this.#waiting !== undefined && this.#attached === undefined) {
      this.#attach(this.#waiting);
    }
  }

  // --- what the page is told

  #tellState(state: HubState, message: string): void {
    if (state === 'ready') {
      this.#tell(HubConnectionState.READY, '');
    } else {
      this.#tell(state === 'starting' || state === 'restarting' ? HubConnectionState.STARTING : HubConnectionState.FAILED, message);
    }
  }

  #tell(state: HubConnectionState, message: string): void {
    this.#post(toJson(AttachResponseSchema, create(AttachResponseSchema, { event: { case: 'hubConnection', value: { state, message } } })));
  }

  #refuse(messageId: string, error: HubError): void {
    if (messageId !== '') {
      this.#post(toJson(AttachResponseSchema, create(AttachResponseSchema, { event: { case: 'reply', value: { messageId, error: replyOfFailure(error) } } })));
    }
  }

  #failUnanswered(attached: Attached | undefined, why: string): void {
    for (const [messageId, unanswered] of attached?.unanswered ?? []) {
      if (unanswered.ofPage) {
        this.#refuse(messageId, new HubError('unavailable', 'CONNECTION_LOST', `There is no reply any more, and it may have been carried out. ${why}`));
      }
    }
    attached?.unanswered.clear();
  }

  #post(message: AttachResponseJson): void {
    if (!this.#disposed) {
      this.#harmless(() => this.#page.post(message)); // the webview may be gone before its relay hears of it
    }
  }

  #harmless(call: () => void): void {
    try {
      call();
    } catch {
      // Neither a page that is gone nor a hook that fails may end the stream.
    }
  }
}

function idOf(message: unknown): string {
  if (typeof message === 'object' && message !== null && 'messageId' in message && typeof message.messageId === 'string') {
    return message.messageId;
  }
  return '';
}
