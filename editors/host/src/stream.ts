// One raw window stream. It does not come back: when it has ended, it stays ended.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { EditorService } from './gen/mcphub/v1/editor_pb.js';
import type { AttachRequestSchema, AttachResponse, HelloSchema } from './gen/mcphub/v1/editor_pb.js';
import { HubError, asHubError } from './failure.js';
import { Inbox } from './inbox.js';
import type { LiveHub } from './livehub.js';
import type { Duplex } from './transport.js';

/**
 * An open stream. Reading it returns the hub's messages, and throws the HubError that ended the stream. Leaving the
 * loop does not end the stream.
 */
export interface HubStream extends AsyncIterable<AttachResponse, undefined> {
  /** Sends a message. Throws a HubError (unavailable) if the stream is over or closed; nothing is queued for later. */
  send(message: MessageInitShape<typeof AttachRequestSchema>): void;
  /** Says that the window is closed for good. Messages that the hub still sends can be read. */
  close(): void;
  /** Breaks the stream as a crash would. The window may come back within ten seconds. */
  break(): void;
}

// Numbers of unread messages. While this host reads nothing, flow control stops the hub, which detaches a window that
// is too slow.
const pauseAt = 256;
const resumeAt = 64;

/** Opens a stream on the given hub. Without a hub, the stream has failed already. */
export function openStream(
  hub: LiveHub | undefined,
  absent: () => HubError,
  hello: MessageInitShape<typeof HelloSchema>,
  signal: AbortSignal | undefined,
): HubStream {
  const stream = new RawStream();
  if (hub === undefined) {
    stream.fail(absent());
  } else {
    stream.open(hub, hello, signal);
  }
  return stream;
}

class RawStream implements HubStream {
  #duplex: Duplex<typeof AttachRequestSchema> | undefined;
  #paused = false;
  #closed = false;
  readonly #inbox = new Inbox<AttachResponse>(() => this.#taken());

  fail(error: HubError): void {
    this.#inbox.end(error);
  }

  open(hub: LiveHub, hello: MessageInitShape<typeof HelloSchema>, signal: AbortSignal | undefined): void {
    const duplex = hub.channel.open(EditorService.method.attach, signal === undefined ? {} : { signal }, {
      message: (message) => {
        this.#inbox.push(message);
        if (!this.#paused && this.#inbox.size >= pauseAt) {
          this.#paused = true;
          this.#duplex?.pause();
        }
      },
      end: (error) => {
        this.#duplex = undefined;
        if (error === undefined) {
          this.#inbox.end();
        } else {
          void hub.explain(error).then((explained) => this.#inbox.end(explained));
        }
      },
    });
    this.#duplex = duplex;
    try {
      duplex.send({ message: { case: 'hello', value: hello } });
    } catch (error) {
      duplex.cancel(asHubError(error)); // otherwise the hub would wait for ever for the hello
    }
  }

  send(message: MessageInitShape<typeof AttachRequestSchema>): void {
    if (this.#closed || this.#duplex === undefined || !this.#duplex.send(message)) {
      throw new HubError('unavailable', 'CONNECTION_LOST', 'This window is not attached to a hub: nothing was sent.');
    }
  }

  close(): void {
    if (!this.#closed) {
      this.#duplex?.send({ message: { case: 'closeWindow', value: {} } });
      this.#duplex?.finish();
    }
    this.#closed = true;
    this.#resume(); // the end comes after the messages that are still unread
  }

  break(): void {
    this.#closed = true;
    this.#duplex?.cancel(new HubError('cancelled', '', 'This host has broken the stream.'));
  }

  [Symbol.asyncIterator](): AsyncIterator<AttachResponse, undefined> {
    return this.#inbox[Symbol.asyncIterator]();
  }

  #taken(): void {
    if (this.#paused && this.#inbox.size <= resumeAt) {
      this.#resume();
    }
  }

  #resume(): void {
    this.#paused = false;
    this.#duplex?.resume();
  }
}
