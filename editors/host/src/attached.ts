// One stream of a page to the hub, and the messages of the page on it that have no reply yet.
import type { Prompt, PromptAnswer } from './gen/mcphub/v1/prompt_pb.js';
import type { HubStream } from './stream.js';

export interface Unanswered {
  readonly ofPage: boolean; // false: the relay chose the id, so the page gets no reply
  readonly answer?: PromptAnswer;
  readonly prompt?: Prompt | undefined;
}

export interface Attached {
  readonly stream: HubStream;
  readonly said: string;
  welcomed: boolean;
  readonly unanswered: Map<string, Unanswered>;
}
