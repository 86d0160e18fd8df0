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

type Phase = 'waiting' | 'greeted' | 'live' | 'closing' | 'gone';

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

const dict = (value: unknown): Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Dict) : {};
const words = (value: unknown) => (typeof value === 'string' ? value.slice(0, mostText) : '');

export const openBridge = (opening: Opening): Bridge => new Bridge(opening);

export class Bridge {
  readonly #opening: Opening;
  readonly #requests: Requests;
  #phase: Phase = 'waiting';
  /** The display modes that the view has listed; undefined: it has listed none. */
  #modes: string[] | undefined;
  #mode: DisplayMode = 'inline';
  /** The params of the notification tool-input. */
  #input: Dict | undefined;
  #outcome: { method: string; params: unknown } | undefined;
  /** The changes since the answer to ui/initialize. They are sent when the view reports that it is initialized. */
  #owed: Dict = {};
  #toldInput = false;
  #toldOutcome = false;
  #tornDown: (() => void) | undefined;
  readonly #fits = bucket(burst, perSecond);
  readonly #mayDrop = bucket(mostDropped, droppedPerSecond);

  constructor(opening: Opening) {
    this.#opening = opening;
    this.#requests = new Requests((answer) => {
      if (this.#phase !== 'gone') opening.send(answer);
    });
  }

  get mode() {
    return this.#mode;
  }

  /** Takes a message that the view has posted. */
  receive(data: unknown) {
    const message = dict(data);
    const { id, method } = message;
    if (this.#phase === 'gone' || message['jsonrpc'] !== '2.0') return;
    // Sizes do not count: an animation sends many. Only the newest one matters, and the page limits how often it
    // takes one.
    if ((method !== sizeChanged || id !== undefined) && !this.#fits()) this.#drop(id, method);
    else if (typeof method === 'string') {
      const params = dict(message['params']);
      if (id === undefined) this.#heard(method, params);
      else if (isId(id)) void this.#requests.answer(id, (signal) => this.#answerTo(method, params, signal));
    } else if (id === 'teardown') this.#tornDown?.();
  }

  /** Is called when the arguments of the call are known; undefined: they cannot be read. */
  given(given: Dict | undefined) {
    this.#input ??= { ...(given && { arguments: given }) };
    this.#tellCall();
  }

  /** @param result as the server has returned it */
  result(result: unknown) {
    this.#outcome ??= { method: 'ui/notifications/tool-result', params: result };
    this.#tellCall();
  }

  /** Is called when it is known that there will be no result. */
  cancelled(reason: string) {
    this.#outcome ??= { method: 'ui/notifications/tool-cancelled', params: { reason } };
    this.#tellCall();
  }

  contextChanged(changed: Dict) {
    if (this.#phase === 'greeted') this.#owed = { ...this.#owed, ...changed };
    if (this.#phase === 'live') this.#note('ui/notifications/host-context-changed', changed);
  }

  /** Is called when the person has chosen a display mode. */
  show(now: DisplayMode) {
    if (this.#allows(now) && now !== this.#mode) this.#setMode(now);
  }

  /** Asks the view to end, and waits for its answer, but no longer than teardownLimit. */
  async teardown(reason: string) {
    this.#requests.stopAll(reason);
    if (this.#phase === 'live') {
      this.#phase = 'closing';
      const answered = new Promise((resolve) => (this.#tornDown = () => resolve(undefined)));
      this.#opening.send({ jsonrpc: '2.0', id: 'teardown', method: 'ui/resource-teardown', params: { reason } });
      await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, teardownLimit))]);
    }
    this.#phase = 'gone';
  }

  #note(method: string, params: unknown) {
    this.#opening.send({ jsonrpc: '2.0', method, params });
  }

  #tellCall() {
    if (this.#phase !== 'live' || this.#input === undefined) return;
    if (!this.#toldInput) this.#note('ui/notifications/tool-input', this.#input);
    this.#toldInput = true;
    if (this.#outcome && !this.#toldOutcome) {
      this.#toldOutcome = true;
      this.#note(this.#outcome.method, this.#outcome.params);
    }
  }

  #drop(id: unknown, method: unknown) {
    if (!this.#mayDrop()) this.#opening.asked.ended(t('It sent too many messages.'));
    else if (isId(id) && typeof method === 'string')
      this.#opening.send(errorOf(id, new Refusal(-32000, 'Too many messages at once.')));
  }

  #greet(params: Dict) {
    if (this.#phase !== 'waiting') throw new Refusal(-32600, 'It is initialized already.');
    const { hostInfo, capabilities, context } = this.#opening;
    const listed = dict(params['appCapabilities'])['availableDisplayModes'];
    this.#modes = Array.isArray(listed) && listed.length > 0 ? listed.map(String).slice(0, 8) : undefined;
    if (!this.#allows(this.#mode)) this.#setMode('inline');
    this.#phase = 'greeted';
    return { protocolVersion: revision, hostInfo, hostCapabilities: capabilities, hostContext: context() };
  }

  #allows(wanted: string) {
    return this.#modes === undefined || this.#modes.includes(wanted) || wanted === 'inline';
  }

  #setMode(now: DisplayMode) {
    this.#mode = now;
    this.#opening.asked.displayMode(now);
    this.contextChanged({ displayMode: now });
  }

  /** Only the person may make a view fill the page, where it hides everything else. The view may leave that mode. */
  #display(wanted: unknown) {
    if (wanted === 'inline' && wanted !== this.#mode) this.#setMode(wanted);
    return { mode: this.#mode };
  }

  #answerTo(method: string, params: Dict, signal: AbortSignal): unknown {
    if (method === 'ui/initialize') return this.#greet(params);
    if (method === 'ping') return {};
    if (this.#phase !== 'live') throw new Refusal(-32600, 'It is not initialized.');
    const { asked } = this.#opening;
    switch (method) {
      case 'tools/call':
        return this.#requests.atServer(() => asked.callTool(bounded(params), signal));
      case 'resources/read':
        return this.#requests.atServer(() => asked.readResource(bounded(params), signal));
      case 'tools/list':
        return this.#requests.atServer(() => asked.listTools());
      case 'ui/open-link':
        return openLink(params['url'], asked);
      case 'ui/message':
        asked.message(textOf(params['content']));
        return {};
      case 'ui/update-model-context':
        asked.modelContext(modelContextOf(params));
        return {};
      case 'ui/request-display-mode':
        return this.#display(params['mode']);
      default:
        throw new Refusal(-32601, `This host has no ${method.slice(0, 100)}.`);
    }
  }

  #heard(method: string, params: Dict) {
    const { asked } = this.#opening;
    if (method === 'ui/notifications/initialized') this.#initialized();
    else if (this.#phase !== 'live') return;
    else if (method === sizeChanged) {
      const height = params['height'];
      if (typeof height === 'number' && Number.isFinite(height)) asked.resized(height);
    } else if (method === 'ui/notifications/request-teardown') asked.ended('');
    else if (method === 'notifications/message') {
      const data = params['data'];
      asked.log(words(params['level']), words(typeof data === 'string' ? data : JSON.stringify(data ?? null)));
    } else if (method === 'notifications/cancelled')
      this.#requests.stop(params['requestId'], words(params['reason']).slice(0, 256));
  }

  #initialized() {
    if (this.#phase !== 'greeted') return;
    this.#phase = 'live';
    if (Object.keys(this.#owed).length > 0) this.contextChanged(this.#owed);
    this.#owed = {};
    this.#tellCall();
  }
}

/** The open requests of a view. */
class Requests {
  readonly #send: (answer: Dict) => void;
  readonly #open: Map<unknown, AbortController> = new Map();
  #calls = 0; // to its server; a person may be asked about each

  constructor(send: (answer: Dict) => void) {
    this.#send = send;
  }

  /** Answers with what make returns or throws, unless the request is stopped first. */
  async answer(id: string | number, make: (signal: AbortSignal) => unknown) {
    const used = this.#open.has(id);
    if (used || this.#open.size >= mostOpen) {
      const why = used ? new Refusal(-32600, 'This id is in use.') : new Refusal(-32000, 'Too many requests are open.');
      this.#send(errorOf(id, why));
      return;
    }
    const stop = new AbortController();
    this.#open.set(id, stop);
    let answer: Dict;
    try {
      answer = { jsonrpc: '2.0', id, result: await make(stop.signal) };
    } catch (error) {
      const { message } = error instanceof Error ? error : new Refusal(-32603, 'It failed.');
      answer = errorOf(id, error instanceof Refusal ? error : new Refusal(-32603, message));
    }
    this.#open.delete(id);
    if (!stop.signal.aborted) this.#send(answer);
  }

  /** Makes a request to the server of the view. */
  async atServer(make: () => Promise<unknown>) {
    if (this.#calls >= mostCalls) throw new Refusal(-32000, 'Too many calls are open.');
    this.#calls++;
    try {
      return await make();
    } finally {
      this.#calls--;
    }
  }

  stop(id: unknown, reason: string) {
    this.#open.get(id)?.abort(reason);
  }

  stopAll(reason: string) {
    for (const stop of this.#open.values()) stop.abort(reason);
  }
}

const isId = (id: unknown): id is string | number =>
  typeof id === 'string' ? id.length <= 200 : typeof id === 'number' && Number.isFinite(id);

const errorOf = (id: string | number, { code, message }: Refusal) => ({ jsonrpc: '2.0', id, error: { code, message } });

function bounded(params: Dict) {
  if (JSON.stringify(params).length > mostArguments) throw new Refusal(-32602, 'The arguments are too long.');
  return params;
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

/** Returns what ui/update-model-context tells: the texts, and then the structured content. */
function modelContextOf({ content = [], structuredContent }: Dict) {
  const structured = structuredContent === undefined ? '' : JSON.stringify(structuredContent).slice(0, mostText);
  return [textOf(content), structured].filter((one) => one !== '').join('\n');
}

async function openLink(url: unknown, asked: Asked) {
  if (typeof url !== 'string' || url.length > mostUrl) throw new Refusal(-32602, 'The address is missing or too long.');
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
