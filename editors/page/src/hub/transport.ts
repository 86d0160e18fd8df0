// The transports to the hub: an editor or the page around a frame, which relay messages by postMessage, and a
// WebSocket.
// All carry the messages of the window stream as proto3 JSON.

import { nativeParse } from '../words/jsontext.js';
import { t } from '../words/t.js';
import type {
  AttachRequestJson as AttachRequest,
  AttachResponseJson as AttachResponse,
  OpenJson,
} from '../../../host/src/gen/mcphub/v1/editor_pb.js';
import type { WebviewApi } from 'vscode-webview';

/**
 * What a window keeps over a reload of its page. hubId: the hub that it was attached to. drafts: what was typed for
 * open questions, by prompt id. opens: what the host has opened.
 */
export type Memory = { windowId: string; hubId: string; drafts?: Record<string, string>; opens?: OpenJson };

export interface Transport {
  /** sends a message; false: it was not sent */
  post: (message: AttachRequest) => boolean;
  recall: () => Memory | undefined;
  remember: (memory: Memory) => void;
  /** messages can be sent from the start, before a hubConnection says so */
  open: boolean;
  /** runs a command of the host, where there is a host */
  run?: (command: string, args: readonly unknown[]) => void;
}

/**
 * Returns the transport of a webview of VS Code. The host reports the state of its connection to the hub by
 * hubConnection.
 */
export function relayTransport(receive: (message: AttachResponse) => void): Transport {
  const api: WebviewApi<Memory> = acquireVsCodeApi();
  window.addEventListener('message', (event) => {
    if (isBelow(event.source)) return; // a view is not the host; the first read of large data takes long
    const data = event.data as unknown;
    if (typeof data === 'object' && data !== null) receive(data);
  });
  return {
    open: true,
    post: (message) => {
      api.postMessage(message);
      return true;
    },
    // A message of its own, which the hub does not get: the host takes clicks of a person on links, but none of a
    // script, and such a click would lead the frame of the page to nowhere.
    run: (command, args) => api.postMessage({ runCommand: { command, args } }),
    recall: () => api.getState(),
    remember: (memory) => void api.setState(memory),
  };
}

/**
 * Returns the transport of a page in a frame, whose host is the page around it (showFrame). The frame has no origin,
 * and so no storage: a reload of the frame alone begins anew, and its relay knows its window.
 */
export function frameTransport(receive: (message: AttachResponse) => void): Transport {
  const around = window.parent;
  window.addEventListener('message', (event) => {
    const data = event.data as unknown;
    if (event.source === around && typeof data === 'object' && data !== null) receive(data);
  });
  return {
    open: true,
    post: (message) => {
      around.postMessage(message, '*'); // whoever has the frame is the host, wherever it comes from
      return true;
    },
    recall: () => undefined,
    remember: () => undefined,
  };
}

/**
 * Reports whether a message may come from a frame inside this page, or from one that was removed. A frame inside the
 * page cannot forge the source, so the origin of the host need not be known.
 */
function isBelow(source: MessageEventSource | null) {
  let at = source as Window | null;
  if (at === window) return false;
  for (let step = 0; at && step < mostFrames; step++) {
    const parent = at.parent as Window | null; // null: the frame was removed
    if (parent === window || !parent) return true;
    if (parent === at) return false; // the topmost window
    at = parent;
  }
  return true;
}

const mostFrames = 32;
const memoryKey = 'mcphub.window';
const firstDelay = 250;
const longestDelay = 10_000;
// WINDOW_SUPERSEDED: another stream has taken over this window. A reconnect would take the window from it again.
const superseded = 4009;
// The server does not know the session of this page. The reason of the close says how to get a link.
const linkNeeded = 4016;
const sessionKey = 'mcphub.session';

/**
 * What this page proves with that it may have a window: the first message on each socket. The session is a random text
 * that no other origin can read. In contrast to a cookie, which browsers send to every port of the host, it never
 * leaves this origin. It lasts as long as the tab, over reloads.
 */
export type Proof = { session: string; token?: string };

/**
 * Returns the proofs of this page, the best one first. With the token of a link, which works once, the page gets a new
 * session: the one that it has may have been sent to another program, which had this port before. A link that was used
 * before leaves the session as it is.
 */
function proofs(): Proof[] {
  const kept = sessionStorage.getItem(sessionKey);
  const before = kept === null ? [] : [{ session: kept }];
  const token = new URL(location.href).searchParams.get('token');
  if (token === null) return before;
  history.replaceState(history.state, '', location.pathname);
  return [{ session: crypto.randomUUID() + crypto.randomUUID(), token }, ...before];
}

/**
 * Returns the transport of a WebSocket, which reconnects by itself. There is no host in between, so the transport
 * itself reports the state of the connection, as hubConnection messages.
 */
export function socketTransport(path: string, receive: (message: AttachResponse) => void): Transport {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  let socket: WebSocket | undefined;
  let failures = 0;
  const proof = proofs();

  function keepSession() {
    if (proof[0]) sessionStorage.setItem(sessionKey, proof[0].session);
    else sessionStorage.removeItem(sessionKey);
  }

  function connect() {
    const opening = new WebSocket(url, 'mcphub.v1.json');
    socket = opening;
    opening.onopen = () => {
      opening.send(JSON.stringify(proof[0] ?? { session: '' }));
      receive({ hubConnection: { state: 'HUB_CONNECTION_STATE_READY' } });
    };
    opening.onmessage = (event) => {
      failures = 0;
      receive(nativeParse(String(event.data)) as AttachResponse);
    };
    opening.onclose = (event) => {
      if (event.code === linkNeeded) {
        proof.shift();
        keepSession();
        if (proof[0]) {
          connect();
          return;
        }
      }
      const why = whyOver(event);
      const state = why === undefined ? 'HUB_CONNECTION_STATE_STARTING' : 'HUB_CONNECTION_STATE_FAILED';
      if (why === undefined) setTimeout(connect, Math.min(firstDelay * 2 ** failures++, longestDelay));
      receive({ hubConnection: { state, message: why ?? whyLost(event.reason, failures > 3) } });
    };
  }

  keepSession();
  connect();

  return {
    open: false,
    post: (message) => {
      if (socket?.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      return true;
    },
    // A duplicated tab has a copy of the memory of a window that is still open. So the memory counts only after a
    // reload, when the window is the same.
    recall: () => {
      const entry = performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined;
      const kept = sessionStorage.getItem(memoryKey);
      return entry?.type === 'reload' && kept !== null ? (nativeParse(kept) as Memory) : undefined;
    },
    remember: (memory) => sessionStorage.setItem(memoryKey, JSON.stringify(memory)),
  };
}

/** Returns why a socket that was closed is not opened again, or undefined if it is. */
function whyOver({ code, reason }: CloseEvent) {
  if (code === superseded)
    return t('This window goes on in another tab. Reload this page to open another window here.');
  return code === linkNeeded ? t('This page opens with a link that works once. {0}', reason) : undefined;
}

/** @param long the connection has been lost for some time */
function whyLost(reason: string, long: boolean) {
  const why = reason === '' ? '' : ` (${reason})`;
  return long
    ? t(
        'The connection to McpHub is lost{0}. If the program has ended, start it again and open the address that it prints.',
        why,
      )
    : t('The connection to McpHub is lost{0}. Connecting again…', why);
}
