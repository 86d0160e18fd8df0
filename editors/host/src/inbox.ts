// A queue between events and the loop that reads them.

/**
 * A queue with one reader. The queue itself has no bound: the writer looks at `size` and pauses its source. Items that
 * were added before the end are still read after it.
 */
export class Inbox<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #head = 0;
  #over = false;
  #error: Error | undefined;
  #waiting: { resolve: (r: IteratorResult<T, undefined>) => void; reject: (e: Error) => void }[] = [];
  readonly #taken: () => void;

  /**
   * `taken` is called after each item that is read from the queue. An item that goes straight to a waiting reader is
   * not counted.
   */
  constructor(taken: () => void = () => {}) {
    this.#taken = taken;
  }

  get size(): number {
    return this.#items.length - this.#head;
  }

  get over(): boolean {
    return this.#over;
  }

  push(item: T): void {
    if (this.#over) {
      return;
    }
    const reader = this.#waiting.shift();
    if (reader !== undefined) {
      reader.resolve({ done: false, value: item });
      return;
    }
    this.#items.push(item);
  }

  /** Ends the queue. Only the first call counts. */
  end(error?: Error): void {
    if (this.#over) {
      return;
    }
    this.#over = true;
    this.#error = error;
    for (const reader of this.#waiting.splice(0)) {
      this.#tellEnd(reader.resolve, reader.reject);
    }
  }

  /** Leaving a loop does not end the queue: a second loop continues where the first one stopped. */
  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return { next: () => this.#next() };
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    if (this.size > 0) {
      const value = this.#items[this.#head] as T; // size is above 0, so the item exists
      this.#head++;
      if (this.#head > 64 && this.#head * 2 > this.#items.length) {
        this.#items = this.#items.slice(this.#head); // amortised: the long array is not shifted for each item
        this.#head = 0;
      }
      this.#taken();
      return Promise.resolve({ done: false, value });
    }
    return new Promise((resolve, reject) => {
      if (this.#over) {
        this.#tellEnd(resolve, reject);
      } else {
        this.#waiting.push({ resolve, reject });
      }
    });
  }

  // The error is thrown once. A loop that reads again gets the normal end.
  #tellEnd(resolve: (r: IteratorResult<T, undefined>) => void, reject: (e: Error) => void): void {
    const error = this.#error;
    this.#error = undefined;
    if (error === undefined) {
      resolve({ done: true, value: undefined });
    } else {
      reject(error);
    }
  }
}
