// A scripted hub. It answers hello with welcome and snapshot, sends what the test tells it to send, and records what
// the page has sent. Its messages are checked against the schema before they are sent, and those of the page when they
// arrive.

import { EventEmitter, once } from 'node:events';
import { decoded, encoded, kindOf } from './calls.js';
import { long } from './long.js';
import { asRelayed, faultOf } from './schema.js';

/**
 * @typedef {import('./calls.js').Kind} Kind
 * @typedef {import('./calls.js').Message} Message
 * @typedef {import('./calls.js').Reply} Reply
 * @typedef {import('./schema.js').AttachResponseJson} AttachResponseJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').SnapshotJson} SnapshotJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/config_pb.js').ConfigWriteJson} ConfigWriteJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ToolJson} ToolJson
 */

/** @typedef {{ command: string, args: unknown[] }} Ran */

export class Hub {
  /** Everything that the page has sent, in order. @type {Message[]} */
  sent = [];
  /** The commands that the page has run in its host. @type {Ran[]} */
  ran = [];
  /** The faults of the page's messages. @type {string[]} */
  faults = [];
  /** The content of a snapshot. @type {SnapshotJson} */
  snapshot = {};
  /** The tools that listTools returns, by server. @type {Record<string, ToolJson[]>} */
  tools = {};
  /**
   * The texts that readRequest returns, by request and part ("h-1 RESULT"). They must be ASCII.
   * @type {Record<string, string>}
   */
  kept = {};
  /** The size of a piece of such a text, in bytes. */
  pieceBytes = 1 << 20;
  /**
   * Further replies, by the kind of the message; undefined: there is no reply.
   * @type {{ [kind in Kind]?: (message: Message) => Reply | undefined }}
   */
  answers = {};
  /** The kinds of messages that are not answered automatically. @type {Set<Kind>} */
  silent = new Set();
  hubId = 'hub-1';
  /** The id that the window has sent, or the one that the hub has given it. */
  windowId = '';

  /** @type {Map<Kind, number>} */
  #read = new Map();
  #heard = new EventEmitter();
  /** @type {(message: AttachResponseJson) => Promise<void>} */
  #post;
  /** Messages are sent one after the other, in the order of the calls. @type {Promise<void>} */
  #outbox = Promise.resolve();
  #now;

  /**
   * @param {(message: AttachResponseJson) => Promise<void>} post sends to the page
   * @param {() => Date} now returns the time of the page's clock
   */
  constructor(post, now) {
    this.#post = post;
    this.#now = now;
  }

  /** @param {AttachResponseJson} message */
  #send(message) {
    const relayed = asRelayed(message);
    this.#outbox = this.#outbox.then(() => this.#post(relayed));
    return this.#outbox;
  }

  /**
   * Sends an event.
   *
   * @param {Omit<AttachResponseJson, 'reply'>} event
   */
  say(event) {
    return this.#send({ time: this.#now().toISOString(), ...event });
  }

  /**
   * Answers one message of the page.
   *
   * @param {Message} message
   * @param {Reply} [reply]
   */
  reply(message, reply = {}) {
    if (!message.messageId) throw new Error(`the page wants no reply to ${JSON.stringify(message)}`);
    return this.#send({ reply: encoded(message, reply) });
  }

  /** Answers a message that writes a config file. @param {Message} message @param {ConfigWriteJson} write */
  wrote(message, write) {
    return this.reply(message, { [kindOf(message)]: { write } });
  }

  /** Sends welcome and a snapshot. */
  async welcome() {
    // Both go into the outbox at once: the snapshot would undo an event between them, and a real hub sends none there.
    void this.#send({ welcome: { hubId: this.hubId, windowId: this.windowId, version: '1.0.0' } });
    await this.say({ snapshot: this.snapshot });
  }

  /** Waits until the page has received everything that was sent so far. */
  async delivered() {
    await this.#outbox;
  }

  /** Takes a message of the page. @param {unknown} message */
  hear(message) {
    const { runCommand } = /** @type {{ runCommand?: Ran }} */ (message);
    if (runCommand) {
      this.ran.push(runCommand); // the host keeps it from the hub
      return;
    }
    const fault = faultOf(message);
    if (fault !== undefined) this.faults.push(`${fault}: ${JSON.stringify(message)}`);
    const request = decoded(/** @type {import('./schema.js').AttachRequestJson} */ (message));
    this.sent.push(request);
    this.#answer(request);
    this.#heard.emit('message');
  }

  /** @param {Message} message */
  #answer(message) {
    if (message.hello && !this.silent.has('hello')) {
      this.windowId = message.hello.windowId || 'window-1';
      void this.welcome();
    }
    for (const [kind, answer] of Object.entries(this.answers)) {
      const reply = kind in message && !this.silent.has(/** @type {Kind} */ (kind)) ? answer(message) : undefined;
      if (reply) void this.reply(message, reply);
    }
    if (message.listTools && !this.silent.has('listTools'))
      void this.reply(message, { listTools: { tools: this.tools[message.listTools.server ?? ''] ?? [] } });
    if (message.readRequest && !this.silent.has('readRequest')) void this.#piece(message, message.readRequest);
    if (message.cancelMcpRequest && message.messageId && !this.silent.has('cancelMcpRequest'))
      void this.reply(message, { cancelOutcome: 'CANCEL_OUTCOME_CANCELLING' });
  }

  /** @param {Message} message @param {NonNullable<Message['readRequest']>} asked */
  #piece(message, { requestId = '', part = 'REQUEST_PART_UNSPECIFIED', offset = '0' }) {
    const text = this.kept[`${requestId} ${part.replace('REQUEST_PART_', '')}`];
    if (text === undefined) {
      const error = { code: 'NOT_FOUND', reason: 'REQUEST_NOT_KEPT', message: `“${requestId}” is not kept.` };
      return this.reply(message, { error });
    }
    const end = Number(offset) + this.pieceBytes;
    return this.reply(message, {
      readRequest: {
        text: text.slice(Number(offset), end),
        offset,
        nextOffset: end < text.length ? String(end) : '0',
        size: String(text.length),
      },
    });
  }

  /** Returns all messages of a kind so far. @param {Kind} kind */
  all(kind) {
    return this.sent.filter((message) => kind in message);
  }

  /**
   * Waits for the next message of a kind that next has not returned yet, and returns it.
   *
   * @template {Kind} K
   * @param {K} kind
   * @returns {Promise<Message & { [key in K]-?: NonNullable<Message[K]> }>}
   */
  async next(kind) {
    const index = this.#read.get(kind) ?? 0;
    this.#read.set(kind, index + 1);
    const signal = AbortSignal.timeout(long);
    for (;;) {
      const message = this.all(kind)[index];
      if (message) return /** @type {Message & { [key in K]-?: NonNullable<Message[K]> }} */ (message);
      await once(this.#heard, 'message', { signal }).catch((/** @type {unknown} */ error) => {
        const sent = this.sent.map((other) => Object.keys(other).join('+')).join(', ');
        throw new Error(`the page has not sent ${kind} (message ${index + 1}); it has sent: ${sent}`, { cause: error });
      });
    }
  }
}
