// What the host does with a page's answer on its way to the hub and after the hub has taken it, and the answers that
// need nobody.
import { HubError } from '@mcphub/host';
import type { Prompt, PromptAnswer } from '@mcphub/host';
import { describe } from '../hub/hubprocess.js';
import type { Output } from '../log/output.js';
import type { Sampling } from './sampling.js';
import { nameOf, type Secrets } from './secrets.js';
import { openOutside } from './urls.js';
import type { WatcherWindow } from '../hub/watcherwindow.js';

export class Answers {
  readonly #watcher: WatcherWindow;
  readonly #secrets: Secrets;
  readonly #sampling: Sampling;
  readonly #output: Output;
  readonly #looking = new Set<string>(); // prompt ids whose value is looked for right now

  constructor(watcher: WatcherWindow, secrets: Secrets, sampling: Sampling, output: Output) {
    this.#watcher = watcher;
    this.#secrets = secrets;
    this.#sampling = sampling;
    this.#output = output;
  }

  /**
   * The answer that the hub gets instead. Rejects with what the window that answered is told; the prompt stays open
   * then.
   */
  async prepare(answer: PromptAnswer, prompt: Prompt | undefined): Promise<PromptAnswer> {
    if (answer.action.case !== 'accept' || prompt === undefined) {
      return answer;
    }
    const accept = answer.action.value;
    if (prompt.question.case === 'sampling' && accept.contentJson === '') {
      const contentJson = await this.#sampling.run(prompt, accept.requestJson);
      return { ...answer, action: { case: 'accept', value: { ...accept, contentJson, requestJson: '' } } };
    }
    if (prompt.question.case === 'configInput') {
      return { ...answer, action: { case: 'accept', value: { ...accept, keptByHost: true } } };
    }
    return answer;
  }

  /** The hub has taken it. Only now a page is opened, a value kept: a lost or refused answer has no effect. */
  taken(answer: PromptAnswer, prompt: Prompt): void {
    if (answer.action.case !== 'accept') {
      return;
    }
    const asked = prompt.question;
    if ((asked.case === 'elicitationUrl' || asked.case === 'signIn') && !asked.value.waiting) {
      this.#inBackground(openOutside(asked.value.url));
    }
    if (asked.case === 'configInput') {
      this.#inBackground(this.#secrets.keep(asked.value, answer.action.value.contentJson));
    }
  }

  /** Whether the prompt is about to be answered with a value that is kept: nobody is to be bothered until then. */
  looksFor(prompt: Prompt): boolean {
    return this.#looking.has(prompt.promptId);
  }

  /**
   * Answers the question for a config input with the value that is kept, if there is one. `settled` is called when it
   * is known whether a person is needed.
   */
  lookFor(prompt: Prompt, settled: () => void): void {
    if (prompt.question.case !== 'configInput' || this.#looking.has(prompt.promptId)) {
      return;
    }
    this.#looking.add(prompt.promptId);
    const input = prompt.question.value;
    this.#inBackground(
      (async () => {
        const contentJson = await this.#secrets.find(input);
        if (contentJson === undefined) {
          return;
        }
        try {
          await this.#watcher.answer({
            promptId: prompt.promptId,
            action: { case: 'accept', value: { contentJson, keptByHost: true } },
          });
        } catch (error) {
          if (error instanceof HubError && error.reason === 'INVALID_CONTENT') {
            await this.#secrets.forget(nameOf(input)); // the file wants another kind of value now: a person is asked
            return;
          }
          throw error;
        }
      })().finally(() => {
        this.#looking.delete(prompt.promptId);
        settled();
      }),
    );
  }

  #inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#output.hub.warn(`A step around an answer failed: ${describe(error)}`));
  }
}
