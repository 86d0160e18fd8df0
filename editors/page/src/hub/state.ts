// The state of the page, in one object. Messages of the window stream change it (transition), and so do replies about
// subscriptions (subscriptionSet). Nothing here uses the DOM.

import { addEnded, addLost, answeredLate, cancelDelivered, joinHistory, sealHistory } from './ended.js';
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
import type {
  AttachResponseJson as AttachResponse,
  OpenJson as Open,
  SnapshotJson as Snapshot,
} from '../../../host/src/gen/mcphub/v1/editor_pb.js';
import type {
  PromptClosedJson as PromptClosed,
  PromptJson as Prompt,
} from '../../../host/src/gen/mcphub/v1/prompt_pb.js';
import type { RequestJson as Request } from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type {
  ConfigProblemJson as ConfigProblem,
  ServerJson as Server,
} from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { End, Ended } from './ended.js';
import type { ServerLog } from './serverlog.js';
import type { Subscriptions } from './subscribed.js';

const flags = [
  'connection',
  'serverList', // a server was added, removed or moved, or the form that adds one is to open
  'subscribed', // the subscriptions of this window, or their marks
  'requestList', // a request began or ended
  'prompts', // a prompt opened or closed, or is to be shown
  'history',
  'opened', // what is opened
  'problems',
  'dropped',
] as const;

const sets = [
  'servers',
  'tools', // servers whose tools must be listed again
  'offers', // servers whose resources and prompts must be listed again
  'logs', // servers
  'requests',
] as const;

/** What must be painted again. The painter takes all of it with takeChanged. */
export type Changed = Record<(typeof flags)[number], boolean> & Record<(typeof sets)[number], Set<string>>;

/** The state of the connection to the hub. unresponsive: it was ready, but the hub does not answer at the moment. */
export type Connection = { state: 'starting' | 'ready' | 'unresponsive' | 'failed'; message: string };

export interface State {
  /** is ready after a welcome */
  connection: Connection;
  hubId: string;
  windowId: string;
  hubVersion: string;
  /** milliseconds that this machine's clock is ahead of the hub's */
  ahead: number;
  /** by name, in config order */
  servers: Map<string, Server>;
  /** by server */
  logs: Map<string, ServerLog>;
  /** the open requests by id, oldest first */
  requests: Map<string, Request>;
  /** the open prompts by id, oldest first */
  prompts: Map<string, Prompt>;
  /** how prompts ended, by id; the painter empties it */
  closed: Map<string, PromptClosed>;
  /** oldest first */
  history: Ended[];
  /**
   * the entries since the last paint; of those of a snapshot, only the ends of requests that the page knew. The painter
   * empties it
   */
  endedNow: Ended[];
  /** the prompt that is to be shown, '' for the oldest; the painter clears it */
  reveal: string | undefined;
  /** the host wants to open the form that adds a server; the painter clears it */
  openAdd: { server?: string; entryText?: string; bundle?: boolean } | undefined;
  /** the host wants to open this; the painter clears it */
  toOpen: Open | undefined;
  /** of this window */
  subscriptions: Subscriptions;
  problems: ConfigProblem[];
  /** what this window has missed since the snapshot */
  dropped: { logMessages: number; notices: number };
  changed: Changed;
}

const nothing = () =>
  Object.fromEntries([...flags.map((flag) => [flag, false]), ...sets.map((set) => [set, new Set()])]) as Changed;

export function createState(): State {
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
    toOpen: undefined,
    subscriptions: new Map(),
    problems: [],
    dropped: { logMessages: 0, notices: 0 },
    changed: { ...nothing(), connection: true },
  };
}

export function takeChanged(state: State): Changed {
  const changed = state.changed;
  state.changed = nothing();
  return changed;
}

/** Returns the union of two changes. */
export function joined(a: Changed, b: Changed): Changed {
  const all = nothing();
  for (const flag of flags) all[flag] = a[flag] || b[flag];
  for (const set of sets) all[set] = new Set([...a[set], ...b[set]]);
  return all;
}

/** Returns the present time by the hub's clock, in milliseconds. */
export function hubNow(state: State) {
  return Date.now() - (Number.isFinite(state.ahead) ? state.ahead : 0);
}

