// Waits until a window shows what was told over another connection.
import { asHubError } from '../failure.js';
import type { ConfigProblem, Server } from '../gen/mcphub/v1/server_pb.js';
import type { WatcherWindow } from './watcherwindow.js';

/**
 * Resolves when the window shows these servers, each in its incarnation, or when the config has been read since.
 * Rejects with the reason of the signal, and with the error that ends the window.
 */
export function untilShown(
  watcher: WatcherWindow,
  servers: readonly Pick<Server, 'name' | 'incarnation'>[],
  signal: AbortSignal,
): Promise<void> {
  const wanted = new Map(servers.map(({ name, incarnation }) => [name, incarnation]));
  return until(
    watcher,
    (event) => {
      const { known, servers: there } = watcher.standing;
      return (
        known
        && (event === 'configReloaded'
          || event === 'snapshot'
          || (there.size === wanted.size
            && [...there].every(([name, { incarnation }]) => wanted.get(name) === incarnation)))
      );
    },
    signal,
  );
}

/**
 * Asks for a reading of the config, and resolves with what it has found when the window shows that: all that changes is
 * told before the problems. Servers alone would not do, as they may be as they were, and are told first.
 */
export async function readAndShown<T extends { readonly problems: readonly ConfigProblem[] }>(
  watcher: WatcherWindow,
  read: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let snapshot = false;
  const told = new Set<string>(); // the problems of each reading since, which may be another one
  const stop = watcher.listen({
    event: ({ event }) => {
      snapshot ||= event.case === 'snapshot';
      if (event.case === 'configReloaded') {
        told.add(spelled(event.value.problems));
      }
    },
  });
  try {
    const found = await read();
    const wanted = spelled(found.problems.filter(({ server }) => server === ''));
    await until(watcher, () => snapshot || told.has(wanted), signal);
    return found;
  } finally {
    stop();
  }
}

function spelled(problems: readonly ConfigProblem[]): string {
  return JSON.stringify(problems.map(({ file, line, column, key, message }) => [file, line, column, key, message]));
}

/** Resolves when something holds, which is asked now, and at each event of the window with its name. */
export function until(watcher: WatcherWindow, holds: (event: string) => boolean, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (how: () => void): void => {
      stop();
      signal.removeEventListener('abort', aborted);
      how();
    };
    const aborted = (): void => end(() => reject(asHubError(signal.reason)));
    const stop = watcher.listen({
      event: ({ event }) => {
        if (holds(event.case ?? '')) {
          end(resolve);
        }
      },
      ended: (error) => end(() => reject(error)),
    });
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) {
      aborted();
    } else if (watcher.failure !== undefined) {
      const { failure } = watcher;
      end(() => reject(failure));
    } else if (holds('')) {
      end(resolve);
    }
  });
}
