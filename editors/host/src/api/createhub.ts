// Creates a hub that belongs to this program: its process, its config, a window that watches it, and the API over them.
import { basename, parse } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { HubError, asHubError } from '../failure.js';
import { Hub } from '../hub.js';
import { proxyEnvironment } from '../proxy.js';
import { becomes } from '../source.js';
import type { Relay } from '../options.js';
import { Asking, kindsOf, visit } from './asking.js';
import { configSources } from './configsources.js';
import { connection, type Caller } from './connection.js';
import { Emitter } from './emitter.js';
import type { ConfigFileSetting, ConfigOutcome, HubSettings, MemoryServer, PolicySetting } from './hubsettings.js';
import type { OwnedHub, Page, PageOptions, PagePort } from './hubsettings.js';
import type { McpConfigProblem, McpEntrySettings, McpEvent, McpHub } from './mcphub.js';
import { Mirror } from './mirror.js';
import type { QuestionHandlers } from './question.js';
import { address } from './servername.js';
import * as shown from './shown.js';
import { launchOf, scopes } from './shownquestions.js';
import { Subscriptions } from './subscriptions.js';
import { readAndShown, until } from './untilshown.js';
import { WatcherWindow, type Root } from './watcherwindow.js';

/**
 * Starts a hub with these settings. Resolves when it runs, its config has been read, and its lists show what there is;
 * rejects with a HubError, and leaves nothing, if it cannot be started. Problems of the config are no error: they are
 * in `problems` and in the servers. A hub that dies later is started anew, with the same config; what was open has
 * failed then, and nothing is repeated.
 */
export async function createHub(settings: HubSettings = {}): Promise<OwnedHub> {
  let owner: Owner | undefined;
  try {
    owner = new Owner(settings);
    await owner.start();
    return owner.api;
  } catch (error) {
    await owner?.close('the hub could not be started');
    throw asHubError(error);
  }
}

const hubs = new WeakMap<OwnedHub, Hub>();

/** Returns the process, the services and the streams below an owned hub. */
export function hubOf(owned: OwnedHub): Hub {
  const hub = hubs.get(owned);
  if (hub === undefined) {
    throw new HubError('invalid_argument', 'INVALID_REQUEST', 'This hub was not created by createHub.');
  }
  return hub;
}

type State = OwnedHub['onDidChangeState'] extends McpEvent<infer S> ? S : never;

class Owner {
  readonly api: OwnedHub;
  readonly #hub: Hub;
  readonly #memory: string; // how people see the place of the servers in memory
  readonly #watcher: WatcherWindow;
  readonly #asking: Asking;
  readonly #mirror: Mirror;
  readonly #subscriptions: Subscriptions;
  readonly #handlers: QuestionHandlers;
  readonly #report: (error: HubError) => void;
  readonly #stateChanged: Emitter<State>;
  readonly #relays = new Set<Relay>();
  readonly #page: PagePort | undefined;
  readonly #policy: { readonly json: string; readonly dialect: string; readonly name: string };
  readonly #closing = new AbortController();
  #files: readonly (string | ConfigFileSetting)[];
  #servers: readonly MemoryServer[];
  #folders: readonly Root[];
  #read: Promise<unknown> = Promise.resolve(); // of the config, by the present hub
  #applying: Promise<unknown> = Promise.resolve(); // the last reading that was asked for, whatever became of it
  #restarting: Promise<void> = Promise.resolve();
  #present = new AbortController(); // aborted when the state of the hub changes

  constructor(settings: HubSettings) {
    checkNames('a hub', settings, settingNames);
    const { files = [], servers = [], folders = [], questions = {}, approvals = 'ask', timeouts = {} } = settings;
    const { program = parse(process.argv[1] ?? process.execPath).name, onError = warn } = settings;
    this.#memory = `${program} (in memory)`;
    this.#files = files;
    this.#servers = servers;
    this.#folders = folders.map(rootOf);
    this.#handlers = questions;
    this.#page = settings.page;
    this.#policy = policyOf(settings.policy);
    this.#report = onError;
    const listenerFailed = (error: unknown): void => onError(asHubError(error));
    this.#hub = new Hub(processOptions(settings, program));
    this.#watcher = new WatcherWindow(
      { title: program, promptKinds: kindsOf(questions), samplingTools: questions.samplingTools ?? false },
      this.#folders,
      listenerFailed,
    );
    this.#asking = new Asking(this.#watcher, questions, this.#report);
    this.#mirror = new Mirror(this.#watcher, listenerFailed);
    this.#subscriptions = new Subscriptions(() => this.#hub);
    this.#stateChanged = new Emitter(listenerFailed);
    const caller: Caller = {
      name: program,
      preapproved: () => Promise.resolve(true),
      asksItself: approvals === 'host',
      timeouts,
      writtenBy: () => Promise.resolve(program),
    };
    const world = {
      hub: () => this.#hub,
      watcher: this.#watcher,
      ready: () => this.#ready(),
      mirrored: () => Promise.resolve(), // ready waits for that, too
      mirror: this.#mirror,
      subscriptions: this.#subscriptions,
    };
    this.api = this.#made(connection(world, caller));
    hubs.set(this.api, this.#hub);
  }

