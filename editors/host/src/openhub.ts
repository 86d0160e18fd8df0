// Opens a hub: one that an earlier process has left behind, or a new one.
import { installedBinary } from './binary.js';
import { selfSigned } from './certificate.js';
import { HubError, asHubError } from './failure.js';
import { hubEnvironment, parseHandshake, protocolVersion } from './handshake.js';
import { claim, keep, targetOf } from './keep.js';
import type { KeepRecord } from './keep.js';
import { LiveHub } from './livehub.js';
import { AdoptedProcess } from './liveness.js';
import type { HubLog } from './logs.js';
import { SpawnedProcess } from './process.js';
import { makeSocketDirectory, removeSocketDirectory } from './socketdir.js';
import type { Target } from './transport.js';

/** The values that are needed to open a hub. */
export interface OpenOptions {
  /** undefined: the program of the installed package. */
  readonly binary: string | undefined;
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string | undefined;
  readonly tls: boolean;
  readonly startTimeoutMs: number;
  readonly keep:
    | { readonly directory: string; readonly key: string; readonly graceMs: number; readonly departureMs?: number }
    | undefined;
  readonly answerTimeoutMs: number;
  readonly onLog: (line: HubLog) => void;
}

/**
 * How long a hub that was left behind has for its first answer. Its process is alive, and a connection to a socket
 * without a listener is refused at once. So this limit matters only for a hub that hangs, and for a machine that is
 * busy with the start of an editor. If it were too short, everything that runs in the hub would be lost.
 */
const adoptTimeoutMs = 15_000;

/**
 * Opens a hub. `first` is true if no hub of this host has been ready yet. Rejects with a HubError; then it leaves
 * neither a process nor a directory behind.
 */
export async function openHub(options: OpenOptions, first: boolean, signal: AbortSignal): Promise<LiveHub> {
  return (await adopted(options, first, signal)) ?? spawned(options, signal);
}

async function adopted(options: OpenOptions, first: boolean, signal: AbortSignal): Promise<LiveHub | undefined> {
  if (options.keep === undefined) {
    return undefined;
  }
  const { directory, key, departureMs = 0 } = options.keep;
  for (;;) {
    const file = await claim(directory, key, first ? departureMs : 0, signal).catch(() => undefined);
    if (file === undefined) {
      return undefined;
    }
    const process = new AdoptedProcess(file.record.hubPid);
    const hub = new LiveHub({
      process,
      target: targetOf(file.record),
      socketDirectory: file.record.socketDirectory,
      broken: () => process.suspect(),
      answerTimeoutMs: options.answerTimeoutMs,
      onLog: options.onLog,
    });
    try {
      await hub.greet(adoptTimeoutMs, signal);
      hub.kept = file;
      return hub;
    } catch (error) {
      hub.release();
      if (signal.aborted) {
        await file.leave().catch(() => {}); // this host gave up, but the hub may be in order
        throw reasonOf(signal, error);
      }
      // The process with this pid does not answer. If it is a hub, it ends by itself.
      await file.remove().catch(() => {});
    }
  }
}

async function spawned(options: OpenOptions, signal: AbortSignal): Promise<LiveHub> {
  const binary = options.binary ?? installedBinary();
  const timeout = new AbortController();
  const timer = setTimeout(
    () =>
      timeout.abort(
        new HubError(
          'deadline_exceeded',
          'HANDSHAKE_TIMEOUT',
          `${binary} did not answer within ${options.startTimeoutMs} ms: look at what keeps it, or raise startTimeoutMs.`,
        ),
      ),
    options.startTimeoutMs,
  );
  const over = AbortSignal.any([signal, timeout.signal]);
  const client = options.tls ? selfSigned() : undefined;
  const socketDirectory = await makeSocketDirectory().catch((error: unknown) => {
    clearTimeout(timer);
    throw new HubError(
      'failed_precondition',
      'BINARY_NOT_STARTED',
      `There is no directory for the hub's socket (${asHubError(error).message}): make room for temporary files.`,
    );
  });
  let process: SpawnedProcess | undefined;
  let hub: LiveHub | undefined;
  try {
    over.throwIfAborted();
    process = new SpawnedProcess({
      ...options,
      binary,
      env: hubEnvironment(globalThis.process.env, options.env, {
        socketDirectory,
        clientCert: client?.cert,
        returnGraceMs: options.keep?.graceMs,
        program: options.program,
      }),
      survive: options.keep !== undefined,
    });
    const handshake = parseHandshake(await unless(over, process.firstLine), options.tls);
    const target: Target = {
      network: handshake.network,
      address: handshake.address,
      tls:
        handshake.serverCert === undefined || client === undefined
          ? undefined
          : { serverCert: handshake.serverCert, client },
    };
    const { answerTimeoutMs, onLog } = options;
    hub = new LiveHub({ process, target, socketDirectory, broken: () => {}, answerTimeoutMs, onLog });
    await hub.greet(options.startTimeoutMs, over);
    if (options.keep !== undefined) {
      hub.kept = await keep(
        options.keep.directory,
        recordOf(options.keep.key, process.pid ?? 0, target, socketDirectory),
      );
    }
    return hub;
  } catch (error) {
    const failure = over.aborted ? reasonOf(over, error) : asHubError(error);
    const explained = (await hub?.explain(failure)) ?? failure;
    if (hub !== undefined) {
      await hub.discard();
    } else {
      process?.kill();
      await process?.ended;
      process?.release();
      await removeSocketDirectory(socketDirectory);
    }
    throw explained;
  } finally {
    clearTimeout(timer);
  }
}

function recordOf(key: string, hubPid: number, target: Target, socketDirectory: string): KeepRecord {
  return {
    key,
    hubPid,
    hostPid: process.pid,
    network: target.network,
    target: target.address,
    socketDirectory,
    protocolVersion,
    serverCert: target.tls?.serverCert ?? '',
    clientCert: target.tls?.client.cert ?? '',
    clientKey: target.tls?.client.key ?? '',
  };
}

function unless<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(reasonOf(signal, undefined));
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

function reasonOf(signal: AbortSignal, fallback: unknown): HubError {
  const reason: unknown = signal.reason;
  return reason instanceof HubError ? reason : asHubError(fallback ?? reason);
}
