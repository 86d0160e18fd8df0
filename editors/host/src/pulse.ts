// Whether a running hub answers. A process that hangs or was stopped by a signal keeps its connection open, so only its
// silence shows it.
//
// A small question is sent to the hub at intervals, and soon after something else is sent. Anything that comes from the
// hub counts as an answer. The hub becomes unresponsive only if a question stays open for too long while this process
// was awake the whole time.

export interface PulseOptions {
  /** Sends a small question to the hub. It may reject; another class notices that a hub has ended. */
  readonly ask: () => Promise<unknown>;
  /** Is called at each change. At first the hub counts as responsive. */
  readonly changed: (responsive: boolean) => void;
  /** How long the hub may leave a question unanswered. */
  readonly limitMs: number;
  /** A clock in milliseconds that never jumps. Default: performance.now. */
  readonly now?: () => number;
}

/** The interval between two questions while nothing is sent. */
const idleMs = 5000;
/** The interval between two questions while much is sent. */
const busyMs = 1000;
/**
 * A timer that fires later than this shows that this process slept or was busy. Then the silence is not the hub's
 * fault.
 */
const lateMs = 500;

export class Pulse {
  readonly #options: PulseOptions;
  readonly #now: () => number;
  #asking = false;
  #askedAt: number; // or when this object was made, directly after an answer of the hub
  #soon = false; // the next question is due in less than a second
  #heard = false; // something came since the limit began to run
  #responsive = true;
  #ended = false;
  #timer: NodeJS.Timeout | undefined; // for the next question, or for the limit of the open one

  constructor(options: PulseOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#askedAt = this.#now();
    this.#wait(idleMs, () => this.#ask());
  }

  get responsive(): boolean {
    return this.#responsive;
  }

  /** Is called when something was sent to the hub. */
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

  /** Is called when something has come from the hub. */
  heard(): void {
    this.#heard = true;
    if (!this.#responsive) {
      this.#become(true);
      if (this.#asking) {
        this.#limit();
      }
    }
  }

  /** Stops the questions and the reports. */
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