  async start(): Promise<void> {
    configSources(this.#memory, this.#files, this.#servers); // throws for what is wrong in them
    this.#hub.onState((state, { message }) => {
      this.#present.abort(new HubError('unavailable', 'HUB_NOT_READY', message));
      this.#present = new AbortController();
      if (state === 'ready') {
        const again = this.#hub.generation > 1;
        this.#read = this.#apply();
        this.#read.then(
          () => this.#subscriptions.renew(),
          (error: unknown) => {
            if (again && !this.#closing.signal.aborted) {
              this.#report(asHubError(error));
            }
          },
        );
      } else {
        this.#watcher.hubLost();
      }
      this.#stateChanged.fire(this.#state());
    });
    this.#hub.onResponsive(() => this.#stateChanged.fire(this.#state()));
    this.#watcher.follow(this.#hub);
    if (this.#page !== undefined) {
      this.#showPage(this.#page);
    }
    await this.#hub.start();
    await this.#ready();
  }

  async close(reason = 'the host closes the hub'): Promise<void> {
    this.#closing.abort(new HubError('cancelled', 'STOPPED', 'The hub was closed by its host.'));
    await this.#hub.stop(reason);
    this.#asking.dispose();
    for (const relay of this.#relays) {
      relay.dispose();
    }
    this.#relays.clear();
    await this.#watcher.close();
    this.#mirror.dispose();
    this.#stateChanged.dispose();
  }

  #made(api: McpHub): OwnedHub {
    const state = {
      state: { enumerable: true, get: () => this.#hub.state },
      message: { enumerable: true, get: () => this.#hub.message },
      responsive: { enumerable: true, get: () => this.#hub.responsive },
    };
    const methods: Omit<OwnedHub, Exclude<keyof McpHub, 'serverSettings'> | keyof typeof state> = {
      onDidChangeState: this.#stateChanged.event,
      setServers: (servers) => this.#changed({ servers }),
      setFiles: (files) => this.#changed({ files }),
      setFolders: (folders) => {
        this.#folders = folders.map(rootOf);
        this.#watcher.setRoots(this.#folders);
        this.#relays.forEach((relay) => relay.setRoots([...this.#folders]));
      },
      launch: async (server) => {
        await this.#ready();
        const { launch, allowed } = await this.#hub.servers.getLaunch({ server: address(server) });
        return launch && { ...launchOf(launch), hash: launch.launchHash, allowed };
      },
      allowLaunch: async (server, launchHash, scope = 'once') => {
        await this.#ready();
        await this.#hub.servers.allowLaunch({ server: address(server), launchHash, scope: scopes[scope] });
      },
      showPage: (port, options) => this.#showPage(port, options),
      restart: (reason) => this.#restart(reason),
      close: (reason) => this.close(reason),
      serverSettings: async (server, of) => this.#inMemory(address(server)) ?? api.serverSettings(server, of),
    };
    const { serverSettings: _, ...descriptors } = Object.getOwnPropertyDescriptors(api);
    return Object.freeze(Object.defineProperties({ ...methods }, { ...descriptors, ...state }) as OwnedHub);
  }

  /** Returns the settings of a server in memory, which has no entry in a file that the hub could read. */
  #inMemory(name: string): McpEntrySettings | undefined {
    const { servers } = this.#mirror;
    const server =
      servers.find((one) => one.name === name) ?? servers.find((one) => `${one.configName}@${one.source}` === name);
    const found = this.#servers.find((one) => one.name === server?.configName);
    return server === undefined || found === undefined || server.configFile !== this.#memory
      ? undefined
      : {
          configFile: server.configFile,
          configLine: server.configLine,
          dialect: server.dialect,
          enabled: found.enabled,
          approvals: found.approvals ?? {},
          timeouts: found.timeouts ?? {},
        };
  }

  #state(): State {
    return { state: this.#hub.state, message: this.#hub.message, responsive: this.#hub.responsive };
  }

  async #restart(reason = 'the host restarts the hub'): Promise<void> {
    this.#closing.signal.throwIfAborted();
    this.#restarting = this.#restarting.then(async () => {
      await this.#hub.stop(reason);
      if (!this.#closing.signal.aborted) {
        this.#watcher.follow(this.#hub); // the stop has ended its window
        await this.#hub.start().catch(() => undefined); // the state says it
      }
    });
    await this.#ready();
  }

  /** Resolves when the present hub runs and has read the config. It starts no hub that has failed or was closed. */
  async #ready(): Promise<void> {
    const { signal } = this.#closing;
    await this.#restarting;
    const state = await becomes(this.#hub, (s) => s === 'ready' || s === 'failed' || s === 'stopped', signal);
    signal.throwIfAborted();
    if (state !== 'ready') {
      throw this.#hub.failure ?? new HubError('unavailable', 'HUB_NOT_READY', 'The hub was stopped.');
    }
    await this.#read;
  }

  /** Changes a part of the config. Another part may be changed meanwhile. */
  async #changed({
    files,
    servers,
  }: {
    readonly files?: readonly (string | ConfigFileSetting)[];
    readonly servers?: readonly MemoryServer[];
  }): Promise<ConfigOutcome> {
    try {
      configSources(this.#memory, files ?? [], servers ?? []); // throws for what is wrong in them
      await this.#ready().catch(() => undefined); // an earlier reading may have failed
      this.#closing.signal.throwIfAborted();
      this.#files = files ?? this.#files;
      this.#servers = servers ?? this.#servers;
      const read = this.#apply();
      this.#read = read;
      return await read;
    } catch (error) {
      throw asHubError(error);
    }
  }

  /** Has the hub read the present config, after the readings that are under way. */
  #apply(): Promise<ConfigOutcome> {
    const applied = this.#applying.then(() => this.#applyNow());
    this.#applying = applied.catch(() => undefined);
    return applied;
  }

  /** Resolves when the lists show what has been read. */
  async #applyNow(): Promise<ConfigOutcome> {
    const { signal } = this.#present;
    await until(this.#watcher, () => this.#watcher.standing.known, signal);
    const sources = configSources(this.#memory, this.#files, this.#servers);
    const { problems, stopped } = await readAndShown(
      this.#watcher,
      () => this.#hub.servers.reloadConfig({ sources, managedPolicy: this.#policy }, { signal }),
      signal,
    );
    return {
      problems: problems.map((one): McpConfigProblem & { server: string } => ({
        ...shown.problem(one),
        server: one.server,
      })),
      stopped: [...stopped],
    };
  }

  #showPage(port: PagePort, { title = 'page', configWrites = false, registry, chooseBundle }: PageOptions = {}): Page {
    this.#closing.signal.throwIfAborted();
    const relay = this.#hub.relay(port, {
      hello: (hello) => ({ ...hello, title, roots: [...this.#folders] }),
      configWrites,
      ...(registry && { registry }),
      ...(chooseBundle && { chooseBundle }),
      answered: (answer, prompt) => visit(prompt, answer, this.#handlers.openUrl, this.#report),
    });
    this.#relays.add(relay);
    return {
      reveal: (questionId = '') => relay.reveal(questionId),
      leave: () => {
        this.#relays.delete(relay);
        relay.leave();
      },
      dispose: () => {
        this.#relays.delete(relay);
        relay.dispose();
      },
    };
  }
}

function processOptions(settings: HubSettings, program: string): ConstructorParameters<typeof Hub>[0] {
  const { binary, proxy, env, cwd, restart, startTimeoutMs, stopTimeoutMs, onLog } = settings;
  return {
    program,
    ...(binary !== undefined && { binary }),
    env: { ...(proxy && proxyEnvironment(proxy)), ...env },
    ...(cwd !== undefined && { cwd }),
    ...(restart !== undefined && { restart }),
    ...(startTimeoutMs !== undefined && { startTimeoutMs }),
    ...(stopTimeoutMs !== undefined && { stopTimeoutMs }),
    ...(onLog !== undefined && { onLog }),
  };
}

// Programs without types: a policy that is misspelled must not count as none.
const settingNames: Record<keyof HubSettings, true> = {
  program: true,
  binary: true,
  env: true,
  proxy: true,
  cwd: true,
  files: true,
  servers: true,
  policy: true,
  folders: true,
  questions: true,
  approvals: true,
  timeouts: true,
  page: true,
  restart: true,
  startTimeoutMs: true,
  stopTimeoutMs: true,
  onLog: true,
  onError: true,
};
const policyNames: Record<keyof PolicySetting, true> = { policy: true, dialect: true, name: true };

function checkNames(of: string, settings: object, known: object): void {
  const unknown = Object.keys(settings).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) {
    throw new HubError('invalid_argument', 'INVALID_REQUEST', `There is no setting ${unknown} of ${of}.`);
  }
}

