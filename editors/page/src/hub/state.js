// The state of the page, in one object. Messages of the window stream change it (transition), and so do replies about
// subscriptions (subscriptionSet). Nothing here uses the DOM.

import { addEnded, addLost, cancelDelivered, joinHistory, sealHistory } from './ended.js';
import {
  anyChanged,
  readBegan,
  readEnded,
  replaceSubscribed,
  resourceChanged,
  setSubscribed,
  subscriptionsOf,
} from './subscribed.js';
import { freshLogs, logArrived, stderrIs } from './serverlog.js';
import { t } from '../words/t.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachResponseJson} AttachResponse */
/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').SnapshotJson} Snapshot */
/** @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').PromptJson} Prompt */
/** @typedef {import('../../../host/src/gen/mcphub/v1/prompt_pb.js').PromptClosedJson} PromptClosed */
/** @typedef {import('../../../host/src/gen/mcphub/v1/request_pb.js').RequestJson} Request */
/** @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ServerJson} Server */
/** @typedef {import('../../../host/src/gen/mcphub/v1/server_pb.js').ConfigProblemJson} ConfigProblem */
/** @typedef {import('./ended.js').Ended} Ended */
/** @typedef {import('./serverlog.js').ServerLog} ServerLog */

/**
 * What must be painted again. The painter takes all of it with takeChanged.
 * @typedef {object} Changed
 * @property {boolean} connection
 * @property {boolean} serverList a server was added, removed or moved, or the form that adds one is to open
 * @property {Set<string>} servers
 * @property {Set<string>} tools servers whose tools must be listed again
 * @property {Set<string>} offers servers whose resources and prompts must be listed again
 * @property {boolean} subscribed the subscriptions of this window, or their marks
 * @property {Set<string>} logs servers
 * @property {boolean} requestList a request began or ended
 * @property {Set<string>} requests
 * @property {boolean} prompts a prompt opened or closed, or is to be shown
 * @property {boolean} history
 * @property {boolean} problems
 * @property {boolean} dropped
 */

/**
 * The state of the connection to the hub. unresponsive: it was ready, but the hub does not answer at the moment.
 * @typedef {{ state: 'starting' | 'ready' | 'unresponsive' | 'failed', message: string }} Connection
 */

/**
 * @typedef {object} State
 * @property {Connection} connection is ready after a welcome
 * @property {string} hubId
 * @property {string} windowId
 * @property {string} hubVersion
 * @property {number} ahead milliseconds that this machine's clock is ahead of the hub's
 * @property {Map<string, Server>} servers by name, in config order
 * @property {Map<string, ServerLog>} logs by server
 * @property {Map<string, Request>} requests the open requests by id, oldest first
 * @property {Map<string, Prompt>} prompts the open prompts by id, oldest first
 * @property {Map<string, PromptClosed>} closed how prompts ended, by id; the painter empties it
 * @property {Ended[]} history oldest first
 * @property {Ended[]} endedNow the entries since the last paint; of those of a snapshot, only the ends of requests that
 *   the page knew. The painter empties it
 * @property {string | undefined} reveal the prompt that is to be shown, '' for the oldest; the painter clears it
 * @property {{ server?: string, entryText?: string, bundle?: boolean } | undefined} openAdd the host
 *   wants to open the form that adds a server; the painter clears it
 * @property {import('./subscribed.js').Subscriptions} subscriptions of this window
 * @property {ConfigProblem[]} problems
 * @property {{ logMessages: number, notices: number }} dropped what this window has missed since the snapshot
 * @property {Changed} changed
 */

/** @returns {Changed} */
function nothing() {
  return {
    connection: false,
    serverList: false,
    servers: new Set(),
    tools: new Set(),
    offers: new Set(),
    subscribed: false,
    logs: new Set(),
    requestList: false,
    requests: new Set(),
    prompts: false,
    history: false,
    problems: false,
    dropped: false,
  };
}

