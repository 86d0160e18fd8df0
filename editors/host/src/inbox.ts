// What stands between events that come and a loop that takes them.

/**
 * A queue with one reader. It is not bounded by itself: whoever fills it looks at `size` and stops its source. What was
 * put in before the end is still read after it.
 */
export class Inbox<T> implements AsyncIterable<T> {
  #items: T[] = [];
  #head = 0;
  #over = false;
  #error: Error | undefined;
  #waiting: { resolve: (r: IteratorResult<T, undefined>) => void; reject: (e: Error) => void }[] = [];
  readonly #taken: () => void;

  /** `taken` is called after each item that leaves. */
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

  /** Only the first end counts. */
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

  /** Leaving a loop over it ends nothing: a second loop goes on where the first stopped. */
  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return { next: () => this.#next() };
  }

  #next(): Promise<IteratorResult<T, undefined>> {
    if (this.size > 0) {
      const value = this.#items[this.#head] as T; // size says that it is there
      this.#head++;
      if (this.#head > 64 && this.#head * 2 > this.#items.length) {
        this.#items = this.#items.slice(this.#head); // amortised: no shift of a long array for each item
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

  // The error is told once; a loop that asks again hears the end.
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