function policyOf(setting: unknown): { readonly json: string; readonly dialect: string; readonly name: string } {
  if (setting === undefined) {
    return { json: '', dialect: '', name: '' };
  }
  const {
    policy,
    dialect = '',
    name = '',
  } = Object(setting) as Omit<Partial<PolicySetting>, 'policy'> & {
    readonly policy?: object | string | null;
  };
  if (typeof policy !== 'string' && (typeof policy !== 'object' || policy === null)) {
    const text = 'The setting policy is an object whose policy is a policy, or its JSON text.';
    throw new HubError('invalid_argument', 'INVALID_REQUEST', text);
  }
  checkNames('a policy', Object(setting) as object, policyNames);
  // An empty text would tell the hub that there is no policy. A blank one cannot be used.
  return { json: typeof policy === 'string' ? policy || ' ' : JSON.stringify(policy), dialect, name };
}

function rootOf(folder: string): Root {
  try {
    const uri = folder.startsWith('file:') ? new URL(folder).href : pathToFileURL(folder).href;
    return { uri, name: basename(fileURLToPath(uri)) };
  } catch (error) {
    throw new HubError(
      'invalid_argument',
      'INVALID_REQUEST',
      `${JSON.stringify(folder)} is no folder of this machine.`,
      {
        cause: error,
      },
    );
  }
}

function warn(error: HubError): void {
  process.emitWarning(error);
}
