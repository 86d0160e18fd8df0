// The page's side of the window stream: when it says hello, what it resumes, and which reply belongs to which message.

import { relayTransport, socketTransport } from './transport.js';
import { t } from '../words/t.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachRequestJson} AttachRequest */
/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachResponseJson} AttachResponse */
/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').ReplyJson} Reply */
/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').ResumeJson} Resume */
/** @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').PromptKindJson} PromptKind */
/** @typedef {import('./transport.js').Transport} Transport */

/**
 * @typedef {object} Stream
 * @property {(message: AttachRequest) => void} send
 * @property {(message: AttachRequest, unwanted?: AbortSignal) => Promise<Reply>} ask sends a message with a
 * messageId, and returns the reply. It never rejects: if the connection is lost, the reply has the error UNAVAILABLE.
 * unwanted: nobody waits for the reply any more, and the hub is told so
 * @property {(promptId: string) => string | undefined} draft returns what was typed for a question before the page was
 * reloaded. It is defined only for a hub that is known to be the same
 * @property {(promptId: string, text: string) => void} keepDraft stores what was typed for after the next reload; ''
 * removes it
 * @property {(mark?: boolean) => boolean} dismissed reports whether the user has closed the banner about what an
 * earlier hub had ended; mark: the user closes it now
 */

/**
 * @typedef {object} Handlers
 * @property {(message: AttachResponse) => boolean} message takes a message; false: it means nothing to the page
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

// A sequence that is later than every event. After a reload the page knows its window but no event. The hub may still
// hold the old stream of the window, and refuse the window id for that reason. A resume from this sequence makes the
// hub release the window and send a snapshot, since nothing can be resumed from there.
const beyondAll = '18446744073709551615';

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
  /**
   * The last event that this window has received. It is set from a welcome on: before that there is nothing to resume.
   * @type {Required<Resume> | undefined}
   */
  let seen;
  let hellosWithoutWelcome = 0;

  const transport = open(receive);
  const memory = transport.recall();
  let windowId = memory?.windowId ?? crypto.randomUUID();
  /** @type {Map<string, string>} */
  const drafts = new Map(Object.entries(memory?.drafts ?? {}));
  let dismissedOf = memory?.dismissedOf;
  let draftsOf = memory?.hubId; // prompts of another hub may have the same ids
  if (transport.open) hello();

  function hello() {
    let resume = seen;
    // The hub has refused the last hello, perhaps because of the window id. If an old stream of this window has the id,
    // the second try releases it. If another window has it, the third try takes a new id.
    if (hellosWithoutWelcome === 1 && !resume && memory) resume = { hubId: memory.hubId, afterSequence: beyondAll };
    if (hellosWithoutWelcome > 1) {
      windowId = crypto.randomUUID();
      resume = undefined;
    }
    hellosWithoutWelcome++;
    transport.post({
      hello: {
        windowId,
        title,
        promptKinds,
        samplingTools: false,
        maxHistory: 1000,
        ...(extensionsJson && { extensionsJson }),
        ...(resume && { resume: { ...resume } }),
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
      const hubId = message.welcome.hubId ?? '';
      if (!message.welcome.resumed || seen?.hubId !== hubId) seen = { hubId, afterSequence: beyondAll };
      if (draftsOf !== hubId) drafts.clear();
      draftsOf = hubId;
      remember(hubId);
    }
    if (message.snapshot) {
      const open = new Set(message.snapshot.prompts?.map(({ promptId }) => promptId));
      for (const promptId of drafts.keys()) if (!open.has(promptId)) drafts.delete(promptId);
    }
    if (message.reply) {
      const id = message.reply.messageId ?? '';
      waiting.get(id)?.(message.reply);
      waiting.delete(id);
      return;
    }
    const { sequence } = message;
    const numbered = sequence !== undefined && /^[1-9]\d*$/.test(sequence);
    if (
      numbered
      && !message.snapshot
      && seen
      && seen.afterSequence !== beyondAll
      && BigInt(sequence) <= BigInt(seen.afterSequence)
    )
      return;
    // Only a message that the page understands counts as seen: the number of any other message must not hide the events
    // that follow.
    if (handlers.message(message) && numbered && seen) seen.afterSequence = sequence;
  }

  /** @param {string} hubId */
  function remember(hubId) {
    transport.remember({
      windowId,
      hubId,
      ...(drafts.size > 0 && { drafts: Object.fromEntries(drafts) }),
      ...(dismissedOf === hubId && { dismissedOf }),
    });
  }

  // It is not known whether the hub has received the messages without a reply. The events after the next welcome report
  // what runs.
  function loseAll() {
    const lost = [...waiting];
    waiting.clear();
    for (const [id, answer] of lost) answer(lostReply(id));
  }

  return {
    draft: (promptId) => drafts.get(promptId),
    keepDraft: (promptId, text) => {
      if (!seen || (drafts.get(promptId) ?? '') === text) return;
      drafts.delete(promptId);
      const taken = [...drafts.values()].reduce((sum, one) => sum + one.length, text.length);
      if (text !== '' && taken <= mostDrafts) drafts.set(promptId, text);
      remember(seen.hubId);
    },
    dismissed: (mark = false) => {
      if (mark && seen) {
        dismissedOf = seen.hubId;
        remember(seen.hubId);
      }
      return dismissedOf !== undefined && dismissedOf === seen?.hubId;
    },
    send: (message) => void transport.post(message),
    ask: (message, unwanted) => {
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
    },
  };
}

/** @param {string} messageId @returns {Reply} */
function lostReply(messageId) {
  const message = t(
    'The connection to the hub was lost before it answered. What was asked for may have happened: look at what is shown once it is back.',
  );
  return { messageId, error: { code: 'UNAVAILABLE', reason: 'CONNECTION_LOST', message } };
}
