// Tests that may be repeated once, alone, when they fail: those that docs/contributing/repeated.md names. Every other
// failure counts at once. The list only shrinks, and no test of a cancel or of an approval is on it.
import { readFileSync } from 'node:fs';

const page = new URL('../docs/contributing/repeated.md', import.meta.url);
const most = 10;
const never = /cancel|stop|withdr|approv|allow|deny|denied|decline|dismiss/i;

/**
 * Returns the names of the list: what stands in backquotes in its lines that begin with "- ".
 *
 * @param {string} text
 */
export function namesOf(text) {
  const names = text.split('\n').flatMap((line) => /^- `([^`]+)`/.exec(line)?.[1] ?? []);
  if (names.length > most) throw new Error(`${names.length} tests may be repeated, at most ${most}`);
  const wrong = names.find((name) => never.test(name));
  if (wrong !== undefined) throw new Error(`a test of a cancel or of an approval is never repeated: ${wrong}`);
  return names;
}

/** The tests of one run that may be repeated. */
export class Repeated {
  /** @type {{name: string, run: () => Promise<void>} | undefined} */
  #failed;

  /**
   * @param {readonly string[]} names without them, those of the list
   * @param {(line: string) => void} say tells people what is repeated
   */
  constructor(names = namesOf(readFileSync(page, 'utf8')), say = console.log) {
    this.names = names;
    this.say = say;
  }

  /**
   * Runs a test. The failure of one that may be repeated is kept for repeat, and is none so far; of a second one it is
   * a failure.
   *
   * @param {string} name as it stands in the list
   * @param {() => Promise<void>} run
   */
  async attempt(name, run) {
    try {
      await run();
    } catch (error) {
      if (this.#failed !== undefined || !this.names.includes(name)) throw error;
      this.#failed = { name, run };
      this.say(`failed, and will be repeated alone: ${name}: ${String(error)}`);
    }
  }

  /** Runs what has failed again, alone: it is called when all tests are over. Its verdict counts. */
  async repeat() {
    if (this.#failed === undefined) return;
    this.say(`repeated: ${this.#failed.name}`);
    await this.#failed.run();
  }
}
