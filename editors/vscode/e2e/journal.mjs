import { existsSync, readFileSync } from 'node:fs';
import { until } from './until.mjs';
import { readJson } from './readjson.mjs';

/**
 * One line of what the demo server writes down: what reached the server, and not what the editor says that it has sent.
 *
 * @typedef {{time: string, event: string, tool?: string, id?: unknown, reason?: string, detail?: string}} JournalEvent
 */

/** The journal of the demo servers of one folder. */
export class Journal {
  /** @param {string} file */
  constructor(file) {
    this.file = file;
  }

  /** @returns {JournalEvent[]} */
  read() {
    if (!existsSync(this.file)) return [];
    // A line is written by one append, but the last one may be in the writing: it counts from its line feed on.
    return readFileSync(this.file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => /** @type {JournalEvent} */ (readJson(line)));
  }

  /**
   * @param {Partial<JournalEvent>} like
   * @returns {JournalEvent[]}
   */
  all(like) {
    const wanted = Object.entries(like);
    return this.read().filter((event) =>
      wanted.every(([key, value]) => event[/** @type {keyof JournalEvent} */ (key)] === value),
    );
  }

  /**
   * Waits for the nth event of this kind.
   *
   * @param {Partial<JournalEvent>} like
   * @param {{count?: number, timeout?: number, interval?: number}} [options]
   */
  async has(like, { count = 1, ...options } = {}) {
    await until(
      `${count} × ${JSON.stringify(like)} in the server's journal`,
      () => this.all(like).length >= count,
      options,
    );
    return this.all(like);
  }
}
