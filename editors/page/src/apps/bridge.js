// The host's side of the protocol between a page and a view (MCP Apps 2026-01-26). It is one state, which is changed by
// the messages of the view, by the outcome of its call, and by the page. It does not use the DOM. Messages of a view
// are not trusted.

import { t } from '../words/t.js';
import { bucket } from './bucket.js';
/** @typedef {{ [key: string]: unknown }} Dict */
/** @typedef {'inline' | 'fullscreen'} DisplayMode */

/**
 * What a view may ask of the page. If a function throws, the view gets an error as the answer. A Refusal chooses its
 * code.
 * @typedef {object} Asked
 * @property {(params: Dict, signal: AbortSignal) => Promise<unknown>} callTool
 * @property {(params: Dict, signal: AbortSignal) => Promise<unknown>} readResource
 * @property {() => Promise<unknown>} listTools
 * @property {(url: string) => Promise<boolean>} openLink returns false if the person does not want it
 * @property {(text: string) => void} message
 * @property {(text: string) => void} modelContext
 * @property {(mode: DisplayMode) => void} displayMode
 * @property {(level: string, text: string) => void} log
 * @property {(height: number) => void} resized
 * @property {(reason: string) => void} ended is called when the view must be closed
 */

/**
 * @typedef {object} Opening
 * @property {(message: Dict) => void} send
 * @property {Dict} hostInfo
 * @property {Dict} capabilities
 * @property {() => Dict} context
 * @property {Asked} asked
 */

/** @typedef {'waiting' | 'greeted' | 'live' | 'closing' | 'gone'} Phase */

const revision = '2026-01-26';
const mostOpen = 32;
const mostCalls = 8;
const burst = 200;
const perSecond = 50;
const mostDropped = 500;
const droppedPerSecond = 5;
const mostUrl = 2048;
const mostText = 64 << 10;
const mostArguments = 4 << 20;
const sizeChanged = 'ui/notifications/size-changed';
/** How long the page waits for the end of a view, in milliseconds. */
export const teardownLimit = 1500;

/** The error that a view gets if the page refuses its request. */
export class Refusal extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const tooMany = new Refusal(-32000, 'Too many messages at once.');

/** @param {unknown} value @returns {Dict} */
const dict = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? /** @type {Dict} */ (value) : {};
/** @param {unknown} value */
const words = (value) => (typeof value === 'string' ? value.slice(0, mostText) : '');

