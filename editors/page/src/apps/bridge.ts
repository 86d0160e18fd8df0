// The host's side of the protocol between a page and a view (MCP Apps 2026-01-26). It is one state, which is changed by
// the messages of the view, by the outcome of its call, and by the page. It does not use the DOM. Messages of a view
// are not trusted.

import { t } from '../words/t.js';
import { bucket } from './bucket.js';
export type Dict = { [key: string]: unknown };

export type DisplayMode = 'inline' | 'fullscreen';

/**
 * What a view may ask of the page. If a function throws, the view gets an error as the answer. A Refusal chooses its
 * code.
 */
export interface Asked {
  callTool: (params: Dict, signal: AbortSignal) => Promise<unknown>;
  readResource: (params: Dict, signal: AbortSignal) => Promise<unknown>;
  listTools: () => Promise<unknown>;
  /** returns false if the person does not want it */
  openLink: (url: string) => Promise<boolean>;
  message: (text: string) => void;
  modelContext: (text: string) => void;
  displayMode: (mode: DisplayMode) => void;
  log: (level: string, text: string) => void;
  resized: (height: number) => void;
  /** is called when the view must be closed */
  ended: (reason: string) => void;
}

export interface Opening {
  send: (message: Dict) => void;
  hostInfo: Dict;
  capabilities: Dict;
  context: () => Dict;
  asked: Asked;
}

export type Phase = 'waiting' | 'greeted' | 'live' | 'closing' | 'gone';

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
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const tooMany = new Refusal(-32000, 'Too many messages at once.');

const dict = (value: unknown): Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Dict) : {};
const words = (value: unknown) => (typeof value === 'string' ? value.slice(0, mostText) : '');

export function openBridge({ send, hostInfo, capabilities, context, asked }: Opening) {
  let phase: Phase = 'waiting';
  /** The display modes that the view has listed; undefined: it has listed none. */
  let modes: string[] | undefined;
  let mode: DisplayMode = 'inline';
  /** The params of the notification tool-input. */
  let input: Dict | undefined;
  let outcome: { method: string; params: unknown } | undefined;
  /** The changes since the answer to ui/initialize. They are sent when the view reports that it is initialized. */
  let owed: Dict = {};
  let toldInput = false;
  let toldOutcome = false;
  /** The open requests of the view, by their ids. */
  const open: Map<string | number, AbortController> = new Map();
  let tornDown: (() => void) | undefined;
  const fits = bucket(burst, perSecond);
  const mayDrop = bucket(mostDropped, droppedPerSecond);
  let calls = 0; // open calls of the view to its server; a person may be asked about each

  const note = (method: string, params: unknown) => send({ jsonrpc: '2.0', method, params });

  function tellCall() {
    if (phase !== 'live' || input === undefined) return;
    if (!toldInput) note('ui/notifications/tool-input', input);
    toldInput = true;
    if (outcome && !toldOutcome) {
      toldOutcome = true;
      note(outcome.method, outcome.params);
    }
  }

  function greet(params: Dict) {
    if (phase !== 'waiting') throw new Refusal(-32600, 'It is initialized already.');
    const listed = dict(params['appCapabilities'])['availableDisplayModes'];
    modes = Array.isArray(listed) && listed.length > 0 ? listed.map(String).slice(0, 8) : undefined;
    if (!allows(mode)) setMode('inline');
    phase = 'greeted';
    return { protocolVersion: revision, hostInfo, hostCapabilities: capabilities, hostContext: context() };
  }

  /** Only the person may make a view fill the page, where it hides everything else. The view may leave that mode. */
  function display(wanted: unknown) {
    if (wanted === 'inline' && wanted !== mode) setMode(wanted);
    return { mode };
  }

  const allows = (wanted: string) => modes === undefined || modes.includes(wanted) || wanted === 'inline';

  function setMode(now: DisplayMode) {
    mode = now;
    asked.displayMode(now);
    contextChanged({ displayMode: now });
  }

  function contextChanged(changed: Dict) {
    if (phase === 'greeted') owed = { ...owed, ...changed };
    if (phase === 'live') note('ui/notifications/host-context-changed', changed);
  }

  /**
   * Returns the texts of content blocks, each on its own line.
   * @param content one block, or a list
   */
  const textOf = (content: unknown) =>
    (Array.isArray(content) ? content : [content])
      .slice(0, 50)
      .map((block) => words(dict(block)['text']))
      .filter((text) => text !== '')
      .join('\n')
      .slice(0, mostText);

  function answerTo(method: string, params: Dict, signal: AbortSignal): unknown {
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

  async function atServer(make: Asked['callTool'], params: Dict, signal: AbortSignal) {
    if (calls >= mostCalls) throw new Refusal(-32000, 'Too many calls are open.');
    calls++;
    try {
      return await make(params, signal);
    } finally {
      calls--;
    }
  }

  async function link(url: unknown) {
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

  async function answer(id: string | number, method: string, params: Dict) {
    const stop = new AbortController();
    if (open.has(id) || open.size >= mostOpen) {
      const { code, message } = open.has(id)
        ? new Refusal(-32600, 'This id is in use.')
        : new Refusal(-32000, 'Too many requests are open.');
      send({ jsonrpc: '2.0', id, error: { code, message } });
      return;
    }
    open.set(id, stop);
    let said: Dict;
    try {
      said = { result: await answerTo(method, params, stop.signal) };
    } catch (error) {
      const { message } = error instanceof Error ? error : new Refusal(-32603, 'It failed.');
      said = { error: { code: error instanceof Refusal ? error.code : -32603, message } };
    }
    open.delete(id);
    if (phase !== 'gone' && !stop.signal.aborted) send({ jsonrpc: '2.0', id, ...said });
  }

  function heard(method: string, params: Dict) {
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
      const id = params['requestId'] as string | number;
      open.get(id)?.abort(words(params['reason']).slice(0, 256));
    }
  }

  function stopAll(reason: string) {
    for (const stop of open.values()) stop.abort(reason);
  }

  return {
    /** Takes a message that the view has posted. */
    receive(data: unknown) {
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
        else if (named) void answer(id as string | number, method, dict(message['params']));
      } else if (id === 'teardown') tornDown?.();
    },
    /** Is called when the arguments of the call are known; undefined: they cannot be read. */
    given(given: Dict | undefined) {
      input ??= { ...(given && { arguments: given }) };
      tellCall();
    },
    /** @param result as the server has returned it */
    result(result: unknown) {
      outcome ??= { method: 'ui/notifications/tool-result', params: result };
      tellCall();
    },
    /** Is called when it is known that there will be no result. */
    cancelled(reason: string) {
      outcome ??= { method: 'ui/notifications/tool-cancelled', params: { reason } };
      tellCall();
    },
    contextChanged,
    /** Is called when the person has chosen a display mode. */
    show(now: DisplayMode) {
      if (allows(now) && now !== mode) setMode(now);
    },
    allows,
    get mode() {
      return mode;
    },
    get phase() {
      return phase;
    },
    /** Asks the view to end, and waits for its answer, but no longer than teardownLimit. */
    async teardown(reason: string) {
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
