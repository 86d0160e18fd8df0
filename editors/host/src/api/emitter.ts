// Events of the API. A listener that throws disturbs no other.
import type { McpEvent } from './mcphub.js';

export class Emitter<T> {
  readonly #listeners = new Set<{ readonly listener: (event: T) => unknown }>();
  readonly #failed: (error: unknown) => void;

  /** `failed` is called for listeners that throw. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** One function that is registered twice is called twice, until both are disposed of. */
  readonly event: McpEvent<T> = (listener) => {
    const entry = { listener };
    this.#listeners.add(entry);
    return { dispose: () => void this.#listeners.delete(entry) };
  };

  fire(event: T): void {
    for (const { listener } of [...this.#listeners]) {
      try {
        listener(event);
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  /** Forgets all listeners. */
  dispose(): void {
    this.#listeners.clear();
  }
}
