// Shows the result of a request to people: its texts, pictures, sounds and resources one after the other, or the whole
// result as a tree of JSON.

import { facts, fullName, prose } from '../questions/cardparts.js';
import { h, replace, show } from '../elements/dom.js';
import { loadMarkdown } from '../surface.js';
import { indexJson } from '../words/jsonindex.js';
import { nativeParse } from '../words/jsontext.js';
import { bytes, pretty, startOf, visible } from '../words/text.js';
import { jsonBlock } from './jsonblock.js';
import { jsonTree } from './jsontree.js';
import { markdownView, mayOpen, mostMarkdown, outsideLink } from './markdown.js';
import { mediaView, note } from './media.js';
import { saveContent } from './savecontent.js';
import { resourceReader } from './resource.js';
import { t } from '../words/t.js';
import type { MenuItem } from '../elements/menu.js';
import type { Page } from '../page.js';
import type { JsonIndex } from '../words/jsonindex.js';

/** The server of a result, and the id of its request if the hub keeps the result. */
export type Of = { page: Page; server: string; requestId?: string | undefined };

const mostText = 64 << 10;
const mostBlocks = 50;
/** A longer text is no line. */
const mostLine = 400;
const mostTried = 256 << 10;

/** One way to show a content. */
export type Way = { name: string; make: () => HTMLElement | Promise<HTMLElement> };

/** Returns a place that shows one of several views. They are made when they are first chosen. */
function viewPlace(ways: readonly Way[], changed: (chosen: number) => void = () => {}) {
  const place = h('div', { class: 'view' });
  const made: Map<Way, HTMLElement> = new Map();
  let chosen = -1;
  async function choose(at: number) {
    const way = ways[at];
    if (!way || at === chosen) return;
    chosen = at;
    changed(at);
    let view = made.get(way);
    if (!view) {
      try {
        view = await way.make();
      } catch (error) {
        view = note(t('It cannot be shown this way: {0}', error instanceof Error ? visible(error.message) : ''));
      }
      made.set(way, view);
    }
    if (chosen === at) replace(place, view);
  }
  return { place, choose, chosen: () => chosen };
}

export function choiceOfViews(label: string, ways: readonly Way[], first: number = 0) {
  const buttons = ways.map((way, at) =>
    h('button', { 'aria-pressed': 'false', 'text': way.name, 'onclick': () => void choose(at) }),
  );
  const { place, choose } = viewPlace(ways, (chosen) => {
    for (const [i, button] of buttons.entries()) button.setAttribute('aria-pressed', String(i === chosen));
  });
  const tabs = h('div', { 'class': 'tabs', 'role': 'group', 'aria-label': label }, ...buttons);
  show(tabs, ways.length > 1);
  void choose(first);
  return h('div', {}, tabs, place);
}

/** Returns a text as it is: a short line like other text on the page, more than that in letters of one width. */
export function plainText(text: string, label: string = t('Text')) {
  const shown = { dir: 'auto', text: visible(startOf(text, mostText)) };
  if (text.length <= mostLine && !text.includes('\n')) return h('p', { class: 'prose', ...shown });
  return h('pre', { 'class': 'code', 'tabindex': 0, 'role': 'group', 'aria-label': visible(label), ...shown });
}

