// One hub process from its start to its end, as the host sees it: reached, heard, and ended in bounded time.
import { setTimeout as sleep } from 'node:timers/promises';
import { GRPCController, GRPCStdio, StdioData_Channel } from './gen/plugin/goplugin_pb.js';
import { McpHubService } from './gen/mcphub/v1/hub_pb.js';
import { HubError } from './failure.js';
import { oldestHub, serves } from './handshake.js';
import type { KeptFile } from './keep.js';
import { LineReader } from './logs.js';
import type { HubLog } from './logs.js';
import { describeEnd } from './process.js';
import type { HubProcess, ProcessEnd } from './process.js';
import { Pulse } from './pulse.js';
import { removeSocketDirectory } from './socketdir.js';
import { Channel } from './transport.js';
import type { Target } from './transport.js';

/** What an open hub is made of. */
export interface LiveHubParts {
  readonly process: HubProcess;
  readonly target: Target;
  readonly socketDirectory: string;
  /** Hears of connections that broke. */
  readonly broken: () => void;
  /** How long it may be silent while it was asked; 0: it is not watched. */
  readonly answerTimeoutMs: number;
  readonly onLog: (line: HubLog) => void;
}

// Of the time for a stop: the last two are what go-plugin's hosts grant, the first is what they lack.
const shutdownShare = 0.1;
const maxShutdownMs = 1000;
const exitShare = 0.2;
const maxExitMs = 2000;
const afterKillMs = 1000;
/** For a hub that does not answer. */
const maxSilentStopMs = 2000;
/** How long a broken connection waits for the exit that explains it. */
const explanationMs = 300;
const stdioAgainMs = 250;

export class LiveHub {
  readonly channel: Channel;
  readonly process: HubProcess;
  readonly #parts: LiveHubParts;
  readonly #letGo = new AbortController();
  #onResponsive: (responsive: boolean) => void = () => {};
  #pulse: Pulse | undefined; // once it was greeted
  #end: ProcessEnd | undefined;
  #kept: KeptFile | undefined;

  constructor(parts: LiveHubParts) {
    this.#parts = parts;
    this.process = parts.process;
    this.channel = new Channel(parts.target, parts.broken, {
      sent: () => this.#pulse?.sent(),
      heard: () => this.#pulse?.heard(),
    });
    void this.process.ended.then((end) => {
      this.#end = end;
      this.#pulse?.end();
    });
  }

  /** Calls the listener when the hub stops answering, and when it answers again. Nobody else listens. */
  set onResponsive(listener: (responsive: boolean) => void) {
    this.#onResponsive = listener;
  }

  /** Resolves once it answers as the process that it is meant to be. */
  async greet(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const info = await this.channel.unary(McpHubService.method.getInfo, {}, { timeoutMs, signal });
    if (info.processId !== this.process.pid) {
      throw new HubError(
        'failed_precondition',
        'HANDSHAKE_JUNK',
        `Another process answers for the hub (${info.processId} instead of ${this.process.pid ?? 'none'}).`,
      );
    }
    if (!serves(info.version)) {
      throw new HubError(
        'failed_precondition',
        'HUB_TOO_OLD',
        `The hub is of version ${info.version}, and this host needs hub ${oldestHub} or later: update mcphub.`,
      );
    }
    this.#relayStdio();
    if (this.#parts.answerTimeoutMs > 0) {
      this.#pulse = new Pulse({
        ask: () => this.channel.unary(McpHubService.method.getInfo, {}, { signal: this.#letGo.signal }),
        changed: (responsive) => this.#onResponsive(responsive),
        limitMs: this.#parts.answerTimeoutMs,
      });
    }
  }

  /** The file by which the next process finds it. */
  set kept(file: KeptFile) {
    this.#kept = file;
  }

