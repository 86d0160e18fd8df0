// The requests of a view to its server. The hub makes them as requests of this window, with the usual approvals, and
// only to the server of the view.

import { bytes, visible } from '../words/text.js';
import { nativeParse } from '../words/jsontext.js';
import { readPart, readResult, Unread } from '../results/read.js';
import { t } from '../words/t.js';
import { Refusal } from './bridge.js';
import { bucket } from './bucket.js';
import type { Page, Reply } from '../page.js';

/** the call whose view it is */
export type Of = { requestId: string; server: string };

/** Maximum size of one result for a view, in bytes. */
export const mostResult = 8 << 20;
/** How many bytes of tool lists a view may get: at once, and additionally each second. */
const mostOfLists = 2 * mostResult;
const ofListsPerSecond = 256 << 10;

export function callTool(page: Page, of: Of, params: Record<string, unknown>, signal: AbortSignal) {
  const name = params['name'];
  const given = params['arguments'];
  if (typeof name !== 'string' || name === '') throw new Refusal(-32602, 'The call names no tool.');
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given)))
    throw new Refusal(-32602, 'The arguments are no object.');
  const argumentsJson = given === undefined ? '' : JSON.stringify(given);
  return carried(page, signal, (requestId) =>
    page.call('CallTool', { requestId, server: of.server, tool: name, argumentsJson, ...ofView(page, of) }),
  );
}

export function readResource(page: Page, of: Of, params: Record<string, unknown>, signal: AbortSignal) {
  const uri = params['uri'];
  if (typeof uri !== 'string' || uri === '') throw new Refusal(-32602, 'The address of a resource is missing.');
  return carried(page, signal, (requestId) =>
    page.call('ReadResource', { requestId, server: of.server, uri, ...ofView(page, of) }),
  );
}

/** The tools of the server that a view may see. They are kept until they change. */
export class ToolLists {
  readonly #page: Page;
  readonly #server: string;
  readonly #fits = bucket(mostOfLists, ofListsPerSecond);
  #kept: ReturnType<typeof listTools> | undefined;
  /** The size of the last list, in bytes: the view may get the next one if there is room for as much. */
  #size = 0;

  constructor(page: Page, { server }: Of) {
    this.#page = page;
    this.#server = server;
  }

  /** Is called after the tools have changed. */
  forget() {
    this.#kept = undefined;
  }

  /** Returns the answer to tools/list. Throws a Refusal. */
  async get() {
    if (!this.#fits(this.#size)) throw new Refusal(-32000, 'It has asked for its tools too often.');
    this.#kept ??= listTools(this.#page, this.#server).catch((error: unknown) => {
      this.#kept = undefined;
      throw error;
    });
    const { size, list } = await this.#kept;
    this.#size = Math.min(mostResult, size);
    if (!list) throw new Refusal(-32000, tooLong(size));
    return list;
  }
}

/** Returns the tools with their size. list is undefined if they are too long. */
async function listTools(page: Page, server: string) {
  const { response, error } = await page.call('ListTools', { server, allowCached: true });
  if (error) throw new Refusal(-32000, visible(error.message));
  const tools = (response?.tools ?? []).filter((tool) => !tool.hiddenFromApps);
  const size = tools.reduce((sum, { definitionJson }) => sum + (definitionJson?.length ?? 0), 0);
  if (size > mostResult) return { size, list: undefined };
  return { size, list: { tools: tools.map((tool) => nativeParse(tool.definitionJson ?? '{}')) } };
}

/** @param size in bytes */
export const tooLong = (size: number) => t('It is too large for a view: {0}.', bytes(size));

/** Returns why something could not be read, in words for people. */
export const whyUnread = (error: unknown, otherwise: string) =>
  error instanceof Unread && error.size > 0
    ? tooLong(error.size)
    : error instanceof Error && error.message !== ''
      ? error.message
      : otherwise;

const ofView = (page: Page, of: Of) => ({ appRequestId: of.requestId, ownerWindowId: page.state.windowId });

/**
 * Makes a request for a view, and returns its result. Throws a Refusal.
 * @param signal cancels the request, with the reason of the signal
 */
async function carried(page: Page, signal: AbortSignal, begin: (requestId: string) => Promise<Reply>) {
  const requestId = crypto.randomUUID();
  const cancel = () => {
    const reason = typeof signal.reason === 'string' && signal.reason !== '' ? { reason: signal.reason } : {};
    void page.ask({ cancelMcpRequest: { requestId, ...reason } });
  };
  signal.addEventListener('abort', cancel, { once: true });
  const { error } = await begin(requestId);
  signal.removeEventListener('abort', cancel);
  const entry = page.state.history.findLast((one) => one.requestId === requestId);
  const refused = entry?.finished?.mcpError;
  if (refused) throw new Refusal(Number(refused.code ?? -32603), refused.message ?? '');
  if (error) {
    const said = entry?.cancelled?.cancellation?.reason ?? '';
    throw new Refusal(-32000, said === '' ? (error.message ?? '') : `It was cancelled: ${said}`);
  }
  signal.throwIfAborted();
  const call: Page['call'] = (method, request) => page.call(method, request, signal);
  try {
    const text = entry
      ? await readResult({ call }, entry, mostResult)
      : await readPart(call, requestId, 'REQUEST_PART_RESULT', mostResult);
    return nativeParse(text);
  } catch (error) {
    throw new Refusal(-32000, whyUnread(error, t('The result could not be read.')));
  }
}
