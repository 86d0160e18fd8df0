// One hub process from its start to its end, from the host's side: connecting to it, reading its output, and ending it
// in bounded time.
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

/** The parts of an open hub. */
export interface LiveHubParts {
  readonly process: HubProcess;
  readonly target: Target;
  readonly socketDirectory: string;
  /** Is called for each connection that broke. */
  readonly broken: () => void;
  /** How long the hub may leave a question unanswered; 0: it is not watched. */
  readonly answerTimeoutMs: number;
  readonly onLog: (line: HubLog) => void;
}

// Shares of the time for a stop; draining gets the rest. go-plugin's hosts also send Shutdown and wait 2 s for the
// exit, but they do not drain.
const shutdownShare = 0.1;
const maxShutdownMs = 1000;
const exitShare = 0.2;
const maxExitMs = 2000;
const afterKillMs = 1000;
/** The maximum time for the stop of a hub that does not answer. */
const maxSilentStopMs = 2000;
/** How long an error of the connection waits for the exit of the process that explains it. */
const explanationMs = 300;
const stdioAgainMs = 250;

export class LiveHub {
  readonly channel: Channel;
  readonly process: HubProcess;
  readonly #parts: LiveHubParts;
  readonly #letGo = new AbortController();
  #onResponsive: (responsive: boolean) => void = () => {};
  #pulse: Pulse | undefined; // set once the hub was greeted
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

  /** Sets the listener that is called when the hub stops answering and when it answers again. There is only one. */
  set onResponsive(listener: (responsive: boolean) => void) {
    this.#onResponsive = listener;
  }

  /** Resolves once the hub has answered, has the expected process id and is new enough. */
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

  /** Sets the file by which the next process finds the hub. */
  set kept(file: KeptFile) {
    this.#kept = file;
  }

  /**
   * Returns the error to report for a failed call. If the connection broke because the hub has ended, that is a
   * HubError HUB_DIED. Only the exit of the process shows that, so this waits for it up to explanationMs. An error TLS
   * is checked too: a connection that breaks during the TLS handshake looks like a wrong certificate.
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
   * Ends the hub: drains it, shuts it down, and kills it if necessary. It never rejects, and takes hardly longer than
   * limitMs. For a hub that does not answer the limit is maxSilentStopMs.
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
      // go-plugin stops its server while it answers, so the answer is usually lost. If the call times out, the hub
      // has not received it.
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

  /** Kills the process if it is alive, and removes what belongs to it. It never rejects. */
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
    // a file that remains is removed by the next process that finds its hub gone
    await this.#kept?.remove().catch(() => {});
  }

  /**
   * Leaves the hub running for the next process. Returns false if there is no file by which that process could find it.
   */
  async leave(): Promise<boolean> {
    if (this.#kept === undefined || this.#end !== undefined) {
      return false;
    }
    await this.#kept.leave();
    this.release();
    return true;
  }

  /** Closes only this host's side. Streams break, so their windows may come back. */
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

  // Relays the standard output and error of the hub to onLog. Nothing else reads them, and 64 KiB of unread output
  // would block the hub. The open stream also keeps the connection of a kept hub up, by which the hub knows that it has
  // a host.
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
