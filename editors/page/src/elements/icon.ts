// Icons in the colour of the text around them, drawn on a grid of 16 by 16 like those of VS Code's own views.

import { html } from 'lit-html';
import { h } from './dom.js';
import { t } from '../words/t.js';
import type { Props } from './dom.js';

const paths = {
  add: 'M8 2.5v11M2.5 8h11',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  cancelled: 'M13.5 8A5.5 5.5 0 1 1 2.5 8a5.5 5.5 0 0 1 11 0zM4.2 11.8 11.8 4.2',
  alert: 'M13.5 8A5.5 5.5 0 1 1 2.5 8a5.5 5.5 0 0 1 11 0zM8 5v3.5M8 10.8v.2',
  chat: 'M2.5 3.5h11v7H8l-3 2.5v-2.5H2.5z',
  check: 'M3 8.5 6.5 12 13 4.5',
  clock: 'M13.5 8A5.5 5.5 0 1 1 2.5 8a5.5 5.5 0 0 1 11 0zM8 5v3.3l2 1.4',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5v-8h7',
  denied: 'M13.5 8A5.5 5.5 0 1 1 2.5 8a5.5 5.5 0 0 1 11 0zM5.5 8h5',
  down: 'M4.5 6.5 8 10l3.5-3.5',
  error: 'M13.5 8A5.5 5.5 0 1 1 2.5 8a5.5 5.5 0 0 1 11 0zM6 6l4 4M10 6l-4 4',
  help: 'M6 6.2a2 2 0 1 1 2.9 1.8c-.7.4-.9.8-.9 1.5M8 11.8v.4M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z',
  more: 'M3.8 8h.01M8 8h.01M12.2 8h.01',
  question: 'M13.5 8A5.5 5.5 0 1 1 2.5 8a5.5 5.5 0 0 1 11 0zM6.3 6.3a1.7 1.7 0 1 1 2.4 1.6c-.5.3-.7.6-.7 1.1M8 11v.2',
  restart: 'M12.5 8a4.5 4.5 0 1 1-1.4-3.2M11.5 1.8v3.3H8.2',
  running: 'M8 2.5A5.5 5.5 0 1 1 2.5 8',
  search: 'M11 7a4 4 0 1 1-8 0 4 4 0 0 1 8 0zM10 10l3.5 3.5',
  server: 'M3 3.5h10v3.6H3zM3 8.9h10v3.6H3zM5 5.3h.1M5 10.7h.1',
  start: 'M4.5 2.8v10.4L13 8z',
  stop: 'M4 4h8v8H4z',
  undo: 'M5.5 3 3 5.5 5.5 8M3 5.5h6.5a3.5 3.5 0 1 1 0 7H6',
  warning: 'M8 2.5 14 13H2zM8 6.5V10M8 11.6v.1',
};
/** The icons that are drawn as an area; the others are drawn with lines. */
const filled: ReadonlySet<string> = new Set(['start', 'stop']);

export type IconName = keyof typeof paths;

const svg = 'http://www.w3.org/2000/svg';

/** Returns an icon. A screen reader skips it: the element around it must have a name. */
export function icon(name: IconName) {
  const element = document.createElementNS(svg, 'svg');
  const path = document.createElementNS(svg, 'path');
  const attributes = { 'viewBox': '0 0 16 16', 'class': 'glyph', 'aria-hidden': 'true', 'data-icon': name };
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  path.setAttribute('d', paths[name]);
  if (filled.has(name)) path.setAttribute('class', 'filled');
  element.append(path);
  return element;
}

/** Returns an icon for a template. */
export const glyph = (name: IconName, mark = '') =>
  html`<svg class="glyph ${mark}" viewBox="0 0 16 16" aria-hidden="true" data-icon=${name}>
    <path class=${filled.has(name) ? 'filled' : ''} d=${paths[name]}></path>
  </svg>`;

/** Returns a button that shows only an icon. A screen reader reads its label; the tooltip shows it. */
export function iconButton(name: IconName, label: string, props: Props = {}): HTMLButtonElement {
  const { class: more = '', ...rest } = props;
  return h('button', { 'class': `icon ${more}`.trim(), 'aria-label': label, 'title': label, ...rest }, icon(name));
}

/**
 * Returns a button that copies a text. From then on its icon and its tooltip show whether that succeeded.
 * @param tell announces the outcome to people who do not see the icon change
 */
export function copyButton(label: string, text: () => string, tell?: (said: string) => void) {
  const button = iconButton('copy', label, {
    onclick: () => {
      const done = (name: IconName, said: string) => {
        button.replaceChildren(icon(name));
        button.title = said;
        tell?.(said);
      };
      navigator.clipboard.writeText(text()).then(
        () => done('check', t('Copied')),
        () => done('close', t('Copying failed')),
      );
    },
  });
  return button;
}
