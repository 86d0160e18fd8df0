// Whether a hub that is there answers. A process that hangs or was stopped keeps its connection, so silence alone tells.
//
// A small question goes to the hub while nothing else happens, and at once when something is sent. Whatever comes from
// the hub counts as an answer. Only a question that is open for too long, in a process that was awake for all of it,
// makes the hub unresponsive.

export interface PulseOptions {
  /** Asks the hub something small. It may reject: that a hub is gone is not for this class to tell. */
  readonly ask: () => Promise<unknown>;
  /** Hears of each change; a hub is taken to answer in the beginning. */
  readonly changed: (responsive: boolean) => void;
  /** How long the hub may be silent while it was asked. */
  readonly limitMs: number;
  /** A clock in milliseconds that never jumps. Default: performance.now. */
  readonly now?: () => number;
}

/** Between two questions while nothing is sent. */
const idleMs = 5000;
/** Between two questions while much is sent. */
const busyMs = 1000;
/** A timer that fires so much too late says that this process has slept or was busy, which is no fault of the hub. */
const lateMs = 500;

export class Pulse {
  readonly #options: PulseOptions;
  readonly #now: () => number;
  #asking = false;
  #askedAt: number; // or told of itself: whoever makes this has just been answered
  #soon = false; // the next question is due in less than a second
  #heard = false; // since the limit began to run
  #responsive = true;
  #ended = false;
  #timer: NodeJS.Timeout | undefined; // the next question, or the limit of the one that is open

  constructor(options: PulseOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#askedAt = this.#now();
    this.#wait(idleMs, () => this.#ask());
  }

  get responsive(): boolean {
    return this.#responsive;
  }

  /** Something was sent to the hub. */
  sent(): void {
    if (this.#asking || this.#soon) {
      return;
    }
    const left = this.#askedAt + busyMs - this.#now();
    if (left <= 0) {
      this.#ask();
    } else {
      this.#soon = true;
      this.#wait(left, () => this.#ask());
    }
  }

  /** Something has come from the hub. */
  heard(): void {
    this.#heard = true;
    if (!this.#responsive) {
      this.#become(true);
      if (this.#asking) {
        this.#limit();
      }
    }
  }

  /** Nothing is asked or told any more. */
  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #ask(): void {
    if (this.#ended) {
      return;
    }
    this.#soon = false;
    this.#asking = true;
    this.#askedAt = this.#now();
    const over = (): void => {
      this.#asking = false;
      this.#wait(idleMs, () => this.#ask());
    };
    this.#options.ask().then(() => {
      over();
      this.heard();
    }, over);
    this.#limit();
  }

  #limit(): void {
    this.#heard = false;
    const due = this.#now() + this.#options.limitMs;
    this.#wait(this.#options.limitMs, () => {
      if (this.#heard || this.#now() > due + lateMs) {
        this.#limit();
      } else {
        this.#become(false);
      }
    });
  }

  #wait(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    if (!this.#ended) {
      this.#timer = setTimeout(then, ms).unref();
    }
  }

  #become(responsive: boolean): void {
    if (!this.#ended && responsive !== this.#responsive) {
      this.#responsive = responsive;
      this.#options.changed(responsive);
    }
  }
}
