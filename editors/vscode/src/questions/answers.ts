// Handles a page's answer before it is sent to the hub and after the hub has accepted it. It also gives the answers for
// which no person is needed.
import { HubError } from '@mcphub/host/contract';
import type { Prompt, PromptAnswer, WatcherWindow } from '@mcphub/host/contract';
import { describe } from '../hub/hubprocess.js';
import type { Output } from '../log/output.js';
import type { Sampling } from './sampling.js';
import { nameOf, type Secrets } from './secrets.js';
import { openOutside } from './urls.js';

export class Answers {
  readonly #watcher: WatcherWindow;
  readonly #secrets: Secrets;
  readonly #sampling: Sampling;
  readonly #output: Output;
  readonly #looking = new Set<string>(); // ids of prompts whose stored value is being looked up

  constructor(watcher: WatcherWindow, secrets: Secrets, sampling: Sampling, output: Output) {
    this.#watcher = watcher;
    this.#secrets = secrets;
    this.#sampling = sampling;
    this.#output = output;
  }

  /**
   * Returns the answer that is sent to the hub instead. If it rejects, the window that answered gets the error, and the
   * prompt stays open.
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

  /**
   * Is called when the hub has accepted the answer. Only now a URL is opened or a value stored, so that a lost or
   * refused answer has no effect.
   */
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

  /** Reports whether a stored value for the prompt is being looked up. Until that ends, no person should be asked. */
  looksFor(prompt: Prompt): boolean {
    return this.#looking.has(prompt.promptId);
  }

  /**
   * Answers the prompt for a config input with the stored value, if there is one. `settled` is called when it is known
   * whether a person is needed.
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
            await this.#secrets.forget(nameOf(input)); // the file now asks for another kind of value: a person is asked
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
