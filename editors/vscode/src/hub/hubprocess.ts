// The one hub of this editor window: where its program is, how it is started, replaced and left behind.
import { chmod, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { Hub } from '@mcphub/host';
import type { HubOptions, HubState } from '@mcphub/host';
import { binaryPath, graceMilliseconds, graceSeconds, keepKey, startEnvironment } from './hubplace.js';
import type { Output } from '../log/output.js';

/**
 * How long the first hub of a window waits for the extension host before it, which may be on its way out when the
 * window reloads. A desktop opens a folder in one window only, so that somebody else's hub is rarely waited for.
 */
const departureMilliseconds = 2_000;

export interface HubStanding {
  readonly state: HubState;
  readonly message: string;
  readonly reason: string; // of a failure, as HubError has it; else ''
}

/**
 * Owns the Hub. A restart that the user asks for makes a new one, with the settings as they are then; who uses it hears
 * of that by onDidStart.
 */
export class HubProcess implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #output: Output;
  readonly #started = new vscode.EventEmitter<Hub>();
  readonly #changed = new vscode.EventEmitter<HubStanding>();
  readonly #answers = new vscode.EventEmitter<boolean>();
  #hub: Hub;
  #startedHub: Hub | undefined;
  #stopListening: () => void;
  #standing: HubStanding = { state: 'starting', message: '', reason: '' };
  #restartedByUser = false;
  #left = false; // for good: nothing is started any more
  #turn: Promise<void> = Promise.resolve(); // starts and stops come one after the other

  /** A hub is being started: who speaks with hubs turns to this one. */
  readonly onDidStart = this.#started.event;
  readonly onDidChangeState = this.#changed.event;
  /** False: the hub is there and has stopped answering. True: it goes on, as it was. */
  readonly onDidChangeResponsive = this.#answers.event;

  constructor(context: vscode.ExtensionContext, output: Output) {
    this.#context = context;
    this.#output = output;
    [this.#hub, this.#stopListening] = this.#make(departureMilliseconds);
  }

  get hub(): Hub {
    return this.#hub;
  }

  /** The hub once it is being started; a window of one that never was would end at once. */
  get started(): Hub | undefined {
    return this.#startedHub;
  }

  /** False: the hub is there, and does not answer. */
  get responsive(): boolean {
    return this.#hub.responsive;
  }

  get standing(): HubStanding {
    return this.#standing;
  }

  /** The hub is going because the user wants a new one: that is no trouble. */
  get restartedByUser(): boolean {
    return this.#restartedByUser;
  }

  get binary(): string {
    return binaryPath(setting('binaryPath', ''), this.#context.extensionPath, process.platform);
  }

  /** Starts the hub. A failure is a state, told by onDidChangeState; nothing is thrown. */
  start(): Promise<void> {
    return this.#inTurn(() => this.#start());
  }

  /** Resolves when no start or restart is under way. */
  get settled(): Promise<void> {
    return this.#turn;
  }

  /** Stops the hub with all that it runs, and starts a new one. */
  restart(): Promise<void> {
    return this.#inTurn(async () => {
      this.#restartedByUser = true;
      this.#stopListening();
      this.#set('restarting', '');
      await this.#hub.stop('the user restarts McpHub');
      [this.#hub, this.#stopListening] = this.#make(0);
      await this.#start();
      this.#restartedByUser = false;
    });
  }

  /** The window goes: the hub waits for it to come back, or ends at once when the setting says so. */
  async leave(): Promise<void> {
    this.#left = true;
    this.#stopListening();
    // Not in its turn: a start that hangs would hold it up, and is ended by this.
    await this.#hub.leave();
    await this.#turn;
  }

  dispose(): void {
    this.#stopListening();
    this.#started.dispose();
    this.#changed.dispose();
    this.#answers.dispose();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch((error: unknown) => this.#output.hub.error(describe(error)));
    return this.#turn;
  }

  async #start(): Promise<void> {
    if (this.#left) {
      return;
    }
    try {
      if (setting<string>('binaryPath', '') === '') {
        // a program that the user names is the user's to make executable
        await makeExecutable(this.binary);
      }
      await mkdir(this.#keepDirectory(), { recursive: true, mode: 0o700 });
    } catch (error) {
      this.#output.hub.warn(describe(error)); // the start itself says what it lacks
    }
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- the user may have left meanwhile
    if (!this.#left) {
      await this.#hub.start().catch((error: unknown) => this.#output.hub.error(describe(error)));
    }
  }

  #make(departureMs: number): [Hub, () => void] {
    const hub = new Hub(this.#options(departureMs));
    let begun = false;
    const deaf = hub.onResponsive((responsive) => this.#answers.fire(responsive));
    const stop = hub.onState((state, { message }) => {
      this.#set(state, message, state === 'failed' ? hub.failure?.reason : '');
      if (!begun) {
        begun = true;
        this.#startedHub = hub;
        this.#started.fire(hub);
      }
    });
    return [
      hub,
      () => {
        stop();
        deaf();
      },
    ];
  }

  #options(departureMs: number): HubOptions {
    const grace = vscode.workspace.getConfiguration('mcphub').inspect('reloadGraceSeconds');
    const graceMs = graceMilliseconds(graceSeconds(grace, vscode.env.remoteName !== undefined));
    const { workspaceFolders, workspaceFile } = vscode.workspace;
    const { binary } = this;
    const env = startEnvironment(process.env, process.platform);
    const options: HubOptions = { binary, env, onLog: (log) => this.#output.hubSaid(log) };
    if (graceMs === 0) {
      return options;
    }
    const key = keepKey(
      (workspaceFolders ?? []).map((f) => f.uri.toString()),
      workspaceFile?.toString(),
      binary,
    );
    return { ...options, keep: { directory: this.#keepDirectory(), key, graceMs, departureMs } };
  }

  #keepDirectory(): string {
    return path.join(this.#context.globalStorageUri.fsPath, 'hubs');
  }

  #set(state: HubState, message: string, reason = ''): void {
    this.#standing = { state, message, reason };
    this.#changed.fire(this.#standing);
  }
}

/**
 * A setting of ours. All of them have machine scope: a workspace cannot choose what is run. The editor does not check
 * values: one of another kind is as good as none.
 */
export function setting<T>(name: string, otherwise: T): T {
  const value = vscode.workspace.getConfiguration('mcphub').get<unknown>(name);
  return typeof value === typeof otherwise && Array.isArray(value) === Array.isArray(otherwise)
    ? (value as T)
    : otherwise;
}

export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// A .vsix that was packed on Windows, or unpacked by a tool that drops modes, has a program that nobody may run.
async function makeExecutable(file: string): Promise<void> {
  if (process.platform === 'win32') {
    return;
  }
  const info = await stat(file).catch(() => undefined); // not there: the start says so, and what to do
  if (info?.isFile() === true && (info.mode & 0o100) === 0) {
    await chmod(file, info.mode | 0o111);
  }
}