/** Reports whether a text is JSON of an object or an array. A very long one is not tried. */
function isJson(text: string) {
  if (!/^\s*[{[]/.test(text) || text.length > mostTried) return false;
  try {
    nativeParse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns an element that shows a text: plain, as markdown if it looks like that, or as a tree if it is JSON.
 * @param mimeType as the server names it
 */
export function textView(text: string, mimeType: string = '') {
  const marked = /^text\/(?:x-)?markdown\b/i.test(mimeType);
  const likeJson = /^\s*[{[]/.test(text) && !/^\s*\[[^\]"{[]*\]\(/.test(text);
  const json: Way = { name: 'JSON', make: () => jsonBlock(text, 'JSON') };
  const ways: Way[] = [{ name: t('Text'), make: () => plainText(text) }];
  if (text.length <= mostMarkdown && (marked || looksMarked(text)))
    ways.push({ name: 'Markdown', make: async () => markdownView((await loadMarkdown()).parse(text)) });
  if (isJson(text)) ways.unshift(json);
  else if (likeJson) ways.push(json);
  return choiceOfViews(t('Show the text as'), ways, marked ? ways.findIndex(({ name }) => name === 'Markdown') : 0);
}

/** Reports whether a text looks like markdown. */
const looksMarked = (text: string) =>
  /^(?:#{1,6} |[-*+] |\d+\. |> |```|~~~|\|.*\|)/m.test(text.slice(0, mostText))
  || /\*\*\S|\]\(|`[^`]+`/.test(text.slice(0, mostText));

/** @param at of a resource with content */
function contentView(of: Of, index: JsonIndex, at: number) {
  const uri = index.said(at, 'uri');
  const mimeType = index.said(at, 'mimeType');
  const text = index.member(at, 'text');
  const blob = index.said(at, 'blob');
  const kind = text === undefined ? 'blob' : 'text';
  const value = text ?? index.member(at, 'blob');
  return h(
    'div',
    { class: 'resource', dataset: { testid: 'resource' } },
    facts([
      [t('Resource'), fullName(uri)],
      [t('Type'), mimeType && visible(startOf(mimeType, 200))],
    ]),
    text !== undefined
      ? textView(index.string(text), mimeType)
      : blob !== ''
        ? mediaView(mimeType, blob)
        : note(t('It has no content.')),
    value !== undefined && index.kind(value) === 'string' && saveContent(of, index, value, { kind, uri, mimeType }),
  );
}

function linkView(of: Of, index: JsonIndex, at: number) {
  const uri = index.said(at, 'uri');
  const size = index.member(at, 'size');
  return h(
    'div',
    { class: 'resource', dataset: { testid: 'resource-link' } },
    facts([
      [t('Resource'), fullName(index.said(at, 'title') || index.said(at, 'name'))],
      [t('Address'), fullName(uri)],
      [t('Type'), visible(startOf(index.said(at, 'mimeType'), 200))],
      [t('Size'), size !== undefined && index.kind(size) === 'number' && bytes(index.source(size, 20))],
    ]),
    prose(startOf(index.said(at, 'description'), 4000)),
    resourceReader(of.page, of.server, uri, async (json, requestId) => {
      const read = await indexJson(json);
      const contents = read.member(0, 'contents');
      return h('div', {}, ...blocksOf(read, contents).map((one) => contentView({ ...of, requestId }, read, one)));
    }),
    mayOpen(uri) && h('p', {}, outsideLink(uri, t('Open in browser'))),
  );
}

function blockView(of: Of, index: JsonIndex, at: number) {
  const type = index.said(at, 'type');
  const data = index.said(at, 'data');
  const resource = index.member(at, 'resource');
  if (type === 'text') return textView(index.said(at, 'text'), index.said(at, 'mimeType'));
  const value = index.member(at, 'data');
  if ((type === 'image' || type === 'audio') && data !== '' && value !== undefined) {
    const mimeType = index.said(at, 'mimeType');
    return h('div', {}, mediaView(mimeType, data), saveContent(of, index, value, { kind: 'blob', uri: '', mimeType }));
  }
  if (type === 'resource' && resource !== undefined) return contentView(of, index, resource);
  if (type === 'resource_link') return linkView(of, index, at);
  return plainText(pretty(index.source(at, mostText)), type || t('Content'));
}

function blocksOf(index: JsonIndex, list: number | undefined) {
  return list === undefined || index.kind(list) !== 'array' ? [] : [...index.children(list)];
}

/** Returns functions that make the parts of a result; none if it is no result according to MCP. */
function partsOf(of: Of, index: JsonIndex) {
  const structured = index.member(0, 'structuredContent');
  const description = index.said(0, 'description');
  const messages = blocksOf(index, index.member(0, 'messages')).flatMap((at) => {
    const content = index.member(at, 'content');
    const inside =
      content === undefined ? [] : index.kind(content) === 'array' ? [...index.children(content)] : [content];
    const who = visible(startOf(index.said(at, 'role'), 100));
    return inside.map((block) => () => h('div', {}, h('h3', { text: who }), blockView(of, index, block)));
  });
  return [
    ...(messages.length && description ? [() => h('div', {}, prose(startOf(description, mostText)) || '')] : []),
    ...messages,
    ...blocksOf(index, index.member(0, 'content')).map((at) => () => blockView(of, index, at)),
    ...blocksOf(index, index.member(0, 'contents')).map((at) => () => contentView(of, index, at)),
    ...(structured === undefined || repeated(index, structured)
      ? []
      : [() => deferred(jsonBlock(index.source(structured), t('Structured content')))]),
  ];
}

/** Reports whether a text of the result has the structured content once more, as MCP recommends for older clients. */
function repeated(index: JsonIndex, structured: number) {
  const once = pretty(index.source(structured, mostText));
  return blocksOf(index, index.member(0, 'content')).some((at) => pretty(index.said(at, 'text')) === once);
}

/** Returns an element that shows a view as soon as it is made. */
function deferred(soon: Promise<HTMLElement>) {
  const place = h('div', {});
  soon.then(
    (view) => replace(place, view),
    (error: unknown) => replace(place, note(error instanceof Error ? visible(error.message) : '')),
  );
  return place;
}

/** Returns the items of a menu that choose between the views of a result. */
export type ViewItems = () => MenuItem[];

export async function resultView(of: Of, json: string): Promise<{ element: HTMLElement; items: ViewItems }> {
  let index: JsonIndex;
  try {
    index = await indexJson(json);
  } catch (error) {
    const why = note(error instanceof Error ? visible(error.message) : '');
    return { element: h('div', {}, why, plainText(pretty(startOf(json, mostText)), t('Result'))), items: () => [] };
  }
  const parts = partsOf(of, index);
  const ways: Way[] = [{ name: t('Show whole result as JSON'), make: () => jsonTree(index, t('Result')) }];
  if (parts.length > 0) ways.unshift({ name: t('Show content'), make: () => listed(parts) });
  const { place, choose, chosen } = viewPlace(ways);
  void choose(0);
  const items = () =>
    ways.length < 2
      ? []
      : ways.map(({ name }, at) => ({ text: name, checked: at === chosen(), act: () => void choose(at) }));
  return { element: place, items };
}

/** Returns the first parts, with a button that shows more of them. */
function listed(parts: readonly (() => HTMLElement)[]) {
  const list = h('div', { class: 'blocks' });
  let shown = 0;
  const more = h('button', { class: 'link', onclick: () => add() });
  const add = () => {
    list.append(...parts.slice(shown, shown + mostBlocks).map((make) => make()));
    shown = Math.min(parts.length, shown + mostBlocks);
    more.textContent = t('Show more ({0})', parts.length - shown);
    show(more, shown < parts.length);
  };
  add();
  return h('div', {}, list, more);
}
