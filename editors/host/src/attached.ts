// One stream of a page to the hub, and what the page was not answered on it.
import type { Prompt, PromptAnswer } from './gen/mcphub/v1/prompt_pb.js';
import type { HubStream } from './stream.js';

export interface Unanswered {
  readonly ofPage: boolean; // ids that the page has not chosen are answered to nobody
  readonly answer?: PromptAnswer;
  readonly prompt?: Prompt | undefined;
}

export interface Attached {
  readonly stream: HubStream;
  readonly said: string;
  welcomed: boolean;
  readonly unanswered: Map<string, Unanswered>;
}