/** @returns {State} */
export function createState() {
  return {
    connection: { state: 'starting', message: '' },
    hubId: '',
    windowId: '',
    hubVersion: '',
    ahead: Infinity,
    servers: new Map(),
    logs: new Map(),
    requests: new Map(),
    prompts: new Map(),
    closed: new Map(),
    history: [],
    endedNow: [],
    reveal: undefined,
    openAdd: undefined,
    subscriptions: new Map(),
    problems: [],
    dropped: { logMessages: 0, notices: 0 },
    changed: { ...nothing(), connection: true },
  };
}

/** @param {State} state @returns {Changed} */
export function takeChanged(state) {
  const changed = state.changed;
  state.changed = nothing();
  return changed;
}

/** Returns the union of two changes. @param {Changed} a @param {Changed} b @returns {Changed} */
export function joined(a, b) {
  return {
    connection: a.connection || b.connection,
    serverList: a.serverList || b.serverList,
    requestList: a.requestList || b.requestList,
    prompts: a.prompts || b.prompts,
    history: a.history || b.history,
    problems: a.problems || b.problems,
    dropped: a.dropped || b.dropped,
    subscribed: a.subscribed || b.subscribed,
    servers: new Set([...a.servers, ...b.servers]),
    tools: new Set([...a.tools, ...b.tools]),
    offers: new Set([...a.offers, ...b.offers]),
    logs: new Set([...a.logs, ...b.logs]),
    requests: new Set([...a.requests, ...b.requests]),
  };
}

/** Returns the present time by the hub's clock, in milliseconds. @param {State} state */
export function hubNow(state) {
  return Date.now() - (Number.isFinite(state.ahead) ? state.ahead : 0);
}

/**
 * @param {Connection} before
 * @param {NonNullable<AttachResponse['hubConnection']>} told
 * @returns {Connection}
 */
function connectionAfter(before, { state: how, message = '' }) {
  const welcomed = before.state === 'ready' || before.state === 'unresponsive';
  switch (how) {
    case 'HUB_CONNECTION_STATE_FAILED':
      return { state: 'failed', message };
    case 'HUB_CONNECTION_STATE_UNRESPONSIVE':
      return { state: welcomed ? 'unresponsive' : 'starting', message };
    case 'HUB_CONNECTION_STATE_RESPONSIVE':
      return welcomed ? { state: 'ready', message: '' } : before;
    default:
      return { state: 'starting', message };
  }
}

/**
 * Changes the state by a message.
 * @param {State} state
 * @param {AttachResponse} message
 * @returns {boolean} false: the message means nothing to the page
 */
