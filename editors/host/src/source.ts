// The part of the hub that a window or a relay needs: its state and its streams. Tests use another implementation.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { HelloSchema } from './gen/mcphub/v1/editor_pb.js';
import type { HubError } from './failure.js';
import type { HubState, ResponseListener, StateListener } from './hubstate.js';
import type { HubStream } from './stream.js';

export interface StreamSource {
  readonly state: HubState;
  readonly message: string;
  readonly failure: HubError | undefined;
  /** False if the hub is running but does not answer. */
  readonly responsive: boolean;
  onState(listener: StateListener): () => void;
  onResponsive(listener: ResponseListener): () => void;
  attach(hello: MessageInitShape<typeof HelloSchema>): HubStream;
}

/** Waits until the state is a wanted one, and returns it; returns undefined if the signal aborts first. */
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
