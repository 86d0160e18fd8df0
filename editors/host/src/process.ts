// The hub's process. Its output is read until it ends, and only its exit event shows that it has ended, never a status
// code of a call.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { HubError, codeOf } from './failure.js';
import { LineReader, LogTail, parseLogLine } from './logs.js';
import type { HubLog } from './logs.js';

/**
 * How a process ended. Both values are null for a process that another process had started, and for one that could not
 * be started.
 */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The interface of a hub's process, whoever started it. */
export interface HubProcess {
  readonly pid: number | undefined;
  /** Settles when the process is gone; it never rejects. */
  readonly ended: Promise<ProcessEnd>;
  kill(): void;
  /** Releases the process: it may live on, and this process may end. */
  release(): void;
}

export interface SpawnOptions {
  readonly binary: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string | undefined;
  /**
   * Whether the process must survive this one: it gets its own session, so that neither this one's terminal nor its
   * process group ends it.
   */
  readonly survive: boolean;
  readonly onLog: (line: HubLog) => void;
}

/** How long output is read after the exit. A grandchild may hold the pipes open for ever. */
const afterlifeMs = 500;
/** Enough for two paths and a certificate. */
const maxFirstLine = 16 * 1024;

export class SpawnedProcess implements HubProcess {
  readonly ended: Promise<ProcessEnd>;
  /** The first line of the standard output. It rejects with a HubError if there will be none. */
  readonly firstLine: Promise<string>;
  readonly tail = new LogTail();
  readonly #child: ChildProcess;

  /** Throws a HubError for an error that spawn throws. Any other error is reported by `ended` and `firstLine`. */
  constructor(options: SpawnOptions) {
    const child = spawned(options);
    this.#child = child;
    let spawnError: unknown;
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        resolve({ code, signal });
        setTimeout(() => {
          child.stdout?.destroy();
          child.stderr?.destroy();
        }, afterlifeMs).unref();
      });
      child.on('error', (error) => {
        if (child.pid === undefined) {
          // otherwise a kill has failed: the exit event follows
          spawnError = error;
          resolve({ code: null, signal: null });
        }
      });
    });
    const lines = new LineReader((line) => {
      const log = parseLogLine(line);
      this.tail.note(line, log);
      options.onLog(log);
    });
    // read until the end: with a full pipe, logs of the hub would be lost
    child.stderr?.on('data', (chunk: Buffer) => lines.push(chunk));
    child.stderr?.once('close', () => lines.end());
    const stderrOver = new Promise<void>((resolve) => child.stderr?.once('close', () => resolve()) ?? resolve());
    this.firstLine = Promise.race([
      firstLineOf(child),
      this.ended.then(async (end) => {
        if (child.pid !== undefined) {
          await stderrOver; // the last lines explain the exit
        }
        throw child.pid === undefined
          ? failureOfSpawn(options, spawnError)
          : failureOfExit(options.binary, end, this.tail);
      }),
    ]);
    this.firstLine.catch(() => {}); // a caller that has given up no longer listens
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  kill(): void {
    this.#child.kill('SIGKILL'); // also ends a process that SIGSTOP has stopped
  }

  release(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy(); // then the hub ignores SIGPIPE and drops its lines
    this.#child.unref();
  }
}

// Node reports some errors of a spawn by an event (ENOENT, EACCES) and throws the others: a program for another machine
// (ENOEXEC, EBADARCH on macOS), ENOTDIR, E2BIG.
function spawned(options: SpawnOptions): ChildProcess {
  try {
    return spawn(options.binary, options.args, {
      env: options.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: options.survive,
      windowsHide: true,
    });
  } catch (error) {
    throw failureOfSpawn(options, error);
  }
}

// Returns the first line of the standard output. It keeps reading after that, so that output that go-plugin does not
// catch cannot fill the pipe.
function firstLineOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    let found = false;
    child.stdout?.on('data', (chunk: Buffer) => {
      if (found) {
        return;
      }
      text += chunk.toString('latin1');
      const end = text.indexOf('\n');
      found = end >= 0 || text.length > maxFirstLine;
      if (found) {
        resolve(end >= 0 ? text.slice(0, end) : text.slice(0, maxFirstLine));
        text = '';
      }
    });
  });
}

function failureOfSpawn({ binary, cwd }: SpawnOptions, cause: unknown): HubError {
  const missing = ['ENOENT', 'ENOTDIR'].includes(codeOf(cause));
  if (missing && cwd !== undefined && !existsSync(cwd)) {
    // The system names the program for this, too.
    const text = `The working directory ${cwd} does not exist.`;
    return new HubError('not_found', 'DIRECTORY_NOT_FOUND', text, { cause });
  }
  const text = missing
    ? `${binary} was not found: install mcphub, or give the path of its binary.`
    : `${binary} could not be started (${cause instanceof Error ? cause.message : 'no reason given'}): check that it may be executed and was built for this machine.`;
  return new HubError(
    missing ? 'not_found' : 'failed_precondition',
    missing ? 'BINARY_NOT_FOUND' : 'BINARY_NOT_STARTED',
    text,
    { cause },
  );
}

function failureOfExit(binary: string, end: ProcessEnd, tail: LogTail): HubError {
  const last = tail.toString();
  return new HubError(
    'unavailable',
    'HUB_DIED',
    `${binary} ended before it could be reached (${describeEnd(end)}).${last === '' ? ' It wrote nothing; run it by hand to see why.' : last}`,
  );
}

/** Describes the end in words for people. */
export function describeEnd(end: ProcessEnd): string {
  if (end.signal !== null) {
    return `signal ${end.signal}`;
  }
  return end.code === null ? 'it is gone' : `exit status ${end.code}`;
}
