// Subscriptions to resources. Several callers may watch one resource: the hub is told of the first and of the last.
import { asHubError } from '../failure.js';
import type { Hub } from '../hub.js';

interface Watched {
  readonly server: string;
  readonly uri: string;
  watchers: number;
}

export class Subscriptions {
  readonly #hub: () => Hub;
  readonly #watched = new Map<string, Watched>();

  constructor(hub: () => Hub) {
    this.#hub = hub;
  }

  /** Rejects, and watches nothing, if the hub refuses. The returned function ends the watching once. */
  async watch(server: string, uri: string): Promise<() => void> {
    const key = JSON.stringify([server, uri]);
    const watched = this.#watched.get(key) ?? { server, uri, watchers: 0 };
    watched.watchers++;
    this.#watched.set(key, watched);
    let over = false;
    const end = (): void => {
      if (over) {
        return;
      }
      over = true;
      if (--watched.watchers === 0) {
        this.#watched.delete(key);
        // If the hub is gone, so is the subscription.
        void this.#hub()
          .servers.unsubscribeResource({ server, uri })
          .catch(() => undefined);
      }
    };
    try {
      await this.#hub().servers.subscribeResource({ server, uri });
    } catch (error) {
      end();
      throw asHubError(error);
    }
    return end;
  }

  /** Subscribes anew, since a hub that was started anew knows of none. */
  renew(): void {
    for (const { server, uri } of this.#watched.values()) {
      void this.#hub()
        .servers.subscribeResource({ server, uri })
        .catch(() => undefined); // the server tells of nothing then, as one that has gone
    }
  }
}
