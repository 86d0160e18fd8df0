// The page's side of the window stream: when it says hello, how it calls the hub, and which reply belongs to which
// message.

import { callOf } from './methods.js';
import { relayTransport, socketTransport } from './transport.js';
import { t } from '../words/t.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachRequestJson} AttachRequest */
/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachResponseJson} AttachResponse */
/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').ReplyJson} Reply */
/** @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').PromptKindJson} PromptKind */
/** @typedef {import('./transport.js').Transport} Transport */

/**
 * @typedef {object} Stream
 * @property {import('./methods.js').Call} call calls a method of the hub. It never rejects: if the connection is lost,
 * the answer has the error UNAVAILABLE. unwanted: nobody waits for the answer any more, and the hub is told so
 * @property {(message: AttachRequest, unwanted?: AbortSignal) => Promise<Reply>} ask sends a message that is no call,
 * and returns the reply, as call does
 * @property {(promptId: string) => string | undefined} draft returns what was typed for a question before the page was
 * reloaded. It is defined only for a hub that is known to be the same
 * @property {(promptId: string, text: string) => void} keepDraft stores what was typed for after the next reload; ''
 * removes it
 */

/**
 * @typedef {object} Handlers
 * @property {(message: AttachResponse) => void} message takes a message of the hub that is no reply
 */

/** @type {PromptKind[]} */
const promptKinds = [
  'PROMPT_KIND_TOOL_APPROVAL',
  'PROMPT_KIND_SAMPLING',
  'PROMPT_KIND_ELICITATION_FORM',
  'PROMPT_KIND_ELICITATION_URL',
  'PROMPT_KIND_SIGN_IN',
  'PROMPT_KIND_SERVER_LAUNCH',
  'PROMPT_KIND_CONFIG_INPUT',
];

// Maximum length of all drafts together, in UTF-16 units: the editor writes what a page keeps to its own store.
const mostDrafts = 200_000;

/** The client capability which says that views (MCP Apps) are shown. */
const appsExtension = '{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}';

/**
 * @param {import('../surface.js').Surface} surface
 * @param {Handlers} handlers
 * @returns {Stream}
 */
export function openStream(surface, handlers) {
  return overTransport(
    (receive) =>
      surface.kind === 'vscode' ? relayTransport(receive) : socketTransport(surface.socket ?? '/stream', receive),
    surface.kind === 'vscode' ? 'page' : 'browser',
    handlers,
    surface.apps === undefined ? '' : appsExtension,
  );
}

/**
 * @param {(receive: (message: AttachResponse) => void) => Transport} open
 * @param {string} title
 * @param {Handlers} handlers
 * @param {string} [extensionsJson] client capabilities for the extensions of MCP that the page supports
 * @returns {Stream}
 */
export function overTransport(open, title, handlers, extensionsJson = '') {
  /** @type {Map<string, (reply: Reply) => void>} */
  const waiting = new Map();
  let asked = 0;
  let hellosWithoutWelcome = 0;

  const transport = open(receive);
  const memory = transport.recall();
  let windowId = memory?.windowId ?? crypto.randomUUID();
  /** The hub that this window was attached to last; '': none. */
  let hubId = memory?.hubId ?? '';
  /** @type {Map<string, string>} */
  const drafts = new Map(Object.entries(memory?.drafts ?? {}));
  if (transport.open) hello();

  function hello() {
    // The first hello may be lost while the hub starts. If the second one is not welcomed either, another window has
    // this id.
    if (hellosWithoutWelcome++ > 1) windowId = crypto.randomUUID();
    transport.post({
      hello: {
        windowId,
        title,
        promptKinds,
        samplingTools: false,
        maxHistory: 1000,
        ...(extensionsJson && { extensionsJson }),
        ...(hubId && { comesBackTo: hubId }),
      },
    });
  }

  /** @param {AttachResponse} message */
  function receive(message) {
    const how = message.hubConnection?.state;
    const stands = how === 'HUB_CONNECTION_STATE_UNRESPONSIVE' || how === 'HUB_CONNECTION_STATE_RESPONSIVE';
    if (message.hubConnection && !stands) {
      loseAll();
      if (how === 'HUB_CONNECTION_STATE_READY') hello();
    }
    if (message.welcome) {
      hellosWithoutWelcome = 0;
      windowId = message.welcome.windowId ?? windowId;
      const before = hubId;
      hubId = message.welcome.hubId ?? '';
      if (hubId !== before) drafts.clear(); // prompts of another hub may have the same ids
      remember();
    }
    if (message.snapshot) {
      const open = new Set(message.snapshot.prompts?.map(({ promptId }) => promptId));
      for (const promptId of message.snapshot.laterPromptIds ?? []) open.add(promptId);
      for (const promptId of drafts.keys()) if (!open.has(promptId)) drafts.delete(promptId);
    }
    if (message.reply) {
      const id = message.reply.messageId ?? '';
      waiting.get(id)?.(message.reply);
      waiting.delete(id);
      return;
    }
    handlers.message(message);
  }

  function remember() {
    transport.remember({ windowId, hubId, ...(drafts.size > 0 && { drafts: Object.fromEntries(drafts) }) });
  }

  // It is not known whether the hub has received the messages without a reply. The events after the next welcome report
  // what runs.
  function loseAll() {
    const lost = [...waiting];
    waiting.clear();
    for (const [id, answer] of lost) answer(lostReply(id));
  }

  /** @type {Stream['ask']} */
  const ask = (message, unwanted) => {
    const messageId = `m${++asked}`;
    return new Promise((answer) => {
      const giveUp = () => {
        if (waiting.delete(messageId)) transport.post({ giveUp: { messageId } });
        answer({ messageId, error: { code: 'CANCELLED', reason: 'CANCELLED', message: '' } });
      };
      waiting.set(messageId, (reply) => {
        unwanted?.removeEventListener('abort', giveUp);
        answer(reply);
      });
      unwanted?.addEventListener('abort', giveUp, { once: true });
      if (transport.post({ ...message, messageId })) return;
      waiting.delete(messageId);
      answer(lostReply(messageId));
    });
  };

  /**
   * @template {import('./methods.js').Method} M
   * @param {M} method
   * @param {import('./methods.js').RequestOf<M>} request
   * @param {AbortSignal} [unwanted]
   */
  const call = async (method, request, unwanted) =>
    /** @type {import('./methods.js').Answer<M>} */ (await ask(callOf(method, request), unwanted));

  return {
    draft: (promptId) => drafts.get(promptId),
    keepDraft: (promptId, text) => {
      if ((drafts.get(promptId) ?? '') === text) return;
      drafts.delete(promptId);
      const taken = [...drafts.values()].reduce((sum, one) => sum + one.length, text.length);
      if (text !== '' && taken <= mostDrafts) drafts.set(promptId, text);
      remember();
    },
    ask,
    call,
  };
}

/** @param {string} messageId @returns {Reply} */
function lostReply(messageId) {
  const message = t(
    'The connection to the hub was lost before it answered. What was asked for may have happened: look at what is shown once it is back.',
  );
  return { messageId, error: { code: 'UNAVAILABLE', reason: 'CONNECTION_LOST', message } };
}
