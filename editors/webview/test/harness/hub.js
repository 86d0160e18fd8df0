// A hub on a script: it answers hello with welcome and snapshot, says what the test tells it to say, and keeps what the
// page has sent. What it says is checked against the schema before it is sent, and what it hears when it is heard.

import { EventEmitter, once } from 'node:events';
import { asRelayed, faultOf } from './schema.js';

/**
 * @typedef {import('./schema.js').AttachRequestJson} AttachRequestJson
 * @typedef {import('./schema.js').AttachResponseJson} AttachResponseJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').SnapshotJson} SnapshotJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').ReplyJson} ReplyJson
 * @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ToolJson} ToolJson
 * @typedef {Exclude<keyof AttachRequestJson, 'messageId'>} RequestKind
 * @typedef {Omit<AttachResponseJson, 'sequence' | 'reply'>} EventJson
 */

/**
 * Longest wait for a message of the page: far above what any takes, so that a missing one fails the test and does not
 * hang it.
 */
const patience = 20_000;

export class Hub {
  /** Everything that the page has sent, in order. @type {AttachRequestJson[]} */
  sent = [];
  /** Faults of what it has sent. @type {string[]} */
  faults = [];
  /** What a snapshot shows. @type {SnapshotJson} */
  snapshot = {};
  /** What list_tools finds, by server. @type {Record<string, ToolJson[]>} */
  tools = {};
  /** What readRequest finds, by request and part ("h-1 RESULT"): plain ASCII. @type {Record<string, string>} */
  kept = {};
  /** Bytes of one piece of that. */
  pieceBytes = 1 << 20;
  /**
   * How else it answers, by kind; undefined: it does not.
   * @type {{ [kind in RequestKind]?: (message: AttachRequestJson) => Omit<ReplyJson, 'messageId'> | undefined }}
   */
  answers = {};
  /** Kinds that are not answered by themselves. @type {Set<RequestKind>} */
  silent = new Set();
  hubId = 'hub-1';
  /** The window's own id, or the one that the hub gives it. */
  windowId = '';

  #sequence = 100;
  /** @type {Map<RequestKind, number>} */
  #read = new Map();
  #heard = new EventEmitter();
  /** @type {(message: AttachResponseJson) => Promise<void>} */
  #post;
  /** Messages go out one after the other, whoever posts them. @type {Promise<void>} */
  #outbox = Promise.resolve();
  #now;

  /**
   * @param {(message: AttachResponseJson) => Promise<void>} post sends to the page
   * @param {() => Date} now the page's clock
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
   * Says what happened, with the next sequence number.
   *
   * @param {EventJson} event
   */
  say(event) {
    this.#sequence += 1 + (this.#sequence % 3);
    return this.#send({ sequence: String(this.#sequence), time: this.#now().toISOString(), ...event });
  }

  /**
   * Says what belongs to this stream alone, without a sequence number.
   *
   * @param {EventJson} event
   */
  sayAside(event) {
    return this.#send({ time: this.#now().toISOString(), ...event });
  }

  /**
   * Answers one message of the page.
   *
   * @param {AttachRequestJson} message
   * @param {Omit<ReplyJson, 'messageId'>} [reply]
   */
  reply(message, reply = {}) {
    if (!message.messageId) throw new Error(`the page wants no reply to ${JSON.stringify(message)}`);
    return this.#send({ reply: { messageId: message.messageId, ...reply } });
  }

  /** Welcomes a window, with everything there is unless it resumes. @param {boolean} [resumed] */
  async welcome(resumed = false) {
    // Both at once into the outbox: an event that came between them would be undone by the snapshot, and no hub sends
    // one there.
    const welcomed = this.#send({ welcome: { hubId: this.hubId, windowId: this.windowId, version: '1.0.0', resumed } });
    await (resumed ? welcomed : this.say({ snapshot: this.snapshot }));
  }

  /** Waits until the page has got everything that was said so far. */
  async delivered() {
    await this.#outbox;
  }

  /** The latest sequence number. */
  get sequence() {
    return String(this.#sequence);
  }

  /** Hears one message of the page. @param {unknown} message */
  hear(message) {
    const fault = faultOf(message);
    if (fault !== undefined) this.faults.push(`${fault}: ${JSON.stringify(message)}`);
    const request = /** @type {AttachRequestJson} */ (message);
    this.sent.push(request);
    this.#answer(request);
    this.#heard.emit('message');
  }

  /** @param {AttachRequestJson} message */
  #answer(message) {
    if (message.hello && !this.silent.has('hello')) {
      this.windowId = message.hello.windowId || 'window-1';
      void this.welcome(message.hello.resume?.hubId === this.hubId);
    }
    for (const [kind, answer] of Object.entries(this.answers)) {
      const reply =
        kind in message && !this.silent.has(/** @type {RequestKind} */ (kind)) ? answer(message) : undefined;
      if (reply) void this.reply(message, reply);
    }
    if (message.listTools && !this.silent.has('listTools'))
      void this.reply(message, { listTools: { tools: this.tools[message.listTools.server ?? ''] ?? [] } });
    if (message.readRequest && !this.silent.has('readRequest')) void this.#piece(message, message.readRequest);
    if (message.cancelMcpRequest && message.messageId && !this.silent.has('cancelMcpRequest'))
      void this.reply(message, { cancelOutcome: 'CANCEL_OUTCOME_CANCELLING' });
  }

  /** @param {AttachRequestJson} message @param {NonNullable<AttachRequestJson['readRequest']>} asked */
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

  /** All messages of a kind so far. @param {RequestKind} kind */
  all(kind) {
    return this.sent.filter((message) => kind in message);
  }

  /**
   * The next message of a kind that was not read yet.
   *
   * @template {RequestKind} K
   * @param {K} kind
   * @returns {Promise<AttachRequestJson & { [key in K]-?: NonNullable<AttachRequestJson[K]> }>}
   */
  async next(kind) {
    const index = this.#read.get(kind) ?? 0;
    this.#read.set(kind, index + 1);
    const signal = AbortSignal.timeout(patience);
    for (;;) {
      const message = this.all(kind)[index];
      if (message)
        return /** @type {AttachRequestJson & { [key in K]-?: NonNullable<AttachRequestJson[K]> }} */ (message);
      await once(this.#heard, 'message', { signal }).catch((/** @type {unknown} */ error) => {
        const sent = this.sent.map((other) => Object.keys(other).join('+')).join(', ');
        throw new Error(`the page has not sent ${kind} (message ${index + 1}); it has sent: ${sent}`, { cause: error });
      });
    }
  }
}
