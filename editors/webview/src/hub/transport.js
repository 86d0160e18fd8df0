// The two ways to the hub: a host that relays by postMessage, or a WebSocket. Both speak the proto3 JSON of the window
// stream.

import { nativeParse } from '../words/jsontext.js';
import { t } from '../words/t.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachRequestJson} AttachRequest */
/** @typedef {import('../../../host/src/gen/mcphub/v1/editor_pb.js').AttachResponseJson} AttachResponse */
/** @typedef {import('../surface.js').Surface} Surface */

/**
 * What a window keeps over a reload of its page. drafts: what was typed for open questions, by prompt. dismissedOf: the
 * hub of which the user has read what the one before it had ended.
 * @typedef {{ windowId: string, hubId: string, drafts?: Record<string, string>, dismissedOf?: string }} Memory
 */

/**
 * @typedef {object} Transport
 * @property {(message: AttachRequest) => boolean} post false: it reached nobody
 * @property {() => Memory | undefined} recall
 * @property {(memory: Memory) => void} remember
 * @property {boolean} open it takes messages from the start, without a hubConnection that says so
 */

/**
 * A webview of VS Code. The host says by hubConnection how it stands with the hub.
 * @param {(message: AttachResponse) => void} receive
 * @returns {Transport}
 */
export function relayTransport(receive) {
  const api = /** @type {import('vscode-webview').WebviewApi<Memory>} */ (acquireVsCodeApi());
  window.addEventListener('message', (event) => {
    if (isBelow(event.source)) return; // a view is no host, and to look at data takes as long as that is large
    const data = /** @type {unknown} */ (event.data);
    if (typeof data === 'object' && data !== null) receive(/** @type {AttachResponse} */ (data));
  });
  return {
    open: true,
    post: (message) => {
      api.postMessage(message);
      return true;
    },
    recall: () => api.getState(),
    remember: (memory) => void api.setState(memory),
  };
}

/**
 * Whether a message may come from a frame within this page, or from one that is gone already. What is within can name no
 * other sender, so this needs no name of the host's.
 * @param {MessageEventSource | null} source
 */
function isBelow(source) {
  let at = /** @type {Window | null} */ (source);
  if (at === window) return false;
  for (let step = 0; at && step < mostFrames; step++) {
    const parent = /** @type {Window | null} */ (at.parent); // null: its frame has gone
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
// WINDOW_SUPERSEDED: whoever took this window's place would lose it again to one that comes back.
const superseded = 4009;

/**
 * A WebSocket that comes back by itself. There is no host between, so it says itself by hubConnection how it stands.
 * @param {string} path
 * @param {(message: AttachResponse) => void} receive
 * @returns {Transport}
 */
export function socketTransport(path, receive) {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  /** @type {WebSocket | undefined} */
  let socket;
  let failures = 0;

  const connect = () => {
    const opening = new WebSocket(url, 'mcphub.v1.json');
    socket = opening;
    opening.onopen = () => receive({ hubConnection: { state: 'HUB_CONNECTION_STATE_READY' } });
    opening.onmessage = (event) => {
      failures = 0;
      receive(/** @type {AttachResponse} */ (nativeParse(String(event.data))));
    };
    opening.onclose = (event) => {
      if (event.code === superseded) {
        const message = t('This window goes on in another tab. Reload this page to open another window here.');
        receive({ hubConnection: { state: 'HUB_CONNECTION_STATE_FAILED', message } });
        return;
      }
      const delay = Math.min(firstDelay * 2 ** failures++, longestDelay);
      const why = event.reason === '' ? '' : ` (${event.reason})`;
      const message =
        failures > 3
          ? t(
              'The connection to McpHub is lost{0}. If the program has ended, start it again and open the address that it prints.',
              why,
            )
          : t('The connection to McpHub is lost{0}. Connecting again…', why);
      receive({ hubConnection: { state: 'HUB_CONNECTION_STATE_STARTING', message } });
      setTimeout(connect, delay);
    };
  };
  connect();

  return {
    open: false,
    post: (message) => {
      if (socket?.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      return true;
    },
    // A tab that was duplicated has the memory of another window that is open: only a reload is the same window.
    recall: () => {
      const entry = /** @type {PerformanceNavigationTiming | undefined} */ (
        performance.getEntriesByType('navigation')[0]
      );
      const kept = sessionStorage.getItem(memoryKey);
      return entry?.type === 'reload' && kept !== null ? /** @type {Memory} */ (nativeParse(kept)) : undefined;
    },
    remember: (memory) => sessionStorage.setItem(memoryKey, JSON.stringify(memory)),
  };
}
