// The window stream as the page sees it: who says hello and when, what is resumed, which reply belongs to which
// message.

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
 * @property {(message: AttachRequest, unwanted?: AbortSignal) => Promise<Reply>} ask sets messageId; never rejects: a lost
 * connection is a reply with UNAVAILABLE. unwanted: nobody waits for the reply any more, and the hub is told
 * @property {(promptId: string) => string | undefined} draft what was typed for a question before the page was loaded
 * anew, once the hub is known to be the same
 * @property {(promptId: string, text: string) => void} keepDraft for after the next reload; '' keeps none
 * @property {(mark?: boolean) => boolean} dismissed whether the user has read what an earlier hub had ended; mark: now
 */

/**
 * @typedef {object} Handlers
 * @property {(message: AttachResponse) => boolean} message false: it means nothing to the page
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

// Later than every event. A page that was loaded anew knows its window but nothing else. Should the hub still hold the
// stream of before, and refuse the window id for it, this makes it let go and send a snapshot, since nothing can be
// resumed from there.
// Characters of all drafts: the editor writes what a page keeps to its own store.
const mostDrafts = 200_000;

const beyondAll = '18446744073709551615';

/** Views (MCP Apps), as the client's capabilities say that they are shown. */
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
 * @param {string} [extensionsJson] extensions of MCP that the page shows
 * @returns {Stream}
 */
export function overTransport(open, title, handlers, extensionsJson = '') {
  /** @type {Map<string, (reply: Reply) => void>} */
  const waiting = new Map();
  let asked = 0;
  /**
   * What a stream of this window has shown; only after a welcome there is something to resume.
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
    // Refused: the id may be the fault. If this window's own old stream has it, the second try frees it; if another
    // window has it, the third takes a new one.
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
    // Only what was understood counts as seen: a number on junk must not hide the events that follow.
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

  // Whether the hub got what is not answered yet is not known; what runs is told by the events after the next welcome.
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
