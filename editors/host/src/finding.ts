// Handles the messages of a page that searches for servers. The host decides which registry is asked and which file of
// this computer is read; a page can name neither.
import type { AttachRequest, Call } from './gen/mcphub/v1/editor_pb.js';
import { RegistryService } from './gen/mcphub/v1/registry_pb.js';
import { HubError, asHubError } from './failure.js';
import type { RelayOptions } from './options.js';
import type { PageVoice } from './pagevoice.js';
import { callOf, requestOf } from './windowcalls.js';

const { searchRegistry, getRegistryServer, readBundle } = RegistryService.method;

/** The maximum number of messages that wait for the host. */
const mostWaiting = 16;

export class Finding {
  readonly #options: RelayOptions;
  readonly #voice: PageVoice;
  readonly #forward: (request: AttachRequest) => void;
  readonly #waiting = new Map<string, { givenUp: boolean }>();

  constructor(options: RelayOptions, voice: PageVoice, forward: (request: AttachRequest) => void) {
    this.#options = options;
    this.#voice = voice;
    this.#forward = forward;
  }

  /** Handles a message that must not be forwarded unchanged. Returns false if the message is to be forwarded. */
  takes(request: AttachRequest): boolean {
    const { message, messageId } = request;
    switch (message.case) {
      case 'call':
        return this.#takesCall(request, message.value);
      case 'chooseBundle':
        this.#wait(messageId, async () => {
          const from = { case: 'path', value: await this.#chosen() } as const;
          request.message = { case: 'call', value: callOf(readBundle, { from }) };
          return request;
        });
        return true;
      case 'giveUp': {
        const waiting = this.#waiting.get(message.value.messageId);
        if (waiting === undefined) {
          return false;
        }
        waiting.givenUp = true;
        this.#voice.done(messageId);
        return true;
      }
      default:
        return false;
    }
  }

  #takesCall(request: AttachRequest, call: Call): boolean {
    const search = requestOf(searchRegistry, call);
    if (search !== undefined) {
      this.#asks(request, (registryUrl) => callOf(searchRegistry, { ...search, registryUrl }));
      return true;
    }
    const read = requestOf(getRegistryServer, call);
    if (read !== undefined) {
      this.#asks(request, (registryUrl) => callOf(getRegistryServer, { ...read, registryUrl }));
      return true;
    }
    const bundle = requestOf(readBundle, call);
    if (bundle === undefined || bundle.from.case === 'proposalId') {
      return false;
    }
    this.#voice.refuse(
      request.messageId,
      new HubError(
        'permission_denied',
        'BUNDLE_NOT_CHOSEN',
        'A page cannot name a file of this computer. Choose the bundle in the dialog of its host.',
      ),
    );
    return true;
  }

  /** Makes a call that is sent to a registry. */
  #asks(request: AttachRequest, call: (registryUrl: string) => Call): void {
    this.#wait(request.messageId, async () => {
      request.message = { case: 'call', value: call((await this.#options.registry?.()) ?? '') };
      return request;
    });
  }

  async #chosen(): Promise<string> {
    if (this.#options.chooseBundle === undefined) {
      throw new HubError(
        'unimplemented',
        'BUNDLE_NOT_CHOSEN',
        'This host has no dialog for files. mcphub config add --bundle adds a bundle.',
      );
    }
    const path = await this.#options.chooseBundle();
    if (path === undefined) {
      throw new HubError('cancelled', 'BUNDLE_NOT_CHOSEN', 'No bundle was chosen.');
    }
    return path;
  }

  #wait(messageId: string, prepare: () => Promise<AttachRequest>): void {
    const waits = { givenUp: false };
    if (this.#waiting.size >= mostWaiting || this.#waiting.has(messageId)) {
      this.#voice.refuse(
        messageId,
        new HubError('resource_exhausted', '', 'Too much is asked of the host at once: this was not sent.'),
      );
      return;
    }
    this.#waiting.set(messageId, waits);
    prepare()
      .then((request) => {
        if (waits.givenUp) {
          throw new HubError('cancelled', 'CANCELLED', 'It was given up.');
        }
        this.#waiting.delete(messageId); // before the forwarding: the hub handles a giveUp that comes later
        this.#forward(request);
      })
      .catch((error: unknown) => this.#voice.refuse(messageId, asHubError(error)))
      .finally(() => this.#waiting.delete(messageId));
  }
}
