// How long to wait before a hub that died is started anew, and when to stop trying.

export interface PatienceOptions {
  readonly firstDelayMs?: number;
  readonly maxDelayMs?: number;
  /** In a row. */
  readonly maxAttempts?: number;
}

/** This much life forgives all deaths before. */
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

  /** A hub has lived for so long. */
  lived(ms: number): void {
    if (ms >= forgivenAfterMs) {
      this.#spent = 0;
    }
  }

  /** The delay before the next attempt; undefined: no more. */
  next(): number | undefined {
    if (this.#spent >= this.#attempts) {
      return undefined;
    }
    const delay = Math.min(this.#max, this.#first * 2 ** this.#spent);
    this.#spent++;
    return delay;
  }
}