export function transition(state, message) {
  const { changed } = state;
  // Every message takes some time to arrive. So the smallest difference is the best estimate of how far this machine's
  // clock is ahead.
  if (message.time) state.ahead = Math.min(state.ahead, Date.now() - Date.parse(message.time));

  if (message.hubConnection) {
    state.connection = connectionAfter(state.connection, message.hubConnection);
    changed.connection = true;
  } else if (message.welcome) {
    const { hubId = '', windowId = '', version: hubVersion = '' } = message.welcome;
    if (state.hubId !== '' && state.hubId !== hubId) loseHub(state);
    if (state.hubId !== hubId) state.ahead = Infinity;
    Object.assign(state, { hubId, windowId, hubVersion, connection: { state: 'ready', message: '' } });
    changed.connection = true;
  } else if (message.snapshot) {
    replaceAll(state, message.snapshot);
  } else if (message.serverChanged?.server) {
    serverChanged(state, message.serverChanged.server, message.serverChanged.removed ?? false);
  } else if (message.toolsChanged) {
    changed.tools.add(message.toolsChanged.server ?? '');
  } else if (message.resourcesChanged ?? message.mcpPromptsChanged) {
    changed.offers.add((message.resourcesChanged ?? message.mcpPromptsChanged)?.server ?? '');
  } else if (message.resourceUpdated) {
    const { server = '', uri = '' } = message.resourceUpdated;
    if (resourceChanged(state.subscriptions, server, uri)) changed.subscribed = true;
  } else if (message.configReloaded) {
    state.problems = message.configReloaded.problems ?? [];
    changed.problems = true;
  } else if (message.dropped) {
    const { logMessages = 0, notices = 0 } = message.dropped;
    state.dropped = {
      logMessages: state.dropped.logMessages + Number(logMessages),
      notices: state.dropped.notices + Number(notices),
    };
    changed.dropped = true;
    // It is not known what has changed, and at which server.
    if (Number(notices) > 0) {
      for (const name of state.servers.keys()) {
        changed.tools.add(name);
        changed.offers.add(name);
      }
      if (anyChanged(state.subscriptions)) changed.subscribed = true;
    }
  } else if (message.logMessage) {
    const server = message.logMessage.server ?? '';
    logArrived(logOf(state, server), message.logMessage, message.time);
    changed.logs.add(server);
  } else if (message.mcpRequestStarted?.request) {
    const { request } = message.mcpRequestStarted;
    state.requests.set(request.requestId ?? '', request);
    readBegan(state.subscriptions, request);
    requestChanged(state, request.requestId, true);
  } else if (message.mcpRequestProgressed) {
    const { requestId = '', state: now, progress, task } = message.mcpRequestProgressed;
    const request = state.requests.get(requestId);
    if (request) Object.assign(request, now && { state: now }, progress && { progress }, task && { task });
    requestChanged(state, requestId, false);
  } else if (message.mcpRequestCancelling) {
    const { requestId = '', cancellation } = message.mcpRequestCancelling;
    const request = state.requests.get(requestId);
    if (request) Object.assign(request, { state: 'REQUEST_STATE_CANCELLING' }, cancellation && { cancellation });
    requestChanged(state, requestId, false);
  } else if (message.mcpRequestCancelled) {
    requestEnded(
      state,
      { endTime: message.time, cancelled: message.mcpRequestCancelled },
      message.mcpRequestCancelled.requestId,
    );
  } else if (message.mcpRequestCancelDelivery) {
    if (cancelDelivered(state.history, message.mcpRequestCancelDelivery)) changed.history = true;
  } else if (message.mcpRequestFinished) {
    requestEnded(
      state,
      { endTime: message.time, finished: message.mcpRequestFinished },
      message.mcpRequestFinished.requestId,
    );
  } else if (message.promptOpened?.prompt) {
    const { prompt } = message.promptOpened;
    state.prompts.set(prompt.promptId ?? '', prompt);
    changed.prompts = true;
  } else if (message.promptClosed) {
    const { promptId = '' } = message.promptClosed;
    if (state.prompts.delete(promptId)) state.closed.set(promptId, message.promptClosed);
    changed.prompts = true;
  } else if (message.revealPrompt) {
    state.reveal = message.revealPrompt.promptId ?? '';
    changed.prompts = true;
  } else if (message.openAddServer) {
    state.openAdd = message.openAddServer;
    changed.serverList = true;
  } else {
    return false;
  }
  return true;
}

/** @param {State} state @param {string | undefined} requestId @param {boolean} list */
function requestChanged(state, requestId, list) {
  state.changed.requests.add(requestId ?? '');
  state.changed.requestList ||= list;
}

/** @param {State} state @param {import('./ended.js').End} end @param {string | undefined} requestId */
function requestEnded(state, end, requestId = '') {
  state.endedNow.push(addEnded(state.history, end, state.requests.get(requestId)));
  if (end.finished && readEnded(state.subscriptions, end.finished)) state.changed.subscribed = true;
  state.requests.delete(requestId);
  state.changed.history = true;
  requestChanged(state, requestId, true);
}

/** @param {State} state @param {string} server @returns {ServerLog} */
function logOf(state, server) {
  let log = state.logs.get(server);
  if (!log) state.logs.set(server, (log = freshLogs()));
  return log;
}

/**
 * Returns servers in config order. If the hub does not report places, they keep the order in which they came.
 * @param {State['servers']} servers
 * @returns {State['servers']}
 */
