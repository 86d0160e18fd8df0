// The resource that draws a view, with its metadata. It is read from its server by a request like any other.

import { nativeParse } from '../words/jsontext.js';
import { Unread } from '../results/read.js';
import { readResource } from './calls.js';
import { namedBy } from './policy.js';
import { t } from '../words/t.js';

/** @typedef {{ html: string, named: import('./policy.js').Named, border: boolean }} Resource */

const profile = /^text\/html\s*;\s*profile="?mcp-app"?$/i;
const mostListed = 20; // the query may find more resources than one: a URI may be the beginning of others

/**
 * Reads the resource of a view. Throws an Unread or a Refusal.
 * @param {import('../page.js').Page} page
 * @param {import('../page.js').ViewOf} of
 * @param {AbortSignal} signal cancels the request, with the reason of the signal
 * @returns {Promise<Resource>}
 */
export async function readView(page, of, signal) {
  const { server, uri } = of;
  return viewOf(await readResource(page, of, { uri }, signal), uri, () => listedAs(page, server, uri, signal));
}

/**
 * Returns `_meta.ui` of a view in the server's list of resources, or undefined if there is none or the server has no
 * list.
 * @param {import('../page.js').Page} page
 * @param {string} server
 * @param {string} uri
 * @param {AbortSignal} signal
 */
async function listedAs({ call }, server, uri, signal) {
  const { response } = await call('ListResources', { server, query: uri, limit: mostListed }, signal);
  const entry = response?.resources?.find((one) => one.uri === uri);
  return entry?.definitionJson ? dict(dict(nativeParse(entry.definitionJson))['_meta'])['ui'] : undefined;
}

/**
 * @param {unknown} result of resources/read
 * @param {string} uri
 * @param {() => Promise<unknown>} listed returns `_meta.ui` of the entry of resources/list, for a content that has none
 * @returns {Promise<Resource>}
 */
async function viewOf(result, uri, listed) {
  const contents = dict(result)['contents'];
  const all = (Array.isArray(contents) ? contents : []).map(dict);
  const one = all.find((content) => content['uri'] === uri) ?? all[0];
  if (!one) throw new Unread(t('The server has given nothing for this view.'));
  const { mimeType } = one;
  if (typeof mimeType !== 'string' || !profile.test(mimeType))
    throw new Unread(t('What the server has given is no view: its type is not text/html;profile=mcp-app.'));
  const ui = dict(dict(one['_meta'])['ui'] ?? (await listed()));
  return { html: htmlOf(one), named: namedBy(ui['csp']), border: ui['prefersBorder'] !== false };
}

/** @param {Record<string, unknown>} content */
function htmlOf({ text, blob }) {
  if (typeof text === 'string') return text;
  if (typeof blob !== 'string') throw new Unread(t('The view is empty.'));
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(blob), (c) => c.charCodeAt(0)));
  } catch {
    throw new Unread(t('The view is no base64.'));
  }
}

/** @param {unknown} value @returns {Record<string, unknown>} */
const dict = (value) =>
  typeof value === 'object' && value !== null ? /** @type {Record<string, unknown>} */ (value) : {};