function connectionAfter(
  before: Connection,
  { state: how, message = '' }: NonNullable<AttachResponse['hubConnection']>,
): Connection {
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

type Messages = { [K in keyof AttachResponse]-?: NonNullable<AttachResponse[K]> };

/** Changes the state. Returns false if the message means nothing to the page. */
type Change<M> = (state: State, message: M, time: string | undefined) => unknown;

const changes: { [K in keyof Messages]?: Change<Messages[K]> } = {
  hubConnection: (state, how) => {
    state.connection = connectionAfter(state.connection, how);
    state.changed.connection = true;
  },
  welcome: (state, { hubId = '', windowId = '', version: hubVersion = '' }) => {
    if (state.hubId !== '' && state.hubId !== hubId) loseHub(state);
    if (state.hubId !== hubId) state.ahead = Infinity;
    Object.assign(state, { hubId, windowId, hubVersion, connection: { state: 'ready', message: '' } });
    state.changed.connection = true;
  },
  snapshot: (state, snapshot) => replaceAll(state, snapshot),
  serverChanged: (state, { server, removed = false }) => server !== undefined && serverChanged(state, server, removed),
  toolsChanged: ({ changed }, { server = '' }) => void changed.tools.add(server),
  resourcesChanged: ({ changed }, { server = '' }) => void changed.offers.add(server),
  mcpPromptsChanged: ({ changed }, { server = '' }) => void changed.offers.add(server),
  resourceUpdated: ({ changed, subscriptions }, { server = '', uri = '' }) => {
    if (resourceChanged(subscriptions, server, uri)) changed.subscribed = true;
  },
  configReloaded: (state, { problems = [] }) => {
    state.problems = problems;
    state.changed.problems = true;
  },
  dropped: (state, { logMessages = 0, notices = 0 }) => noticesDropped(state, Number(logMessages), Number(notices)),
  logMessage: (state, message, time) => {
    const { server = '' } = message;
    logArrived(logOf(state, server), message, time);
    state.changed.logs.add(server);
  },
  mcpRequestStarted: (state, { request }) => {
    if (!request) return false;
    state.requests.set(request.requestId ?? '', request);
    readBegan(state.subscriptions, request);
    requestChanged(state, request.requestId, true);
    return undefined;
  },
  mcpRequestProgressed: (state, { requestId, state: now, progress, task }) =>
    requestIs(state, requestId, { ...(now && { state: now }), ...(progress && { progress }), ...(task && { task }) }),
  mcpRequestCancelling: (state, { requestId, cancellation }) =>
    requestIs(state, requestId, { state: 'REQUEST_STATE_CANCELLING', ...(cancellation && { cancellation }) }),
  mcpRequestCancelled: (state, cancelled, endTime) => requestEnded(state, { endTime, cancelled }, cancelled.requestId),
  mcpRequestCancelDelivery: ({ changed, history }, delivery) => {
    if (cancelDelivered(history, delivery)) changed.history = true;
  },
  mcpRequestAnsweredLate: ({ changed, history }, answer) => {
    if (answeredLate(history, answer)) changed.history = true;
  },
  mcpRequestFinished: (state, finished, endTime) => requestEnded(state, { endTime, finished }, finished.requestId),
  promptOpened: ({ prompts, changed }, { prompt }) => {
    if (!prompt) return false;
    prompts.set(prompt.promptId ?? '', prompt);
    return (changed.prompts = true);
  },
  promptClosed: (state, closed) => {
    const { promptId = '' } = closed;
    if (state.prompts.delete(promptId)) state.closed.set(promptId, closed);
    state.changed.prompts = true;
  },
  revealPrompt: (state, { promptId = '' }) => {
    state.reveal = promptId;
    state.changed.prompts = true;
  },
  openAddServer: (state, what) => {
    state.openAdd = what;
    state.changed.serverList = true;
  },
  open: (state, what) => {
    state.toOpen = what;
  },
};

const allChanges = Object.entries(changes) as [keyof Messages, Change<unknown>][];

/**
 * Changes the state by a message.
 * @returns false: the message means nothing to the page
 */
export function transition(state: State, message: AttachResponse): boolean {
  // Every message takes some time to arrive. So the smallest difference is the best estimate of how far this machine's
  // clock is ahead.
  if (message.time) state.ahead = Math.min(state.ahead, Date.now() - Date.parse(message.time));
  return allChanges.some(([kind, change]) => message[kind] && change(state, message[kind], message.time) !== false);
}

/** @param notices events that this window did not get: it is not known what has changed, and at which server */
function noticesDropped(state: State, logMessages: number, notices: number) {
  const { changed, dropped } = state;
  state.dropped = { logMessages: dropped.logMessages + logMessages, notices: dropped.notices + notices };
  changed.dropped = true;
  if (notices === 0) return;
  for (const name of state.servers.keys()) {
    changed.tools.add(name);
    changed.offers.add(name);
  }
  if (anyChanged(state.subscriptions)) changed.subscribed = true;
}

/** Changes an open request. */
function requestIs(state: State, requestId: string = '', now: Partial<Request>) {
  const request = state.requests.get(requestId);
  if (request) Object.assign(request, now);
  requestChanged(state, requestId, false);
}

function requestChanged(state: State, requestId: string | undefined, list: boolean) {
  state.changed.requests.add(requestId ?? '');
  state.changed.requestList ||= list;
}

function requestEnded(state: State, end: End, requestId: string | undefined = '') {
  state.endedNow.push(addEnded(state.history, end, state.requests.get(requestId)));
  if (end.finished && readEnded(state.subscriptions, end.finished)) state.changed.subscribed = true;
  state.requests.delete(requestId);
  state.changed.history = true;
  requestChanged(state, requestId, true);
}

function logOf(state: State, server: string): ServerLog {
  let log = state.logs.get(server);
  if (!log) state.logs.set(server, (log = freshLogs()));
  return log;
}

/** Returns servers in config order. If the hub does not report places, they keep the order in which they came. */
function inPlace(servers: State['servers']): State['servers'] {
  return new Map([...servers].sort(([, a], [, b]) => (a.place ?? 0) - (b.place ?? 0)));
}

function serverChanged(state: State, server: Server, removed: boolean) {
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

/** Replaces everything that the window knew by a snapshot, except what has ended, which stays. */
function replaceAll(state: State, snapshot: Snapshot) {
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
  for (const flag of flags) changed[flag] ||= flag !== 'opened';
}

/**
 * Is called when another hub process answers. The requests of the previous hub are over, and no message will report
 * that.
 */
function loseHub(state: State) {
  sealHistory(state.history);
  for (const request of state.requests.values()) {
    state.endedNow.push(addLost(state.history, request));
    state.changed.requests.add(request.requestId ?? '');
  }
  state.requests.clear();
  Object.assign(state.changed, { requestList: true, history: true });
}

/** Records that this window has subscribed or unsubscribed, according to the hub's reply: no event reports that. */
export function subscriptionSet(state: State, server: string, uri: string, on: boolean) {
  setSubscribed(state.subscriptions, server, uri, on);
  state.changed.subscribed = true;
}
