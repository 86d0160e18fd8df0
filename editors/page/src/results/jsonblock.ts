// JSON for people: a short one as an indented text, a long one as a tree in which one can search.

import { announce } from '../elements/announce.js';
import { h } from '../elements/dom.js';
import { copyButton } from '../elements/icon.js';
import { indexJson } from '../words/jsonindex.js';
import { pretty, visible } from '../words/text.js';
import { jsonTree } from './jsontree.js';
import { t } from '../words/t.js';

const mostText = 4 << 10;
const mostLines = 40;
const string = /("(?:[^"\\]|\\.)*")(\s*:)?/g;

/** Rejects if the text is long, and is no JSON. */
export async function jsonBlock(json: string, label: string): Promise<HTMLElement> {
  const text = json.length > mostText ? '' : pretty(json);
  return text === '' || text.split('\n').length > mostLines
    ? jsonTree(await indexJson(json), label)
    : shortJson(text, json, label);
}

/** Returns an indented text of JSON, with the names of its members in their colour. */
function shortJson(text: string, json: string, label: string) {
  const pre = h('pre', { 'class': 'json-text', 'tabindex': 0, 'role': 'group', 'aria-label': label });
  let at = 0;
  for (const { 0: all, 1: name, 2: colon, index } of text.matchAll(string)) {
    if (!colon) continue;
    pre.append(visible(text.slice(at, index)), h('span', { class: 'key', text: visible(name) }));
    at = index + all.length - colon.length;
  }
  pre.append(visible(text.slice(at)));
  const copy = copyButton(t('Copy {0}', label), () => json, announce);
  return h('div', { class: 'part' }, h('span', { class: 'acts' }, copy), pre);
}
