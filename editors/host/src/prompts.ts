// The open prompts of one stream.
import type { AttachResponse } from './gen/mcphub/v1/editor_pb.js';
import type { Prompt } from './gen/mcphub/v1/prompt_pb.js';

export class OpenPrompts {
  #open = new Map<string, Prompt>();

  get(promptId: string): Prompt | undefined {
    return this.#open.get(promptId);
  }

  /** Forgets all prompts. Their ids do not exist in another hub. */
  forget(): void {
    this.#open.clear();
  }

  see({ event }: AttachResponse): void {
    if (event.case === 'snapshot') {
      this.#open = new Map(event.value.prompts.map((prompt) => [prompt.promptId, prompt]));
    } else if (event.case === 'promptOpened' && event.value.prompt !== undefined) {
      this.#open.set(event.value.prompt.promptId, event.value.prompt);
    } else if (event.case === 'promptClosed') {
      this.#open.delete(event.value.promptId);
    }
  }
}