  /**
   * A connection that broke because the hub is gone is told as that, and only its exit tells: one that breaks in the
   * TLS handshake looks like distrust.
   */
  async explain(error: HubError): Promise<HubError> {
    if (error.reason !== 'CONNECTION_LOST' && error.reason !== 'TLS') {
      return error;
    }
    const waited = new AbortController();
    await Promise.race([
      this.process.ended,
      sleep(explanationMs, undefined, { signal: waited.signal }).catch(() => {}),
    ]);
    waited.abort();
    if (this.#end === undefined) {
      return error;
    }
    return new HubError(
      'unavailable',
      'HUB_DIED',
      `The hub ended (${describeEnd(this.#end)}): what was under way may or may not have been done.`,
      { cause: error },
    );
  }

  /**
   * Ends it: drained, shut down, killed if need be. It never rejects, and takes no longer than timeoutMs and a moment.
   * One that does not answer is not waited for as long.
   */
  async stop(reason: string, limitMs: number): Promise<void> {
    const timeoutMs = this.#pulse?.responsive === false ? Math.min(limitMs, maxSilentStopMs) : limitMs;
    const exitMs = Math.min(maxExitMs, timeoutMs * exitShare);
    const shutdownMs = Math.min(maxShutdownMs, timeoutMs * shutdownShare);
    const within = { signal: this.#letGo.signal };
    if (this.#end === undefined) {
      await this.channel
        .unary(McpHubService.method.drain, { reason }, { ...within, timeoutMs: timeoutMs - exitMs - shutdownMs })
        .catch(() => {});
      // go-plugin stops its server while it answers, so the answer is lost as a rule. Only a hub that says nothing at
      // all has not heard.
      const heard = await this.channel
        .unary(GRPCController.method.shutdown, {}, { ...within, timeoutMs: shutdownMs })
        .then(
          () => true,
          (error: unknown) => !(error instanceof HubError && error.code === 'deadline_exceeded'),
        );
      if (heard) {
        await this.#exit(exitMs);
      }
    }
    await this.discard();
  }

  /** Kills it if it lives, and removes what belongs to it. It never rejects. */
  async discard(): Promise<void> {
    if (this.#end === undefined) {
      this.process.kill();
      await this.#exit(afterKillMs);
    }
    this.#letGo.abort();
    this.#pulse?.end();
    this.channel.close();
    this.process.release();
    await removeSocketDirectory(this.#parts.socketDirectory);
    await this.#kept?.remove().catch(() => {}); // what stays is removed by whoever finds that its hub is gone
  }

  /** Lets it live on for the next process. False when no file tells of it. */
  async leave(): Promise<boolean> {
    if (this.#kept === undefined || this.#end !== undefined) {
      return false;
    }
    await this.#kept.leave();
    this.release();
    return true;
  }

  /** Closes this host's side alone. Streams break, and are not half-closed: their windows may come back. */
  release(): void {
    this.#letGo.abort();
    this.#pulse?.end();
    this.channel.close();
    this.process.release();
  }

  async #exit(ms: number): Promise<void> {
    const waited = new AbortController();
    await Promise.race([this.process.ended, sleep(ms, undefined, { signal: waited.signal }).catch(() => {})]);
    waited.abort();
  }

  // Nobody else reads what the hub prints: unread, 64 KiB of it would freeze the hub. The open stream also keeps the
  // connection of a kept hub up, which is what tells it that it has a host.
  #relayStdio(): void {
    const stdout = this.#printed('stdout');
    const stderr = this.#printed('stderr');
    const again = (): void => {
      if (!this.#letGo.signal.aborted && this.#end === undefined) {
        sleep(stdioAgainMs, undefined, { signal: this.#letGo.signal, ref: false }).then(
          () => this.#relayStdio(),
          () => {},
        );
      }
    };
    const stream = this.channel.open(
      GRPCStdio.method.streamStdio,
      { signal: this.#letGo.signal },
      {
        message: (data) => {
          if (data.channel === StdioData_Channel.STDOUT) {
            stdout.push(data.data);
          } else if (data.channel === StdioData_Channel.STDERR) {
            stderr.push(data.data);
          }
        },
        end: again,
      },
    );
    stream.send({});
    stream.finish();
  }

  #printed(stream: string): LineReader {
    return new LineReader((line) =>
      this.#parts.onLog({ level: 'info', message: line, time: new Date(), fields: { stream } }),
    );
  }
}
