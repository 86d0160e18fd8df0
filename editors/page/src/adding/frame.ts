// What the forms of entries have in common, and how they show a write.

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

/** Returns what the pane shows for a form. */
export function frame(title: string, parts: HTMLElement[], buttons: HTMLElement[], close: () => void) {
  const element = h(
    'div',
    { 'class': 'adding stack', 'role': 'group', 'aria-label': title, 'dataset': { testid: 'adding' } },
    ...parts,
    h('div', { class: 'buttons' }, ...buttons, h('button', { text: t('Cancel'), onclick: close })),
  );
  return { element, title };
}