/** @param {Opening} opening */
export function openBridge({ send, hostInfo, capabilities, context, asked }) {
  /** @type {Phase} */
  let phase = 'waiting';
  /** The display modes that the view has listed; undefined: it has listed none. @type {string[] | undefined} */
  let modes;
  /** @type {DisplayMode} */
  let mode = 'inline';
  /** The params of the notification tool-input. @type {Dict | undefined} */
  let input;
  /** @type {{ method: string, params: unknown } | undefined} */
  let outcome;
  /**
   * The changes since the answer to ui/initialize. They are sent when the view reports that it is initialized.
   * @type {Dict}
   */
  let owed = {};
  let toldInput = false;
  let toldOutcome = false;
  /** The open requests of the view, by their ids. @type {Map<string | number, AbortController>} */
  const open = new Map();
  /** @type {(() => void) | undefined} */
  let tornDown;
  const fits = bucket(burst, perSecond);
  const mayDrop = bucket(mostDropped, droppedPerSecond);
  let calls = 0; // open calls of the view to its server; a person may be asked about each

  /** @param {string} method @param {unknown} params */
  const note = (method, params) => send({ jsonrpc: '2.0', method, params });

  function tellCall() {
    if (phase !== 'live' || input === undefined) return;
    if (!toldInput) note('ui/notifications/tool-input', input);
    toldInput = true;
    if (outcome && !toldOutcome) {
      toldOutcome = true;
      note(outcome.method, outcome.params);
    }
  }

  /** @param {Dict} params */
  function greet(params) {
    if (phase !== 'waiting') throw new Refusal(-32600, 'It is initialized already.');
    const listed = dict(params['appCapabilities'])['availableDisplayModes'];
    modes = Array.isArray(listed) && listed.length > 0 ? listed.map(String).slice(0, 8) : undefined;
    if (!allows(mode)) setMode('inline');
    phase = 'greeted';
    return { protocolVersion: revision, hostInfo, hostCapabilities: capabilities, hostContext: context() };
  }

  /**
   * Only the person may make a view fill the page, where it hides everything else. The view may leave that mode.
   * @param {unknown} wanted
   */
  function display(wanted) {
    if (wanted === 'inline' && wanted !== mode) setMode(wanted);
    return { mode };
  }

  /** @param {string} wanted */
  const allows = (wanted) => modes === undefined || modes.includes(wanted) || wanted === 'inline';

  /** @param {DisplayMode} now */
  function setMode(now) {
    mode = now;
    asked.displayMode(now);
    contextChanged({ displayMode: now });
  }

  /** @param {Dict} changed */
  function contextChanged(changed) {
    if (phase === 'greeted') owed = { ...owed, ...changed };
    if (phase === 'live') note('ui/notifications/host-context-changed', changed);
  }

  /** Returns the texts of content blocks, each on its own line. @param {unknown} content one block, or a list */
  const textOf = (content) =>
    (Array.isArray(content) ? content : [content])
      .slice(0, 50)
      .map((block) => words(dict(block)['text']))
      .filter((text) => text !== '')
      .join('\n')
      .slice(0, mostText);

  /** @param {string} method @param {Dict} params @param {AbortSignal} signal @returns {unknown} */
  function answerTo(method, params, signal) {
    if (method === 'ui/initialize') return greet(params);
    if (method === 'ping') return {};
    if (phase !== 'live') throw new Refusal(-32600, 'It is not initialized.');
    switch (method) {
      case 'tools/call':
      case 'resources/read':
        if (JSON.stringify(params).length > mostArguments) throw new Refusal(-32602, 'The arguments are too long.');
        return atServer(method === 'tools/call' ? asked.callTool : asked.readResource, params, signal);
      case 'tools/list':
        return atServer(asked.listTools, params, signal);
      case 'ui/open-link':
        return link(params['url']);
      case 'ui/message':
        asked.message(textOf(params['content']));
        return {};
      case 'ui/update-model-context': {
        const structured = params['structuredContent'];
        const text = structured === undefined ? '' : JSON.stringify(structured).slice(0, mostText);
        asked.modelContext([textOf(params['content'] ?? []), text].filter((one) => one !== '').join('\n'));
        return {};
      }
      case 'ui/request-display-mode':
        return display(params['mode']);
      default:
        throw new Refusal(-32601, `This host has no ${method.slice(0, 100)}.`);
    }
  }

  /** @param {Asked['callTool']} make @param {Dict} params @param {AbortSignal} signal */
  async function atServer(make, params, signal) {
    if (calls >= mostCalls) throw new Refusal(-32000, 'Too many calls are open.');
    calls++;
    try {
      return await make(params, signal);
    } finally {
      calls--;
    }
  }

  /** @param {unknown} url */
  async function link(url) {
    if (typeof url !== 'string' || url.length > mostUrl)
      throw new Refusal(-32602, 'The address is missing or too long.');
    let protocol = '';
    try {
      ({ protocol } = new URL(url));
    } catch {
      // It is no URL, and is refused below.
    }
    if (protocol !== 'https:' && protocol !== 'http:')
      throw new Refusal(-32602, 'Only addresses of http and https are opened.');
    if (!(await asked.openLink(url))) throw new Refusal(-32000, 'The user did not open it.');
    return {};
  }

  /** @param {string | number} id @param {string} method @param {Dict} params */
  async function answer(id, method, params) {
    const stop = new AbortController();
    if (open.has(id) || open.size >= mostOpen) {
      const { code, message } = open.has(id)
        ? new Refusal(-32600, 'This id is in use.')
        : new Refusal(-32000, 'Too many requests are open.');
      send({ jsonrpc: '2.0', id, error: { code, message } });
      return;
    }
    open.set(id, stop);
    /** @type {Dict} */
    let said;
    try {
      said = { result: await answerTo(method, params, stop.signal) };
    } catch (error) {
      const { message } = error instanceof Error ? error : new Refusal(-32603, 'It failed.');
      said = { error: { code: error instanceof Refusal ? error.code : -32603, message } };
    }
    open.delete(id);
    if (phase !== 'gone' && !stop.signal.aborted) send({ jsonrpc: '2.0', id, ...said });
  }

  /** @param {string} method @param {Dict} params */
  function heard(method, params) {
    if (method === 'ui/notifications/initialized') {
      if (phase !== 'greeted') return;
      phase = 'live';
      if (Object.keys(owed).length > 0) contextChanged(owed);
      owed = {};
      tellCall();
    } else if (phase !== 'live') return;
    else if (method === sizeChanged) {
      const height = params['height'];
      if (typeof height === 'number' && Number.isFinite(height)) asked.resized(height);
    } else if (method === 'ui/notifications/request-teardown') asked.ended('');
    else if (method === 'notifications/message') {
      const data = params['data'];
      asked.log(words(params['level']), words(typeof data === 'string' ? data : JSON.stringify(data ?? null)));
    } else if (method === 'notifications/cancelled') {
      const id = /** @type {string | number} */ (params['requestId']);
      open.get(id)?.abort(words(params['reason']).slice(0, 256));
    }
  }

  /** @param {string} reason */
  function stopAll(reason) {
    for (const stop of open.values()) stop.abort(reason);
  }

  return {
    /** Takes a message that the view has posted. @param {unknown} data */
    receive(data) {
      const message = dict(data);
      const { id, method } = message;
      if (phase === 'gone' || message['jsonrpc'] !== '2.0') return;
      const named = typeof id === 'string' ? id.length <= 200 : typeof id === 'number' && Number.isFinite(id);
      // Sizes do not count: an animation sends many. Only the newest one matters, and the page limits how often it
      // takes one.
      if ((method !== sizeChanged || id !== undefined) && !fits()) {
        if (!mayDrop()) asked.ended(t('It sent more messages than this page takes.'));
        else if (named && typeof method === 'string')
          send({ jsonrpc: '2.0', id, error: { code: tooMany.code, message: tooMany.message } });
        return;
      }
      if (typeof method === 'string') {
        if (id === undefined) heard(method, dict(message['params']));
        else if (named) void answer(/** @type {string | number} */ (id), method, dict(message['params']));
      } else if (id === 'teardown') tornDown?.();
    },
    /**
     * Is called when the arguments of the call are known; undefined: they cannot be read.
     * @param {Dict | undefined} given
     */
    given(given) {
      input ??= { ...(given && { arguments: given }) };
      tellCall();
    },
    /** @param {unknown} result as the server has returned it */
    result(result) {
      outcome ??= { method: 'ui/notifications/tool-result', params: result };
      tellCall();
    },
    /** Is called when it is known that there will be no result. @param {string} reason */
    cancelled(reason) {
      outcome ??= { method: 'ui/notifications/tool-cancelled', params: { reason } };
      tellCall();
    },
    contextChanged,
    /** Is called when the person has chosen a display mode. @param {DisplayMode} now */
    show(now) {
      if (allows(now) && now !== mode) setMode(now);
    },
    allows,
    get mode() {
      return mode;
    },
    get phase() {
      return phase;
    },
    /** Asks the view to end, and waits for its answer, but no longer than teardownLimit. @param {string} reason */
    async teardown(reason) {
      stopAll(reason);
      if (phase === 'live') {
        phase = 'closing';
        const answered = new Promise((resolve) => (tornDown = () => resolve(undefined)));
        send({ jsonrpc: '2.0', id: 'teardown', method: 'ui/resource-teardown', params: { reason } });
        await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, teardownLimit))]);
      }
      phase = 'gone';
    },
  };
}
