// Relays between a page and a stream, with proto3 JSON on the page's side. The page sends its own hello. The relay adds
// the state of the hub, refuses messages that must not reach the hub, and calls the hooks of the host.
import { create, fromJson, toJson } from '@bufbuild/protobuf';
import type { DescMethodUnary, JsonValue, MessageInitShape } from '@bufbuild/protobuf';
import {
  AttachRequestSchema,
  HelloSchema,
  HubConnectionState,
  OpenSchema,
  SetRootsSchema,
} from './gen/mcphub/v1/editor_pb.js';
import type { AttachRequest, AttachResponse, Hello, HelloJson, SetRoots } from './gen/mcphub/v1/editor_pb.js';
import type { PromptAnswer } from './gen/mcphub/v1/prompt_pb.js';
import type { Attached, Unanswered } from './attached.js';
import { HubError, asHubError } from './failure.js';
import type { HubState } from './hubstate.js';
import { PageVoice, harmless, idOf } from './pagevoice.js';
import type { AddServerProposed, Relay, RelayOptions } from './options.js';
import type { EventOfHost, PageEnd } from './pagevoice.js';
import { Finding } from './finding.js';
import { launchForbidden, writeForbidden } from './forbidden.js';
import type { StreamSource } from './source.js';
import { nothing, transition } from './standing.js';
import { comebackDelay, mayComeBack } from './window.js';
import { methodOf, registry } from './windowcalls.js';

/** The maximum number of messages of a page whose replies have not come. */
const maxUnanswered = 4096;

export class PageRelay implements Relay {
  readonly #source: StreamSource;
  readonly #voice: PageVoice;
  readonly #options: RelayOptions;
  #prompts = nothing.prompts; // those that are open
  readonly #finding: Finding;
  readonly #unsubscribe: (() => void)[];
  #attached: Attached | undefined;
  #roots: SetRoots | undefined; // the roots that the host has set last; before that, those of the hello count
  #waiting: HelloJson | undefined; // a hello that came while there was no hub, or before the last one was welcomed
  readonly #toTell = new Map<string, () => void>(); // of each kind the last, until the page knows what there is
  #windowId = '';
  #hubId = '';
  #failures = 0;
  #minted = 0;
  #comeback: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(source: StreamSource, page: PageEnd, options: RelayOptions) {
    this.#source = source;
    this.#voice = new PageVoice(page);
    this.#options = options;
    const forward = (request: AttachRequest): void => this.#forward(request, { ofPage: request.messageId !== '' });
    this.#finding = new Finding(options, this.#voice, forward);
    this.#unsubscribe = [
      page.onMessage((message) => this.#heard(message)),
      source.onState((state, detail) => this.#hubBecame(state, detail.message)),
      source.onResponsive((responsive) => this.#hubResponds(responsive)),
    ];
    this.#voice.tellHub(source.state, source.message);
  }

  get windowId(): string {
    return this.#windowId;
  }

  setRoots(roots: MessageInitShape<typeof SetRootsSchema>['roots']): void {
    const value = create(SetRootsSchema, { roots: roots ?? [] });
    this.#roots = value;
    if (this.#attached === undefined) {
      return;
    }
    try {
      this.#attached.stream.send({ message: { case: 'setRoots', value } });
    } catch {
      // The stream has just broken: the roots are sent with the next hello.
    }
  }

  reveal(promptId: string): void {
    this.#tellPage({ case: 'revealPrompt', value: { promptId } });
  }

  openAddServer(proposed: AddServerProposed = {}): void {
    this.#tellPage({ case: 'openAddServer', value: proposed });
  }

  open(thing: MessageInitShape<typeof OpenSchema>): void {
    this.#tellPage({ case: 'open', value: thing });
  }

  #tellPage(event: EventOfHost & { readonly case: string }): void {
    if (this.#attached?.welcomed === true) {
      this.#voice.say(event);
    } else {
      this.#toTell.set(event.case, () => this.#voice.say(event));
    }
  }

  leave(): void {
    this.#end();
    this.#attached?.stream.break();
  }

  dispose(): void {
    if (!this.#disposed) {
      this.#end();
      this.#attached?.stream.close();
    }
  }

  #end(): void {
    this.#disposed = true;
    this.#voice.end();
    clearTimeout(this.#comeback);
    for (const stop of this.#unsubscribe) {
      stop();
    }
    this.#waiting = undefined;
  }

  // --- messages of the page

