// The hub as a host holds it: started, watched, started anew when it dies, ended in order.
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ConfigService } from './gen/mcphub/v1/config_pb.js';
import { RegistryService } from './gen/mcphub/v1/registry_pb.js';
import { GatewayService } from './gen/mcphub/v1/gateway_pb.js';
import { McpHubService } from './gen/mcphub/v1/hub_pb.js';
import { ModelToolService } from './gen/mcphub/v1/modeltool_pb.js';
import { McpServerService } from './gen/mcphub/v1/server_pb.js';
import type { HelloSchema } from './gen/mcphub/v1/editor_pb.js';
import { createClient } from './client.js';
import type { Caller, Client } from './client.js';
import { HubError, asHubError } from './failure.js';
import type { HubState, ResponseListener, StateListener } from './hubstate.js';
import type { LiveHub } from './livehub.js';
import { openHub } from './openhub.js';
import type { OpenOptions } from './openhub.js';
import type { HubOptions, Relay, RelayOptions } from './options.js';
import type { PageEnd } from './pagevoice.js';
import { Patience } from './patience.js';
import type { PatienceOptions } from './patience.js';
import { describeEnd } from './process.js';
import { PageRelay } from './relay.js';
import { openStream } from './stream.js';
import type { HubStream } from './stream.js';
import { ResumingWindow } from './window.js';
import type { HubWindow } from './window.js';

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: HubError) => void;
}

export class Hub {
  /** McpHubService of the present hub. */
  readonly requests: Client<typeof McpHubService>;
  /** McpServerService of the present hub. */
  readonly servers: Client<typeof McpServerService>;
  /** ModelToolService of the present hub: tools and results as models take them. */
  readonly models: Client<typeof ModelToolService>;
  /**
   * GatewayService of the present hub: all servers as one, for clients that speak MCP. A hub that starts anew has none
   * open.
   */
  readonly gateways: Client<typeof GatewayService>;
  /**
   * ConfigService of the present hub: adds, changes and removes servers in the config files. Say in `writtenBy` for whom:
   * what it writes starts only after a person has seen and agreed to it.
   */
  readonly configs: Client<typeof ConfigService>;
  /** RegistryService of the present hub: finds servers in registries and bundles. It writes nothing. */
  readonly registries: Client<typeof RegistryService>;

  readonly #options: OpenOptions;
  readonly #stopTimeoutMs: number;
  readonly #restart: false | PatienceOptions;
  readonly #listeners = new Set<StateListener>();
  readonly #responseListeners = new Set<ResponseListener>();
  #state: HubState = 'stopped';
  #message = 'The hub was not started yet.';
  #responsive = true;
  #failure: HubError | undefined;
  #generation = 0;
  #live: LiveHub | undefined;
  #waiters: Waiter[] = [];
  #life: { readonly ending: AbortController; readonly over: Promise<void> } | undefined;
  #stopping: Promise<void> | undefined;
  #stops = 0; // how often somebody wanted the end: a start that waits for one must hear of the next

