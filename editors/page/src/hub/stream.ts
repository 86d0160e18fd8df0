// The page's side of the window stream: when it says hello, how it calls the hub, and which reply belongs to which
// message.

import { callOf } from './methods.js';
import { frameTransport, relayTransport, socketTransport } from './transport.js';
import { t } from '../words/t.js';
import type {
  AttachRequestJson as AttachRequest,
  AttachResponseJson as AttachResponse,
  HubConnectionStateJson as HubConnectionState,
  ReplyJson as Reply,
  SnapshotJson as Snapshot,
} from '../../../host/src/gen/mcphub/v1/editor_pb.js';
import type { PromptKindJson as PromptKind } from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { Transport } from './transport.js';
import type { Answer, Call, Method, RequestOf } from './methods.js';
import type { Surface } from '../surface.js';

export interface Stream {
  /**
   * calls a method of the hub. It never rejects: if the connection is lost, the answer has the error UNAVAILABLE.
   * unwanted: nobody waits for the answer any more, and the hub is told so
   */
  call: Call;
  /** sends a message that is no call, and returns the reply, as call does */
  ask: (message: AttachRequest, unwanted?: AbortSignal) => Promise<Reply>;
  /**
   * returns what was typed for a question before the page was reloaded. It is defined only for a hub that is known to
   * be the same
   */
  draft: (promptId: string) => string | undefined;
  /** stores what was typed for after the next reload; '' removes it */
  keepDraft: (promptId: string, text: string) => void;
  /** runs a command of the host, without a click on a link */
  run: (command: string, args: readonly unknown[]) => void;
}

export interface Handlers {
  /** takes a message of the hub that is no reply */
  message: (message: AttachResponse) => void;
}

const promptKinds: PromptKind[] = [
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

export function openStream(surface: Surface, handlers: Handlers): Stream {
  return overTransport(
    (receive) => {
      if (surface.kind === 'web') return socketTransport(surface.socket ?? '/stream', receive);
      return surface.kind === 'frame' ? frameTransport(receive) : relayTransport(receive);
    },
    surface.kind === 'web' ? 'browser' : 'page',
    handlers,
    surface.apps === undefined ? '' : appsExtension,
  );
}

type Opener = (receive: (message: AttachResponse) => void) => Transport;

/** @param extensionsJson client capabilities for the extensions of MCP that the page supports */
export function overTransport(open: Opener, title: string, handlers: Handlers, extensionsJson: string = ''): Stream {
  const transport = open(receive);
  const { ask, replied, loseAll } = repliesOver(transport);
  const memory = transport.recall();
  let hellosWithoutWelcome = 0;
  let windowId = memory?.windowId ?? crypto.randomUUID();
  /** The hub that this window was attached to last; '': none. */
  let hubId = memory?.hubId ?? '';
  const drafts = new Map(Object.entries(memory?.drafts ?? {}));
  /** What the host has opened here last: the host asks for it after a reload of the editor. */
  let opens = memory?.opens;
  if (transport.open) hello();

  function hello() {
    // The first hello may be lost while the hub starts. If the second one is not welcomed either, another window has
    // this id.
    if (hellosWithoutWelcome++ > 1) windowId = crypto.randomUUID();
    const more = { ...(extensionsJson && { extensionsJson }), ...(hubId && { comesBackTo: hubId }) };
    transport.post({ hello: { windowId, title, promptKinds, samplingTools: false, maxHistory: 1000, ...more } });
  }

  function receive(message: AttachResponse) {
    const { hubConnection, welcome, snapshot, reply } = message;
    if (hubConnection) connectionIs(hubConnection.state);
    if (welcome) {
      hellosWithoutWelcome = 0;
      windowId = welcome.windowId ?? windowId;
      const before = hubId;
      hubId = welcome.hubId ?? '';
      if (hubId !== before) drafts.clear(); // prompts of another hub may have the same ids
    }
    opens = message.open ?? opens;
    if (welcome ?? message.open) remember();
    if (snapshot) forgetDrafts(drafts, snapshot);
    if (reply) replied(reply);
    else handlers.message(message);
  }

  function connectionIs(how: HubConnectionState | undefined) {
    if (how === 'HUB_CONNECTION_STATE_UNRESPONSIVE' || how === 'HUB_CONNECTION_STATE_RESPONSIVE') return;
    loseAll();
    if (how === 'HUB_CONNECTION_STATE_READY') hello();
  }

  function remember() {
    const typed = drafts.size > 0 && { drafts: Object.fromEntries(drafts) };
    transport.remember({ windowId, hubId, ...(opens && { opens }), ...typed });
  }

  return {
    draft: (promptId) => drafts.get(promptId),
    keepDraft: (promptId, text) => {
      if (keepDraft(drafts, promptId, text)) remember();
    },
    run: (command, args) => transport.run?.(command, args),
    ask,
    call: async <M extends Method>(method: M, request: RequestOf<M>, unwanted?: AbortSignal) =>
      (await ask(callOf(method, request), unwanted)) as Answer<M>,
  };
}

/** Reports whether this changes what is kept. */
function keepDraft(drafts: Map<string, string>, promptId: string, text: string) {
  if ((drafts.get(promptId) ?? '') === text) return false;
  drafts.delete(promptId);
  const taken = [...drafts.values()].reduce((sum, one) => sum + one.length, text.length);
  if (text !== '' && taken <= mostDrafts) drafts.set(promptId, text);
  return true;
}

/** Forgets what was typed for prompts that are not open any more. */
function forgetDrafts(drafts: Map<string, string>, { prompts = [], laterPromptIds = [] }: Snapshot) {
  const open = new Set([...prompts.map(({ promptId }) => promptId), ...laterPromptIds]);
  for (const promptId of drafts.keys()) if (!open.has(promptId)) drafts.delete(promptId);
}

/** Finds the reply to each message. */
function repliesOver({ post }: Transport) {
  const waiting: Map<string, (reply: Reply) => void> = new Map();
  let asked = 0;

  function replied(reply: Reply) {
    const { messageId = '' } = reply;
    waiting.get(messageId)?.(reply);
    waiting.delete(messageId);
  }

  const ask: Stream['ask'] = (message, unwanted) => {
    const messageId = `m${++asked}`;
    return new Promise((answer) => {
      const giveUp = () => {
        if (waiting.delete(messageId)) post({ giveUp: { messageId } });
        answer({ messageId, error: { code: 'CANCELLED', reason: 'CANCELLED', message: '' } });
      };
      waiting.set(messageId, (reply) => {
        unwanted?.removeEventListener('abort', giveUp);
        answer(reply);
      });
      unwanted?.addEventListener('abort', giveUp, { once: true });
      if (!post({ ...message, messageId })) replied(lostReply(messageId));
    });
  };

  return {
    ask,
    replied,
    // It is not known whether the hub has received the messages without a reply. The events after the next welcome
    // report what runs.
    loseAll: () => [...waiting.keys()].forEach((messageId) => replied(lostReply(messageId))),
  };
}

function lostReply(messageId: string): Reply {
  const message = t(
    'The connection to the hub was lost before it answered. What was asked for may have happened: look at what is shown once it is back.',
  );
  return { messageId, error: { code: 'UNAVAILABLE', reason: 'CONNECTION_LOST', message } };
}
