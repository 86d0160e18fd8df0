// The keys of the page: "?" lists them, and Alt+Q goes to the open question, wherever the focus is.

import { h } from './dom.js';
import { t } from '../words/t.js';

/** Reports whether a person types text into target. */
const typesInto = (target: EventTarget | null) =>
  target instanceof HTMLElement
  && target.matches('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]');

/**
 * @param options editor: the page is in VS Code, which has keys of its own for questions and requests
 * @returns show opens the list of the keys
 */
export function pageKeys({ editor, toQuestion }: { editor: boolean; toQuestion: () => void }): { show: () => void } {
  const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const chord = (key: string) => [mac ? t('Cmd+Alt+M') : t('Ctrl+Alt+M'), key];
  const rows: [what: string, ...keys: string[][]][] = [
    [t('Go to the open question'), [mac ? t('Option+Q') : t('Alt+Q')], ...(editor ? [chord('Q')] : [])],
    ...(editor
      ? ([
          [t('Answer a question'), chord('A')],
          [t('Cancel a request'), chord('S')],
        ] as [string, ...string[][]][])
      : []),
    [t('Move in a list of servers, tools or requests'), ['↑'], ['↓'], [t('Home')], [t('End')]],
    [t('Find in a list by the start of a name'), ['a', 'b', t('c …')]],
    [t('Open or close what is in a list'), ['→'], ['←'], [t('Enter')]],
    [t('Go from a list to the next part of the page'), [t('Tab')]],
    [t('Dismiss a question; leave a field for a reason'), [t('Esc')]],
    [t('Show these keys'), ['?']],
  ];
  const close = h('button', { class: 'secondary', text: t('Close') });
  const dialog = h(
    'dialog',
    { 'class': 'keys', 'aria-labelledby': 'keys-title', 'dataset': { testid: 'keys' } },
    h('h2', { id: 'keys-title', text: t('Keys') }),
    h(
      'dl',
      {},
      ...rows.flatMap(([what, ...all]) => [
        h('dt', { text: what }),
        h(
          'dd',
          {},
          ...all.flatMap((keys, i) => [
            i > 0 ? t(' or ') : '',
            ...keys.flatMap((key) => [h('kbd', { text: key }), ' ']),
          ]),
        ),
      ]),
    ),
    close,
  );
  close.addEventListener('click', () => dialog.close());
  document.body.append(dialog);
  const show = () => {
    if (!dialog.open) dialog.showModal();
  };
  document.addEventListener('keydown', (event) => {
    if (event.isComposing || event.defaultPrevented || event.ctrlKey || event.metaKey) return;
    if (event.key === '?' && !event.altKey && !typesInto(event.target)) show();
    else if (event.code === 'KeyQ' && event.altKey && !event.shiftKey && !dialog.open) toQuestion();
    else return;
    event.preventDefault();
  });
  return { show };
}