  constructor(options: HubOptions = {}) {
    const onLog = options.onLog ?? (() => {});
    this.#options = {
      binary: options.binary,
      args: options.args ?? ['serve'],
      env: options.env ?? {},
      cwd: options.cwd,
      tls: options.tls ?? true,
      startTimeoutMs: options.startTimeoutMs ?? 60_000,
      answerTimeoutMs: options.answerTimeoutMs ?? 3000,
      keep: options.keep,
      onLog: (line) => thrownLater(() => onLog(line)),
    };
    this.#stopTimeoutMs = options.stopTimeoutMs ?? 10_000;
    this.#restart = options.restart ?? {};
    const call: Caller = (method, init, o) => this.#call(method, init, o);
    this.requests = createClient(McpHubService, call);
    this.servers = createClient(McpServerService, call);
    this.models = createClient(ModelToolService, call);
    this.gateways = createClient(GatewayService, call);
    this.configs = createClient(ConfigService, call);
    this.registries = createClient(RegistryService, call);
  }

  get state(): HubState {
    return this.#state;
  }

  /** What there is to say about the state, for people. */
  get message(): string {
    return this.#message;
  }

  get processId(): number | undefined {
    return this.#live?.process.pid;
  }

  /** How many hubs there have been: it rises with each that got ready. */
  get generation(): number {
    return this.#generation;
  }

  /** Why the state is failed. */
  get failure(): HubError | undefined {
    return this.#failure;
  }

  /** Calls the listener at each change, until the function that it returns is called. */
  onState(listener: StateListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * False while the hub is there and does not answer: it hangs, was stopped, or is very busy. It may go on, with all that
   * was sent to it; `stop` and `start` replace it, and end all that it runs. True for whatever is no such hub.
   */
  get responsive(): boolean {
    return this.#responsive;
  }

  /** Calls the listener when `responsive` changes, until the function that it returns is called. */
  onResponsive(listener: ResponseListener): () => void {
    this.#responseListeners.add(listener);
    return () => this.#responseListeners.delete(listener);
  }

  /** Resolves when the hub is ready; rejects with a HubError. Also brings back one that has failed or was stopped. */
  async start(): Promise<void> {
    if (this.#stopping !== undefined) {
      // and only then: a stop that comes next must find what it is to end
      const stops = this.#stops;
      await this.#stopping;
      if (this.#stops !== stops) {
        throw stopped();
      }
    }
    if (this.#state === 'ready') {
      return;
    }
    const ready = new Promise<void>((resolve, reject) => this.#waiters.push({ resolve, reject }));
    if (this.#life === undefined) {
      const ending = new AbortController();
      this.#failure = undefined;
      this.#become('starting', 'The hub is being started.');
      this.#life = { ending, over: this.#run(ending.signal) };
    }
    await ready;
  }

  /**
   * One raw stream on the present hub: it ends when that ends. Without a hub, reading it throws a HubError
   * (unavailable).
   */
  attach(hello: MessageInitShape<typeof HelloSchema>, options: { signal?: AbortSignal } = {}): HubStream {
    return openStream(this.#live, () => this.#absent(), hello, options.signal);
  }

  /** A window that resumes by itself. */
  window(hello: MessageInitShape<typeof HelloSchema>, options: { signal?: AbortSignal } = {}): HubWindow {
    return new ResumingWindow(this, hello, options.signal);
  }

  /** Carries a page's messages to and from a stream. */
  relay(page: PageEnd, options: RelayOptions = {}): Relay {
    return new PageRelay(this, page, options);
  }

  /** Ends the hub. Bounded, and never rejects. */
  stop(reason = 'the host stops the hub'): Promise<void> {
    this.#stops++;
    this.#stopping ??= this.#end((live) => live.stop(reason, this.#stopTimeoutMs)).finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  /** With keep: leaves the hub running for the next process. Without: stops it. */
  leave(): Promise<void> {
    this.#stops++;
    this.#stopping ??= this.#end(async (live) => {
      if (!(await live.leave().catch(() => false))) {
        await live.stop('the host leaves', this.#stopTimeoutMs);
      }
    }).finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  async #end(how: (live: LiveHub) => Promise<void>): Promise<void> {
    const life = this.#life;
    if (life !== undefined) {
      life.ending.abort(stopped());
      const live = this.#live;
      if (live !== undefined) {
        await how(live).catch(() => {});
        this.#live = undefined;
      }
      await life.over;
    }
    if (this.#state !== 'stopped') {
      this.#become('stopped', 'The hub was stopped.');
    }
  }

  /** The whole life, from the first spawn until nobody tries any more. It never rejects. */
  async #run(ending: AbortSignal): Promise<void> {
    const patience = new Patience(this.#restart === false ? { maxAttempts: 0 } : this.#restart);
    let everReady = false;
    for (let delay: number | undefined = 0; delay !== undefined && !ending.aborted;) {
      await sleep(delay, undefined, { signal: ending }).catch(() => {});
      const live = await openHub(this.#options, this.#generation === 0, ending).catch(asHubError);
      if (live instanceof HubError) {
        // One that has never worked is not tried again: who starts it hears why.
        // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may have been aborted meanwhile
        delay = ending.aborted ? undefined : this.#comeback(live, everReady ? patience.next() : undefined);
        // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may have been aborted meanwhile
      } else if (ending.aborted) {
        // in the last moment; nobody else knows of it
        await live.stop('the host stops the hub', this.#stopTimeoutMs);
      } else {
        everReady = true;
        delay = await this.#attend(live, ending, patience);
      }
    }
    if (ending.aborted) {
      this.#life = undefined;
      this.#tellWaiters(asHubError(ending.reason));
    }
  }

  /** From ready until its process is gone. Returns the delay before the next. */
  async #attend(live: LiveHub, ending: AbortSignal, patience: Patience): Promise<number | undefined> {
    const born = performance.now();
    this.#live = live;
    this.#generation++;
    live.onResponsive = (responsive) => this.#respond(live, responsive);
    this.#become('ready', 'The hub is ready.');
    // Whoever ends this life sees to the rest. That may be to leave the hub behind: then its process goes on, and
    // nothing here may wait for it.
    const ended = new Promise<undefined>((resolve) =>
      ending.addEventListener('abort', () => resolve(undefined), { once: true }),
    );
    const end = ending.aborted ? undefined : await Promise.race([live.process.ended, ended]);
    if (end === undefined || ending.aborted) {
      return undefined;
    }
    this.#live = undefined;
    patience.lived(performance.now() - born);
    const delay = this.#comeback(
      new HubError('unavailable', 'HUB_DIED', `The hub ended by itself (${describeEnd(end)}).`),
      patience.next(),
    );
    await live.discard();
    return delay;
  }

  /** Says what comes next, in the same moment in which it is known. */
  #comeback(why: HubError, delay: number | undefined): number | undefined {
    if (delay === undefined) {
      this.#giveUp(why);
    } else {
      this.#become('restarting', `${why.message} It is started anew.`);
    }
    return delay;
  }

  #giveUp(error: HubError): void {
    this.#life = undefined;
    this.#failure = error;
    this.#become('failed', error.message);
  }

  /** The one place where the state changes. */
  #become(state: HubState, message: string): void {
    this.#state = state;
    this.#message = message;
    this.#responsive = true; // whoever hears of another state knows that what did not answer is no longer waited for
    if (state === 'ready') {
      this.#tellWaiters(undefined);
    } else if (state === 'failed' && this.#failure !== undefined) {
      this.#tellWaiters(this.#failure);
    }
    for (const listener of [...this.#listeners]) {
      thrownLater(() => listener(state, { message }));
    }
  }

  #respond(live: LiveHub, responsive: boolean): void {
    if (this.#live === live && this.#state === 'ready') {
      this.#responsive = responsive;
      for (const listener of [...this.#responseListeners]) {
        thrownLater(() => listener(responsive));
      }
    }
  }

  #tellWaiters(error: HubError | undefined): void {
    for (const waiter of this.#waiters.splice(0)) {
      if (error === undefined) {
        waiter.resolve();
      } else {
        waiter.reject(error);
      }
    }
  }

  async #call(...[method, init, options]: Parameters<Caller>): Promise<unknown> {
    const live = this.#live;
    if (live === undefined) {
      throw this.#absent();
    }
    try {
      return await live.channel.unary(method, init, options);
    } catch (error) {
      throw await live.explain(asHubError(error));
    }
  }

  #absent(): HubError {
    return new HubError('unavailable', 'HUB_NOT_READY', `There is no hub now (${this.#state}): ${this.#message}`);
  }
}

function stopped(): HubError {
  return new HubError('cancelled', 'STOPPED', 'The hub was stopped by its host.');
}

// A listener that throws must not take the hub's life with it: what it throws is thrown where nobody waits for it.
function thrownLater(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
