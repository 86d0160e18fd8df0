import { existsSync, readFileSync } from 'node:fs';
import { until } from './until.mjs';
import { readJson } from './readjson.mjs';

/**
 * One line of the demo server's journal: it says what reached the server, not what the editor says it has sent.
 *
 * @typedef {{time: string, event: string, tool?: string, id?: unknown, reason?: string, detail?: string}} JournalEvent
 */

/** The journal of the demo servers of one workspace folder. */
export class Journal {
  /** @param {string} file */
  constructor(file) {
    this.file = file;
  }

  /** @returns {JournalEvent[]} */
  read() {
    if (!existsSync(this.file)) return [];
    // The last line may still be being written, so a line counts only when its line feed is there.
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
   * @param {{count?: number}} [options]
   */
  async has(like, { count = 1 } = {}) {
    await until(`${count} × ${JSON.stringify(like)} in the server's journal`, () => this.all(like).length >= count);
    return this.all(like);
  }
}