  #heard(message: unknown): void {
    let request: AttachRequest;
    let method: DescMethodUnary | undefined;
    try {
      request = fromJson(AttachRequestSchema, message as JsonValue, { registry }); // fromJson checks the type
      if (request.message.case === undefined) {
        throw new Error('it says nothing');
      }
      if (request.message.case === 'closeWindow') {
        throw new Error('its host closes the window');
      }
      method = request.message.case === 'call' ? methodOf(request.message.value) : undefined;
    } catch (error) {
      this.#voice.refuse(
        idOf(message),
        new HubError(
          'invalid_argument',
          'MALFORMED_MESSAGE',
          `This message is none of the window stream (${asHubError(error).message}).`,
        ),
      );
      return;
    }
    const forbidden = writeForbidden(request, method, this.#options);
    if (forbidden !== undefined) {
      this.#voice.refuse(request.messageId, forbidden);
    } else if (request.message.case === 'hello') {
      this.#hello(toJson(HelloSchema, request.message.value));
    } else if (request.message.case === 'answerPrompt') {
      this.#answer(request, request.message.value);
    } else if (request.message.case === 'promptsInView') {
      const { promptIds } = request.message.value;
      harmless(() => this.#options.inView?.(promptIds));
      this.#voice.done(request.messageId);
    } else if (!this.#finding.takes(request)) {
      this.#forward(request, { ofPage: request.messageId !== '' });
    }
  }

  #hello(json: HelloJson): void {
    if (this.#source.state !== 'ready') {
      this.#waiting = json;
      // the page may have been loading when the state was posted last
      this.#voice.tellHub(this.#source.state, this.#source.message);
      return;
    }
    if (this.#attached?.welcomed === false) {
      // Ignore an equal hello: a page that said hello while the hub started repeats it when it is told that the hub is
      // ready. Keep a different one until the welcome, which has the hub id that is needed to replace this stream.
      this.#waiting = JSON.stringify(json) === this.#attached.said ? undefined : json;
      return;
    }
    this.#attach(json);
  }

  #attach(json: HelloJson): void {
    let hello: Hello;
    try {
      const known =
        this.#windowId === '' || (json.windowId ?? '') !== '' ? json : { ...json, windowId: this.#windowId };
      hello = fromJson(HelloSchema, this.#options.hello?.(known) ?? known);
      hello.roots = this.#roots?.roots ?? hello.roots;
      hello.actsFor = this.#options.actsFor ?? hello.actsFor;
    } catch (error) {
      this.#voice.tell(HubConnectionState.FAILED, asHubError(error).message);
      return;
    }
    const before = this.#attached;
    if (this.#hubId !== '' && hello.windowId === this.#windowId) {
      hello.comesBackTo = this.#hubId; // what the page names may be older, if its hello crossed a welcome
    }
    this.#windowId = hello.windowId;
    const attached: Attached = {
      stream: this.#source.attach(hello),
      said: JSON.stringify(json),
      welcomed: false,
      unanswered: new Map(),
    };
    this.#attached = attached;
    this.#waiting = undefined;
    clearTimeout(this.#comeback);
    before?.stream.break();
    this.#failUnanswered(before, 'The page has said hello again.');
    void this.#read(attached);
    if (!this.#source.responsive) {
      this.#hubResponds(false);
    }
  }

  #answer(request: AttachRequest, answer: PromptAnswer): void {
    const ofPage = request.messageId !== '';
    if (!ofPage) {
      // to get a reply that shows whether the hub has accepted the answer
      request.messageId = `relay-${++this.#minted}`;
    }
    const prompt = this.#prompts.get(answer.promptId);
    const forbidden = launchForbidden(answer, prompt, this.#options.actsFor);
    if (forbidden !== undefined) {
      this.#voice.refuse(ofPage ? request.messageId : '', forbidden);
      return;
    }
    const [askedOn, hubId] = [this.#attached, this.#hubId];
    const refused = (error: HubError): void => this.#voice.refuse(ofPage ? request.messageId : '', error);
    // Prompts of two hubs may have the same id, so an answer is sent only to the hub that asked.
    const send = (chosen: PromptAnswer): void => {
      const attached = this.#attached;
      if (attached !== undefined && !(attached.welcomed && (attached === askedOn || this.#hubId === hubId))) {
        refused(
          new HubError(
            'unavailable',
            'CONNECTION_LOST',
            'The hub that asked is gone, or not reached again yet: the answer was not sent.',
          ),
        );
      } else {
        request.message = { case: 'answerPrompt', value: chosen };
        this.#forward(request, { ofPage, answer: chosen, prompt });
      }
    };
    const hook = this.#options.answer;
    if (hook === undefined) {
      send(answer);
      return;
    }
    Promise.resolve()
      .then(() => hook(answer, prompt))
      .then((chosen) => {
        if (chosen === undefined) {
          refused(new HubError('cancelled', 'ANSWER_NOT_SENT', 'The answer was not sent. The question is still open.'));
        } else {
          send(chosen);
        }
      })
      .catch((error: unknown) => refused(asHubError(error)));
  }

  #forward(request: AttachRequest, unanswered: Unanswered): void {
    const attached = this.#attached;
    if (this.#disposed) {
      return;
    }
    try {
      if (attached === undefined) {
        throw new HubError(
          'unavailable',
          'HUB_NOT_READY',
          this.#source.state === 'ready'
            ? 'This page is not attached to the hub: it must say hello first. This was not sent.'
            : `There is no hub now: ${this.#source.message} This was not sent.`,
        );
      }
      if (attached.unanswered.size >= maxUnanswered) {
        throw new HubError(
          'resource_exhausted',
          '',
          'Too many messages wait for their replies: this one was not sent.',
        );
      }
      attached.stream.send(request);
      if (request.messageId !== '') {
        attached.unanswered.set(request.messageId, unanswered);
      }
    } catch (error) {
      this.#voice.refuse(unanswered.ofPage ? request.messageId : '', asHubError(error));
    }
  }

  // --- messages of the hub

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
      attached.stream.break(); // if the error comes from this host
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
      if (event.value.hubId !== this.#hubId) {
        this.#prompts = nothing.prompts; // this hub may use the same ids for other prompts
      }
      this.#hubId = event.value.hubId;
      this.#windowId = event.value.windowId;
      this.#failures = 0;
      attached.welcomed = true;
      if (this.#waiting !== undefined) {
        this.#attach(this.#waiting); // replaces this stream, so that the page never gets events of two streams
        return;
      }
    }
    if (event.case === 'snapshot' || event.case === 'promptOpened' || event.case === 'promptClosed') {
      this.#prompts = transition({ ...nothing, prompts: this.#prompts }, message).after.prompts;
    }
    if (event.case === 'reply') {
      const { messageId, error } = event.value;
      const asked = attached.unanswered.get(messageId);
      attached.unanswered.delete(messageId);
      const { answer, prompt } = asked ?? {};
      if (answer !== undefined && prompt !== undefined && error === undefined) {
        harmless(() => this.#options.answered?.(answer, prompt));
      }
      if (asked?.ofPage === false) {
        return;
      }
    }
    harmless(() => this.#options.event?.(message));
    this.#voice.post(message);
    if (event.case === 'snapshot') {
      this.#pageKnows();
    }
  }

  /** Sends what had to wait until the page knew the open prompts. */
  #pageKnows(): void {
    this.#toTell.forEach((tell) => tell());
    this.#toTell.clear();
  }

  #broke(ended: HubError | undefined): void {
    if (this.#waiting !== undefined && this.#source.state === 'ready') {
      this.#attach(this.#waiting);
      return;
    }
    if (ended !== undefined && !mayComeBack(ended)) {
      this.#voice.tell(HubConnectionState.FAILED, ended.message);
      return;
    }
    if (this.#source.state !== 'ready') {
      this.#voice.tellHub(this.#source.state, this.#source.message);
      return;
    }
    this.#failures++;
    this.#voice.tell(HubConnectionState.STARTING, ended?.message ?? '');
    this.#comeback = setTimeout(() => {
      if (this.#attached === undefined && this.#source.state === 'ready') {
        this.#voice.tell(HubConnectionState.READY, '');
      }
    }, comebackDelay(this.#failures)).unref();
  }

  #hubBecame(state: HubState, message: string): void {
    this.#voice.tellHub(state, message);
    if (state === 'ready' && this.#waiting !== undefined && this.#attached === undefined) {
      this.#attach(this.#waiting);
    }
  }

  #hubResponds(responsive: boolean): void {
    if (!responsive && this.#attached !== undefined) {
      this.#voice.tell(
        HubConnectionState.UNRESPONSIVE,
        'McpHub does not answer. What is asked of it now happens when it goes on, if it does.',
      );
    } else if (this.#attached?.welcomed === true) {
      // before a welcome it is not needed: the welcome shows the same
      this.#voice.tell(HubConnectionState.RESPONSIVE, '');
    }
  }

  #failUnanswered(attached: Attached | undefined, why: string): void {
    for (const [messageId, unanswered] of attached?.unanswered ?? []) {
      if (unanswered.ofPage) {
        this.#voice.refuse(
          messageId,
          new HubError(
            'unavailable',
            'CONNECTION_LOST',
            `There is no reply any more, and it may have been carried out. ${why}`,
          ),
        );
      }
    }
    attached?.unanswered.clear();
  }
}