function inPlace(servers) {
  return new Map([...servers].sort(([, a], [, b]) => (a.place ?? 0) - (b.place ?? 0)));
}

/** @param {State} state @param {Server} server @param {boolean} removed */
function serverChanged(state, server, removed) {
  const { changed } = state;
  const name = server.name ?? '';
  const before = state.servers.get(name);
  if (!before !== removed || before?.place !== server.place) changed.serverList = true;
  if (removed) {
    state.servers.delete(name);
    state.logs.delete(name);
    for (const { uri } of subscriptionsOf(state.subscriptions, name))
      setSubscribed(state.subscriptions, name, uri, false);
    return;
  }
  state.servers.set(name, server);
  if (before?.place !== server.place) state.servers = inPlace(state.servers);
  stderrIs(logOf(state, name), server.stderr ?? []);
  changed.servers.add(name);
  changed.logs.add(name);
  if (server.state === 'SERVER_STATE_READY' && before?.state !== 'SERVER_STATE_READY') {
    changed.tools.add(name);
    changed.offers.add(name);
  }
}

/**
 * Replaces everything that the window knew by a snapshot, except what has ended, which stays.
 * @param {State} state @param {Snapshot} snapshot
 */
function replaceAll(state, snapshot) {
  const { changed, requests: before } = state;
  const gone = [...state.servers.keys(), ...before.keys()];
  const prompts = new Map((snapshot.prompts ?? []).map((p) => [p.promptId ?? '', p]));
  for (const [promptId, prompt] of state.prompts) {
    if (snapshot.laterPromptIds?.includes(promptId)) prompts.set(promptId, prompt);
    else if (!prompts.has(promptId))
      state.closed.set(promptId, { promptId, reason: t('while the connection to the hub was lost') });
  }
  state.servers = new Map((snapshot.servers ?? []).map((s) => [s.name ?? '', s]));
  for (const name of state.logs.keys()) if (!state.servers.has(name)) state.logs.delete(name);
  for (const [name, server] of state.servers) stderrIs(logOf(state, name), server.stderr ?? []);
  state.requests = new Map((snapshot.requests ?? []).map((r) => [r.requestId ?? '', r]));
  state.prompts = prompts;
  state.problems = snapshot.problems ?? [];
  state.dropped = { logMessages: 0, notices: 0 };
  const over = new Map(
    [...before].filter(([id, { startTime }]) => {
      const now = state.requests.get(id);
      return !now || now.startTime !== startTime;
    }),
  );
  state.endedNow.push(...joinHistory(state.history, snapshot.history ?? [], over));
  replaceSubscribed(state.subscriptions, snapshot.subscriptions ?? []);
  for (const id of [...gone, ...state.requests.keys()]) changed.requests.add(id);
  for (const name of [...gone, ...state.servers.keys()]) {
    changed.servers.add(name);
    changed.tools.add(name);
    changed.offers.add(name);
    changed.logs.add(name);
  }
  Object.assign(changed, {
    subscribed: true,
    connection: true,
    serverList: true,
    requestList: true,
    prompts: true,
    history: true,
    problems: true,
    dropped: true,
  });
}

/**
 * Is called when another hub process answers. The requests of the previous hub are over, and no message will report
 * that.
 * @param {State} state
 */
function loseHub(state) {
  sealHistory(state.history);
  for (const request of state.requests.values()) {
    state.endedNow.push(addLost(state.history, request));
    state.changed.requests.add(request.requestId ?? '');
  }
  state.requests.clear();
  Object.assign(state.changed, { requestList: true, history: true });
}

/**
 * Records that this window has subscribed or unsubscribed, according to the hub's reply: no event reports that.
 * @param {State} state @param {string} server @param {string} uri @param {boolean} on
 */
export function subscriptionSet(state, server, uri, on) {
  setSubscribed(state.subscriptions, server, uri, on);
  state.changed.subscribed = true;
}
