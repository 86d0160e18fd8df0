// The frame around the forms of entries, and how the forms show a write.

import { t } from '../words/t.js';
import { h } from '../elements/dom.js';
import { iconButton } from '../elements/icon.js';
import { visible } from '../words/text.js';
import type { ConfigWriteJson as ConfigWrite } from '../../../host/src/gen/mcphub/v1/config_pb.js';

/** Is shown in the place of a secret. */
export const dots = '••••••';

/**
 * Returns a text of a file with dots in the place of secrets, however the file quotes them. A short secret may be a
 * part of many words, so it is replaced only where it is a whole string.
 */
const without = (text: string, secrets: readonly string[]) =>
  [...new Set(secrets.flatMap((one) => [one, JSON.stringify(one).slice(1, -1)]))]
    .sort((a, b) => b.length - a.length)
    .reduce(
      (sum, one) =>
        one.length < 6
          ? sum.replaceAll(`"${one}"`, `"${dots}"`).replaceAll(`'${one}'`, `'${dots}'`)
          : sum.replaceAll(one, dots),
      text,
    );

/**
 * Returns the lines that a write removes and adds.
 * @param secrets are not shown
 */
export function written({ linesBefore = '', linesAfter = '' }: ConfigWrite, secrets: readonly string[] = []) {
  const part = (tag: 'del' | 'ins', sign: string, text: string) =>
    text !== ''
    && h(
      'li',
      {},
      h(
        tag,
        {},
        h('span', { class: 'diff-sign', text: sign }),
        h('span', { class: 'code exact', text: visible(without(text, secrets).replace(/\n$/, '')) }),
      ),
    );
  return h(
    'ul',
    { 'class': 'diff', 'tabindex': 0, 'aria-label': t('Lines of the file') },
    part('del', t('Removed'), linesBefore),
    part('ins', t('Added'), linesAfter),
  );
}

/** Returns the button that closes a form. */
export const closeButton = (label: string, act: () => void) =>
  iconButton('close', label, { onclick: act, dataset: { testid: 'adding-close' } });

export function frame(title: string, parts: HTMLElement[], buttons: HTMLElement[], close: () => void) {
  const heading = h('h3', { tabindex: -1, text: title });
  const element = h(
    'div',
    { 'class': 'card adding', 'role': 'group', 'aria-label': title, 'dataset': { testid: 'adding' } },
    h('div', { class: 'card-head' }, heading, closeButton(t('Close; what was typed is kept'), close)),
    h('div', { class: 'card-body' }, ...parts),
    h(
      'div',
      { class: 'card-buttons' },
      ...buttons,
      h('button', { class: 'secondary', text: t('Cancel'), onclick: close }),
    ),
  );
  return { element, heading, focus: () => heading.focus({ preventScroll: true }) };
}
