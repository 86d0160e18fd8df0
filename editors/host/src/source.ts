// What a window or a relay needs of the hub: its state, and streams. Tests put something else in its place.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HelloSchema } from './gen/mcphub/v1/editor_pb.js';
import type { HubError } from './failure.js';
import type { HubState, ResponseListener, StateListener } from './hubstate.js';
import type { HubStream } from './stream.js';

export interface StreamSource {
  readonly state: HubState;
  readonly message: string;
  readonly failure: HubError | undefined;
  /** False: the hub is there, and does not answer. */
  readonly responsive: boolean;
  onState(listener: StateListener): () => void;
  onResponsive(listener: ResponseListener): () => void;
  attach(hello: MessageInitShape<typeof HelloSchema>): HubStream;
}

/** Waits until the state is one of those that are wanted; undefined when the signal came first. */
export function becomes(
  source: StreamSource,
  wanted: (state: HubState) => boolean,
  signal: AbortSignal,
): Promise<HubState | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted || wanted(source.state)) {
      resolve(signal.aborted ? undefined : source.state);
      return;
    }
    const done = (state: HubState | undefined): void => {
      stop();
      signal.removeEventListener('abort', aborted);
      resolve(state);
    };
    const aborted = (): void => done(undefined);
    const stop = source.onState((state) => {
      if (wanted(state)) {
        done(state);
      }
    });
    signal.addEventListener('abort', aborted, { once: true });
  });
}
