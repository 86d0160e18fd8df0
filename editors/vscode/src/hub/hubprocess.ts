// The hub of this editor window: where its program is, and how it is started, replaced and left running.
import { chmod, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { Hub, proxyEnvironment } from '@mcphub/host/contract';
import type { HubOptions, HubState } from '@mcphub/host/contract';
import { binaryPath, graceMilliseconds, graceSeconds, keepKey, proxyOf, startEnvironment } from './hubplace.js';
import type { Output } from '../log/output.js';

/**
 * How long the first hub of a window waits for the previous extension host, which may still be ending when the window
 * reloads. A desktop opens a folder in only one window, so it rarely waits for the hub of another window.
 */
const departureMilliseconds = 2_000;

export interface HubStanding {
  readonly state: HubState;
  readonly message: string;
  readonly reason: string; // the reason of the HubError after a failure; else ''
}

/**
 * Owns the Hub. A restart by the user creates a new Hub with the current settings. Users of the hub learn about it by
 * onDidStart.
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
  #left = false; // for good: no hub is started any more
  #turn: Promise<void> = Promise.resolve(); // starts and stops run one at a time

  /** Fires when a hub is being started. From then on, use this hub. */
  readonly onDidStart = this.#started.event;
  readonly onDidChangeState = this.#changed.event;
  /** Fires false if a running hub has stopped answering, and true if it answers again. */
  readonly onDidChangeResponsive = this.#answers.event;

  constructor(context: vscode.ExtensionContext, output: Output) {
    this.#context = context;
    this.#output = output;
    [this.#hub, this.#stopListening] = this.#make(departureMilliseconds);
  }

  get hub(): Hub {
    return this.#hub;
  }

  /** The hub, once its start has begun. A window on a hub that was never started would end at once. */
  get started(): Hub | undefined {
    return this.#startedHub;
  }

  /** False if the hub runs but does not answer. */
  get responsive(): boolean {
    return this.#hub.responsive;
  }

  get standing(): HubStanding {
    return this.#standing;
  }

  /** True while a restart that the user asked for is in progress. The end of the hub is then not an error. */
  get restartedByUser(): boolean {
    return this.#restartedByUser;
  }

  get binary(): string {
    return binaryPath(setting('binaryPath', ''), this.#context.extensionPath, process.platform);
  }

  /** Starts the hub. It never rejects: a failure is a state, which onDidChangeState reports. */
  start(): Promise<void> {
    return this.#inTurn(() => this.#start());
  }

  /** Resolves when no start or restart is in progress. */
  get settled(): Promise<void> {
    return this.#turn;
  }

  /** Stops the hub with everything that it runs, and starts a new one. */
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

  /**
   * Leaves the hub when the window closes. The hub waits for the window to come back, or ends at once if the setting is
   * 0.
   */
  async leave(): Promise<void> {
    this.#left = true;
    this.#stopListening();
    // Outside the queue, since a start that hangs would block it. Leaving ends such a start.
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
        // if the user names the program, the user has to make it executable
        await makeExecutable(this.binary);
      }
      await mkdir(this.#keepDirectory(), { recursive: true, mode: 0o700 });
    } catch (error) {
      this.#output.hub.warn(describe(error)); // the start reports what is missing
    }
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- the user may have left meanwhile
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
    const http = vscode.workspace.getConfiguration('http');
    const proxy = proxyOf((name) => http.get<unknown>(name));
    const env = { ...(proxy && proxyEnvironment(proxy)), ...startEnvironment(process.env, process.platform) };
    const options: HubOptions = { binary, program: vscode.env.appName, env, onLog: (log) => this.#output.hubSaid(log) };
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
 * Returns a setting of this extension. All of them have machine scope, so a workspace cannot choose what is run. The
 * editor does not check values: a value of another type counts as not set.
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

// A .vsix that was packed on Windows, or unpacked by a tool that drops file modes, contains a program that is not
// executable.
async function makeExecutable(file: string): Promise<void> {
  if (process.platform === 'win32') {
    return;
  }
  const info = await stat(file).catch(() => undefined); // if it does not exist, the start reports that and what to do
  if (info?.isFile() === true && (info.mode & 0o100) === 0) {
    await chmod(file, info.mode | 0o111);
  }
}
