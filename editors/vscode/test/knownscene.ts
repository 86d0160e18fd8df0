// What is known, for the tests of what shows it: the messages of a hub change it, as in the editor.
import { create } from '@bufbuild/protobuf';
import { AttachResponseSchema, SnapshotSchema } from '@mcphub/host/contract';
import type { AttachResponse, WatcherListener } from '@mcphub/host/contract';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Known } from '../src/hub/known.js';

type Event = NonNullable<MessageInitShape<typeof AttachResponseSchema>['event']>;

export class KnownScene {
  readonly known: Known;
  #listener: WatcherListener = {};

  constructor() {
    this.known = new Known({
      listen: (listener) => {
        this.#listener = listener;
        return () => undefined;
      },
    });
  }

  say(event: Event, seconds = 0n): AttachResponse {
    const message = create(AttachResponseSchema, { time: { seconds }, event });
    this.#listener.read?.(message);
    return message;
  }

  snapshot(parts: MessageInitShape<typeof SnapshotSchema>): void {
    this.say({ case: 'welcome', value: { hubId: 'h' } });
    this.say({ case: 'snapshot', value: parts });
  }
}
