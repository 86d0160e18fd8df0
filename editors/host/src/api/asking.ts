// Asks the host's handlers what the hub asks, and sends their answers. A question that is over is taken back from its
// handler, and no answer to it is sent.
import { HubError, asHubError } from '../failure.js';
import { PromptKind } from '../gen/mcphub/v1/prompt_pb.js';
import type { Prompt } from '../gen/mcphub/v1/prompt_pb.js';
import type { QuestionHandlers } from './question.js';
import { askOf, common, overBecause, type Action, type Ask } from './shownquestions.js';
import type { PromptEnd } from '../standing.js';
import type { WatcherWindow } from './watcherwindow.js';

/** Returns the kinds of prompts for which there is a handler. */
export function kindsOf(handlers: QuestionHandlers): PromptKind[] {
  const kinds = {
    approval: PromptKind.TOOL_APPROVAL,
    launch: PromptKind.SERVER_LAUNCH,
    form: PromptKind.ELICITATION_FORM,
    url: PromptKind.ELICITATION_URL,
    sampling: PromptKind.SAMPLING,
    signIn: PromptKind.SIGN_IN,
    input: PromptKind.CONFIG_INPUT,
  } as const;
  return (Object.keys(kinds) as (keyof typeof kinds)[])
    .filter((name) => handlers[name] !== undefined)
    .map((name) => kinds[name]);
}

/** One open question. */
interface Open {
  readonly prompt: Prompt;
  readonly ask: Ask;
  readonly over: AbortController;
  /** The answer that was given and that the hub has not taken yet. */
  answer: Action | undefined;
  refusedJson: string | undefined; // the last answer that the hub has refused
}

export class Asking {
  readonly #watcher: WatcherWindow;
  readonly #handlers: QuestionHandlers;
  readonly #report: (error: HubError) => void;
  readonly #open = new Map<string, Open>();
  readonly #stop: () => void;

  constructor(watcher: WatcherWindow, handlers: QuestionHandlers, report: (error: HubError) => void) {
    this.#watcher = watcher;
    this.#handlers = handlers;
    this.#report = report;
    this.#stop = watcher.listen({
      changed: ({ opened = [], closed = [] }) => {
        closed.forEach((one) => this.#closed(one));
        opened.forEach((prompt) => this.#opened(prompt));
      },
      event: ({ event }) => {
        if (event.case === 'snapshot') {
          this.#sendAgain();
        }
      },
    });
  }

  /** Takes all questions back. */
  dispose(): void {
    this.#stop();
    for (const { over } of this.#open.values()) {
      over.abort(new HubError('cancelled', 'SHUTDOWN', 'The host has closed the hub.'));
    }
    this.#open.clear();
  }

  #opened(prompt: Prompt): void {
    const ask = askOf(prompt, this.#handlers);
    if (ask !== undefined) {
      const open = { prompt, ask, over: new AbortController(), answer: undefined, refusedJson: undefined };
      this.#open.set(prompt.promptId, open);
      void this.#ask(open, undefined);
    }
  }

  #closed({ prompt, end }: PromptEnd): void {
    const open = this.#open.get(prompt.promptId);
    this.#open.delete(prompt.promptId);
    // The handler that has given the answer is done.
    if (open !== undefined && (end === undefined || end.windowId !== this.#watcher.windowId)) {
      open.over.abort(overBecause(end));
    }
  }

  #isOpen(open: Open): boolean {
    return this.#open.get(open.prompt.promptId) === open;
  }

  /** Never rejects. */
  async #ask(open: Open, refused: HubError | undefined): Promise<void> {
    let answer: Action | undefined;
    try {
      answer = await open.ask(common(open.prompt, open.over.signal, refused));
    } catch (error) {
      if (this.#isOpen(open)) {
        this.#report(asHubError(error));
        answer = dismissal; // whoever waits for the answer must not wait for ever
      }
    }
    if (answer !== undefined && this.#isOpen(open)) {
      open.answer = answer;
      await this.#send(open, answer);
    }
  }

  async #send(open: Open, answer: Action): Promise<void> {
    const { promptId } = open.prompt;
    try {
      await this.#watcher.ask({ message: { case: 'answerPrompt', value: { promptId, ...answer } } });
      open.answer = undefined;
    } catch (error) {
      await this.#refused(open, answer, asHubError(error));
      return;
    }
    visit(open.prompt, answer, this.#handlers.openUrl, this.#report);
  }

  async #refused(open: Open, answer: Action, error: HubError): Promise<void> {
    if (!this.#isOpen(open) || error.reason === 'PROMPT_CLOSED') {
      return; // it is over, and the event says why
    }
    if (error.code === 'unavailable') {
      return; // the stream broke: if the question is still open when it is back, the answer is sent again
    }
    open.answer = undefined;
    const json = JSON.stringify(answer);
    if (error.code === 'invalid_argument' && answer !== dismissal && json !== open.refusedJson) {
      open.refusedJson = json;
      await this.#ask(open, error);
      return;
    }
    this.#report(error);
    if (answer !== dismissal) {
      open.answer = dismissal;
      await this.#send(open, dismissal);
    }
  }

  /** Sends the answers that were lost with a stream. */
  #sendAgain(): void {
    for (const open of this.#open.values()) {
      if (open.answer !== undefined) {
        void this.#send(open, open.answer);
      }
    }
  }
}

/** Opens the page that the user has agreed to visit. It is called once the hub has taken the answer, and not before. */
export function visit(
  { question }: Prompt,
  { action }: { readonly action?: { readonly case: string | undefined } },
  openUrl: QuestionHandlers['openUrl'],
  report: (error: HubError) => void,
): void {
  const named = question.case === 'elicitationUrl' || question.case === 'signIn';
  if (openUrl !== undefined && named && !question.value.waiting && action?.case === 'accept') {
    const { url } = question.value;
    void Promise.resolve()
      .then(() => openUrl(url))
      .catch((error: unknown) => report(asHubError(error)));
  }
}

const dismissal: Action = { action: { case: 'dismiss', value: {} } };
