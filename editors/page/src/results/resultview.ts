// Shows the result of a request to people: its texts, pictures, sounds and resources one after the other, or the whole
// result as a tree of JSON.

import { facts, fullName, prose } from '../questions/cardparts.js';
import { h, replace, show } from '../elements/dom.js';
import { loadMarkdown } from '../surface.js';
import { indexJson } from '../words/jsonindex.js';
import { bytes, pretty, startOf, visible } from '../words/text.js';
import { jsonTree } from './jsontree.js';
import { markdownView, mayOpen, mostMarkdown, outsideLink } from './markdown.js';
import { mediaView, note } from './media.js';
import { saveContent } from './savecontent.js';
import { resourceReader } from './resource.js';
import { t } from '../words/t.js';
import type { Page } from '../page.js';
import type { JsonIndex } from '../words/jsonindex.js';

/** The server of a result, and the id of its request if the hub keeps the result. */
export type Of = { page: Page; server: string; requestId?: string | undefined };

const mostText = 64 << 10;
const mostBlocks = 50;

/** One way to show a content. */
export type Way = { name: string; make: () => HTMLElement | Promise<HTMLElement> };

export function choiceOfViews(label: string, ways: readonly Way[], first: number = 0) {
  const place = h('div', { class: 'view' });
  const made: Map<Way, HTMLElement> = new Map();
  let chosen = -1;
  const buttons = ways.map((way, at) =>
    h('button', {
      'class': 'tab',
      'aria-pressed': 'false',
      'text': way.name,
      'onclick': () => void choose(at),
    }),
  );
  async function choose(at: number) {
    const way = ways[at];
    if (!way || at === chosen) return;
    chosen = at;
    for (const [i, button] of buttons.entries()) button.setAttribute('aria-pressed', String(i === at));
    let view = made.get(way);
    if (!view) {
      try {
        view = await way.make();
      } catch (error) {
        view = note(t('It cannot be shown so: {0}', error instanceof Error ? visible(error.message) : ''));
      }
      made.set(way, view);
    }
    if (chosen === at) replace(place, view);
  }
  const tabs = h('div', { 'class': 'tools tabs', 'role': 'group', 'aria-label': label }, ...buttons);
  show(tabs, ways.length > 1);
  void choose(first);
  return h('div', {}, tabs, place);
}

export const plainText = (text: string, label: string = t('Text')) =>
  h('pre', {
    'class': 'code',
    'tabindex': 0,
    'role': 'group',
    'aria-label': visible(label),
    'dir': 'auto',
    'text': visible(startOf(text, mostText)),
  });

const treeOf = async (text: string) => jsonTree(await indexJson(text), 'JSON');

/**
 * Returns an element that shows a text: plain, as markdown if it looks like that, or as a tree if it is JSON.
 * @param mimeType as the server names it
 */
export function textView(text: string, mimeType: string = '') {
  const marked = /^text\/(?:x-)?markdown\b/i.test(mimeType);
  const json = /^\s*[{[]/.test(text) && !/^\s*\[[^\]"{[]*\]\(/.test(text);
  const ways: Way[] = [{ name: t('Text'), make: () => plainText(text) }];
  if (text.length <= mostMarkdown && (marked || looksMarked(text)))
    ways.push({ name: 'Markdown', make: async () => markdownView((await loadMarkdown()).parse(text)) });
  if (json) ways.push({ name: 'JSON', make: () => treeOf(text) });
  return choiceOfViews(t('Show the text as'), ways, marked && ways.length > 1 ? 1 : 0);
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
    mayOpen(uri) && h('p', {}, outsideLink(uri, t('Open in the browser'))),
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
    return inside.map((block) => () => h('div', {}, h('h4', { text: who }), blockView(of, index, block)));
  });
  return [
    ...(messages.length && description ? [() => h('div', {}, prose(startOf(description, mostText)) || '')] : []),
    ...messages,
    ...blocksOf(index, index.member(0, 'content')).map((at) => () => blockView(of, index, at)),
    ...blocksOf(index, index.member(0, 'contents')).map((at) => () => contentView(of, index, at)),
    ...(structured === undefined
      ? []
      : [() => h('div', {}, h('h4', { text: t('Structured content') }), deferred(treeOf(index.source(structured))))]),
  ];
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

export async function resultView(of: Of, json: string): Promise<HTMLElement> {
  let index: JsonIndex;
  try {
    index = await indexJson(json);
  } catch (error) {
    return h(
      'div',
      {},
      note(error instanceof Error ? visible(error.message) : ''),
      plainText(pretty(startOf(json, mostText)), t('Result')),
    );
  }
  const parts = partsOf(of, index);
  const tree = { name: 'JSON', make: () => jsonTree(index, t('Result')) };
  if (parts.length === 0) return choiceOfViews(t('Show the result as'), [tree]);
  return choiceOfViews(t('Show the result as'), [{ name: t('Content'), make: () => listed(parts) }, tree]);
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
