// The class that a host uses: it starts the hub, watches it, restarts it when it dies, and ends it in order.
import { parse } from 'node:path';
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
import { ReturningWindow } from './window.js';
import type { HubWindow } from './window.js';

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: HubError) => void;
}

export class Hub {
  /** McpHubService of the current hub. */
  readonly requests: Client<typeof McpHubService>;
  /** McpServerService of the current hub. */
  readonly servers: Client<typeof McpServerService>;
  /** ModelToolService of the current hub: tools and results in the form that models need. */
  readonly models: Client<typeof ModelToolService>;
  /**
   * GatewayService of the current hub: all servers as one, for clients that speak MCP. After a restart, a hub has no
   * open gateway.
   */
  readonly gateways: Client<typeof GatewayService>;
  /**
   * ConfigService of the current hub: adds, changes and removes servers in the config files. Set `writtenBy` to the
   * program or person for whom you write: a server that the hub writes starts only after a person has seen it and
   * agreed to it.
   */
  readonly configs: Client<typeof ConfigService>;
  /** RegistryService of the current hub: finds servers in registries and bundles. It writes nothing. */
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
  #stops = 0; // number of calls of stop and leave: a start that waits for one of them must notice the next one

  constructor(options: HubOptions = {}) {
    const onLog = options.onLog ?? (() => {});
    this.#options = {
      binary: options.binary,
      program: options.program ?? parse(process.argv[1] ?? process.execPath).name,
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

  /** A sentence about the state, for people. */
  get message(): string {
    return this.#message;
  }

  get processId(): number | undefined {
    return this.#live?.process.pid;
  }

  /** The number of hubs that have become ready so far. */
  get generation(): number {
    return this.#generation;
  }

  /** The reason for the state `failed`, else undefined. */
  get failure(): HubError | undefined {
    return this.#failure;
  }

  /** Calls the listener at each change of the state, until the returned function is called. */
  onState(listener: StateListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * False if the hub's process runs but does not answer: it hangs, was stopped by a signal, or is very busy. It may go
   * on later and then handles everything that was sent to it. `stop` and then `start` replace it, and end everything
   * that it runs. In any other state the value is true.
   */
  get responsive(): boolean {
    return this.#responsive;
  }

  /** Calls the listener when `responsive` changes, until the returned function is called. */
  onResponsive(listener: ResponseListener): () => void {
    this.#responseListeners.add(listener);
    return () => this.#responseListeners.delete(listener);
  }

  /** Resolves when the hub is ready; rejects with a HubError. It also restarts a hub that has failed or was stopped. */
  async start(): Promise<void> {
    if (this.#stopping !== undefined) {
      // Wait only in this case: a stop that is called directly after start must find the new life, to end it.
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
   * Opens one raw stream on the current hub. The stream ends when the hub ends. If there is no hub, reading the stream
   * throws a HubError (unavailable).
   */
  attach(hello: MessageInitShape<typeof HelloSchema>, options: { signal?: AbortSignal } = {}): HubStream {
    return openStream(this.#live, () => this.#absent(), hello, options.signal);
  }

  /**
   * Opens a window that comes back by itself. It waits for the hub if that was not started yet, and ends when the hub
   * is stopped or has failed.
   */
  window(hello: MessageInitShape<typeof HelloSchema>, options: { signal?: AbortSignal } = {}): HubWindow {
    return new ReturningWindow(this, hello, options.signal);
  }

  /** Relays messages between a page and a stream. */
  relay(page: PageEnd, options: RelayOptions = {}): Relay {
    return new PageRelay(this, page, options);
  }

  /** Ends the hub. It takes bounded time and never rejects. */
  stop(reason = 'the host stops the hub'): Promise<void> {
    this.#stops++;
    this.#stopping ??= this.#end((live) => live.stop(reason, this.#stopTimeoutMs)).finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  /** With the option keep: leaves the hub running for the next process. Without it: stops the hub. */
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

  /** Runs from the first spawn until there are no more attempts. It never rejects. */
  async #run(ending: AbortSignal): Promise<void> {
    const patience = new Patience(this.#restart === false ? { maxAttempts: 0 } : this.#restart);
    let everReady = false;
    for (let delay: number | undefined = 0; delay !== undefined && !ending.aborted;) {
      await sleep(delay, undefined, { signal: ending }).catch(() => {});
      const live = await openHub(this.#options, this.#generation === 0, ending).catch(asHubError);
      if (live instanceof HubError) {
        // A hub that has never been ready is not tried again: the caller of start gets the error.
        // oxlint-disable-next-line typescript/no-unnecessary-condition -- it may have been aborted meanwhile
        delay = ending.aborted ? undefined : this.#comeback(live, everReady ? patience.next() : undefined);
        // oxlint-disable-next-line typescript/no-unnecessary-condition -- it may have been aborted meanwhile
      } else if (ending.aborted) {
        // Aborted just now: no other code knows this hub.
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

  /** Runs while the hub is ready, until its process has ended. Returns the delay before the next attempt. */
  async #attend(live: LiveHub, ending: AbortSignal, patience: Patience): Promise<number | undefined> {
    const born = performance.now();
    this.#live = live;
    this.#generation++;
    live.onResponsive = (responsive) => this.#respond(live, responsive);
    this.#become('ready', 'The hub is ready.');
    // The caller that aborts `ending` does the rest. It may leave the hub behind; then the process goes on, and this
    // code must not wait for its end.
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

  /** Sets the next state as soon as it is known. Returns the delay. */
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

  /** The only place where the state changes. */
  #become(state: HubState, message: string): void {
    this.#state = state;
    this.#message = message;
    this.#responsive = true; // a new state replaces the report that the hub does not answer
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

// A listener that throws must not break the hub's life cycle: its error is thrown again from a microtask.
function thrownLater(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
