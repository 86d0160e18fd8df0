// How long to wait before a hub that died is started anew, and when to stop trying.

export interface PatienceOptions {
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  /** The maximum number of attempts in a row. */
  readonly maxAttempts?: number;
}

/** A hub that lived for this long resets the number of attempts. */
const forgivenAfterMs = 60_000;

export class Patience {
  readonly #first: number;
  readonly #max: number;
  readonly #attempts: number;
  #spent = 0;

  constructor(options: PatienceOptions = {}) {
    this.#first = options.firstDelayMs ?? 500;
    this.#max = options.maxDelayMs ?? 30_000;
    this.#attempts = options.maxAttempts ?? 5;
  }

  /** Is called when a hub has ended that lived for ms milliseconds. */
  lived(ms: number): void {
    if (ms >= forgivenAfterMs) {
      this.#spent = 0;
    }
  }

  /** Returns the delay in milliseconds before the next attempt, or undefined if there is none. */
  next(): number | undefined {
    if (this.#spent >= this.#attempts) {
      return undefined;
    }
    const delay = Math.min(this.#max, this.#first * 2 ** this.#spent);
    this.#spent++;
    return delay;
  }
}
