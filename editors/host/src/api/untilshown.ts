// Waits until a window shows what was told over another connection.
import { asHubError } from '../failure.js';
import type { AttachResponse } from '../gen/mcphub/v1/editor_pb.js';
import type { Server } from '../gen/mcphub/v1/server_pb.js';
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
        && (event?.case === 'configReloaded'
          || event?.case === 'snapshot'
          || (there.size === wanted.size
            && [...there].every(([name, { incarnation }]) => wanted.get(name) === incarnation)))
      );
    },
    signal,
  );
}

/**
 * Has the hub read its config by `read`, and resolves to what that resolves to when the window shows what was read. The
 * hub tells its windows of each reading, on another connection than it answers `read`: so the reading before this one
 * must have been waited for as well, or what is told of it would be taken for this one.
 */
export async function readAndShown<Answer>(
  watcher: WatcherWindow,
  read: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer> {
  const refused = new AbortController();
  const asked = (event?: AttachResponse['event']): boolean =>
    event?.case === 'snapshot' || (event?.case === 'configReloaded' && event.value.changedFile === '');
  const shown = until(watcher, asked, AbortSignal.any([signal, refused.signal]));
  const answer = read().catch((error: unknown) => {
    refused.abort(error);
    throw error;
  });
  const [answered] = await Promise.all([answer, shown]);
  return answered;
}

/** Resolves when something holds, which is asked now, and at each event of the window. */
export function until(
  watcher: WatcherWindow,
  holds: (event?: AttachResponse['event']) => boolean,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (how: () => void): void => {
      stop();
      signal.removeEventListener('abort', aborted);
      how();
    };
    const aborted = (): void => end(() => reject(asHubError(signal.reason)));
    const stop = watcher.listen({
      event: ({ event }) => {
        if (holds(event)) {
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
    } else if (holds()) {
      end(resolve);
    }
  });
}
