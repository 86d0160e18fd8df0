// The resource that draws a view, with its metadata. It is read from its server by a request like any other.

import { nativeParse } from '../words/jsontext.js';
import { Unread } from '../results/read.js';
import { readResource } from './calls.js';
import { namedBy } from './policy.js';
import { t } from '../words/t.js';
import type { Named } from './policy.js';
import type { Page, ViewOf } from '../page.js';

export type Resource = { html: string; named: Named; border: boolean };

const profile = /^text\/html\s*;\s*profile="?mcp-app"?$/i;
const mostListed = 20; // the query may find more resources than one: a URI may be the beginning of others

/**
 * Reads the resource of a view. Throws an Unread or a Refusal.
 * @param signal cancels the request, with the reason of the signal
 */
export async function readView(page: Page, of: ViewOf, signal: AbortSignal): Promise<Resource> {
  const { server, uri } = of;
  return viewOf(await readResource(page, of, { uri }, signal), uri, () => listedAs(page, server, uri, signal));
}

/**
 * Returns `_meta.ui` of a view in the server's list of resources, or undefined if there is none or the server has no
 * list.
 */
async function listedAs({ call }: Page, server: string, uri: string, signal: AbortSignal) {
  const { response } = await call('ListResources', { server, query: uri, limit: mostListed }, signal);
  const entry = response?.resources?.find((one) => one.uri === uri);
  return entry?.definitionJson ? dict(dict(nativeParse(entry.definitionJson))['_meta'])['ui'] : undefined;
}

/**
 * @param result of resources/read
 * @param listed returns `_meta.ui` of the entry of resources/list, for a content that has none
 */
async function viewOf(result: unknown, uri: string, listed: () => Promise<unknown>): Promise<Resource> {
  const contents = dict(result)['contents'];
  const all = (Array.isArray(contents) ? contents : []).map(dict);
  const one = all.find((content) => content['uri'] === uri) ?? all[0];
  if (!one) throw new Unread(t('The server returned nothing for this view.'));
  const { mimeType } = one;
  if (typeof mimeType !== 'string' || !profile.test(mimeType))
    throw new Unread(t('The server returned no view: its type is not text/html;profile=mcp-app.'));
  const ui = dict(dict(one['_meta'])['ui'] ?? (await listed()));
  return { html: htmlOf(one), named: namedBy(ui['csp']), border: ui['prefersBorder'] !== false };
}

function htmlOf({ text, blob }: Record<string, unknown>) {
  if (typeof text === 'string') return text;
  if (typeof blob !== 'string') throw new Unread(t('The view is empty.'));
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(blob), (c) => c.charCodeAt(0)));
  } catch {
    throw new Unread(t('The view is not base64.'));
  }
}

const dict = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
