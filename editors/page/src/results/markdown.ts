// Shows markdown as elements. The parser returns tokens, and no HTML is ever made: everything that is no element of
// this list is shown as text. Pictures are not loaded. The editor or the browser opens the links.

import { h } from '../elements/dom.js';
import { visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Token } from '../gen/markdown.js';
import type { Child } from '../elements/dom.js';

const elements = [
  'p',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'ul',
  'ol',
  'li',
  'blockquote',
  'hr',
  'pre',
  'code',
  'em',
  'strong',
  's',
  'br',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
] as const;
const mostElements = 20_000;
/** Maximum length of a text that is parsed as markdown, in UTF-16 units. */
export const mostMarkdown = 256 << 10;

/** Reports whether an address may be opened outside the page. */
export function mayOpen(address: string) {
  try {
    return ['http:', 'https:', 'mailto:'].includes(new URL(address).protocol);
  } catch {
    return false;
  }
}

/**
 * Returns a link that the editor or the browser opens outside the page. Its text is not trusted, so the host that it
 * leads to is shown after the text.
 */
export function outsideLink(address: string, ...text: Child[]) {
  const { href, host, protocol } = new URL(address);
  const link = h('a', { href, target: '_blank', rel: 'noopener noreferrer', title: visible(address) }, ...text);
  link.dataset['leads'] = protocol === 'mailto:' ? 'mail' : host;
  return link;
}

export function markdownView(tokens: readonly Token[]) {
  const root = h('div', { class: 'markdown', dir: 'auto', dataset: { testid: 'markdown' } });
  let left = mostElements;
  const fill = (into: HTMLElement, list: readonly Token[]) => {
    const open: HTMLElement[] = [into];
    for (const token of list) {
      const parent = open.at(-1) ?? into;
      if (left-- <= 0) return;
      if (token.children && token.type === 'inline') fill(parent, token.children);
      else if (token.nesting > 0) open.push(append(parent, token));
      else if (token.nesting < 0) {
        if (open.length > 1) open.pop();
      } else single(parent, token);
    }
  };
  fill(root, tokens);
  if (left <= 0) root.append(h('p', { class: 'muted', text: t('The rest is left out: open it in the editor.') }));
  return root;
}

/** @param token opens an element */
function append(parent: HTMLElement, token: Token) {
  const href = token.attrs?.find(([name]) => name === 'href')?.[1] ?? '';
  const tag = elements.find((known) => known === token.tag);
  let element = h('span', {});
  if (token.tag === 'a') element = mayOpen(href) ? outsideLink(href) : h('span', { title: visible(href) });
  else if (token.hidden)
    return parent.appendChild(element); // the paragraph of a tight list
  else if (tag !== undefined) element = heading(tag) ?? h(tag, start(token));
  parent.append(element);
  return element;
}

/** Returns a heading of a lower level than the headings of the page. */
const heading = (tag: string) =>
  /^h\d$/.test(tag)
    ? h('div', { 'class': `md-${tag}`, 'role': 'heading', 'aria-level': Math.min(6, Number(tag[1]) + 2) })
    : undefined;

function start(token: Token) {
  const number = token.tag === 'ol' ? token.attrs?.find(([name]) => name === 'start')?.[1] : undefined;
  return number !== undefined && /^\d{1,9}$/.test(number) ? { start: number } : {};
}

/** @param token neither opens nor closes an element */
function single(parent: HTMLElement, token: Token) {
  switch (token.type) {
    case 'text':
    case 'text_special':
      parent.append(visible(token.content));
      return;
    case 'softbreak':
      parent.append('\n');
      return;
    case 'hardbreak':
      parent.append(h('br'));
      return;
    case 'hr':
      parent.append(h('hr'));
      return;
    case 'code_inline':
      parent.append(h('code', { text: visible(token.content) }));
      return;
    case 'fence':
    case 'code_block':
      parent.append(
        h('pre', {
          'class': 'code',
          'tabindex': 0,
          'role': 'group',
          'aria-label': t('Code'),
          'text': visible(token.content.replace(/\n$/, '')),
        }),
      );
      return;
    case 'image': {
      const source = token.attrs?.find(([name]) => name === 'src')?.[1] ?? '';
      const words = t('Picture: {0}', visible(token.content) || visible(source.slice(0, 100)));
      parent.append(mayOpen(source) ? outsideLink(source, words) : words);
      return;
    }
    default:
      parent.append(visible(token.content));
  }
}
