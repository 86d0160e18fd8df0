// Buttons that end something: at once, with a reason, or, if calls would be lost, after a second click.

import { h, setText, show } from '../elements/dom.js';
import { icon } from '../elements/icon.js';
import { holdsFocus } from '../elements/keepfocus.js';
import { menuButton } from '../elements/menu.js';
import { once } from '../elements/press.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { IconName } from '../elements/icon.js';
import type { Page } from '../page.js';

export interface CancelControl {
  /** the button, and the menu beside it */
  element: HTMLElement;
  /** the field for the reason */
  field: HTMLElement;
  /** says whether the cancel is on its way: until the request is final, or the cancel was refused */
  sent: (is: boolean) => void;
  isSent: () => boolean;
}

interface Cancel {
  label: string;
  /** what is cancelled, for people who do not see where the button is */
  about: string;
  testid: string;
  act: (reason: string) => void;
}

/** Returns a button that cancels something, with a menu that offers to give a reason. */
export function cancelControl({ label, about, testid, act }: Cancel): CancelControl {
  const what = about ? t('{0} {1}', label, about) : label;
  let sent = false;
  // The second click would fall on the button that has moved into the place of this one.
  const onclick = once(() => finish(''));
  const button = h('button', { 'text': label, 'aria-label': what, 'dataset': { testid }, onclick });
  const field = reasonField(about);
  const line = h('span', { class: 'reason', hidden: true }, field);
  const items = () => [{ text: t('{0} with a reason…', label), testid: `${testid}-with-reason`, act: ask }];
  const menu = menuButton('down', t('More for {0}', what), items, `${testid}-more`);

  function ask() {
    show(line, true);
    field.focus();
  }
  function finish(reason: string) {
    if (sent) return;
    if (holdsFocus(line)) button.focus();
    show(line, false);
    field.value = '';
    act(reason);
  }
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.isComposing) finish(field.value.trim());
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    menu.button.focus();
    show(line, false);
  });
  return {
    element: h('span', { class: 'split' }, button, menu.element),
    field: line,
    isSent: () => sent,
    sent: (is) => {
      if (is === sent) return;
      sent = is;
      if (is && (holdsFocus(line) || holdsFocus(menu.element))) button.focus();
      // The attribute "disabled" would lose the focus.
      button.setAttribute('aria-disabled', String(is));
      setText(button, is ? t('Cancelling…') : label);
      button.setAttribute('aria-label', is ? (about ? t('Cancelling {0}', about) : t('Cancelling…')) : what);
      show(menu.element, !is);
      if (is) show(line, false);
    },
  };
}

const reasonField = (about: string) =>
  h('input', {
    'type': 'text',
    'maxlength': 256,
    'autocomplete': 'off',
    'aria-label': about ? t('Reason to cancel {0}', about) : t('Reason to cancel everything'),
    'placeholder': t('Reason, then Enter'),
  });

/**
 * Returns a button that, if there is a reason to, shows a question after the first click and acts after the second. It
 * forgets the first click when it loses the focus.
 * @param options glyph: the button shows this icon, and its label only as a tooltip. question: returns what the second
 * click does, or "" if nothing is lost and the first click may act
 */
export function confirmButton({
  label,
  about,
  testid,
  glyph,
  question,
  act,
}: {
  label: string;
  about: string;
  testid?: string;
  glyph?: IconName | undefined;
  question: () => string;
  act: () => Promise<unknown>;
}) {
  let asked = false;
  let busy = false;
  const button = h('button', {
    'class': glyph ? 'icon' : '',
    'aria-label': t('{0} {1}', label, about),
    'title': glyph && label,
    'dataset': testid ? { testid } : {},
    'onclick': ({ detail: clicks }: MouseEvent) => void click(clicks),
    'onblur': () => ask(''),
  });

  function ask(text: string) {
    asked = text !== '';
    button.classList.toggle('asking', asked);
    if (glyph) button.classList.toggle('icon', !asked);
    button.replaceChildren(text === '' && glyph ? icon(glyph) : text || label);
    button.setAttribute('aria-label', text || t('{0} {1}', label, about));
  }
  async function click(clicks: number) {
    if (busy || (asked && clicks > 1)) return; // a person who double-clicks has not read the question
    const text = question();
    if (text !== '' && !asked) {
      ask(text);
      return;
    }
    ask('');
    busy = true;
    button.setAttribute('aria-disabled', 'true');
    await act();
    busy = false;
    button.removeAttribute('aria-disabled');
  }
  ask('');
  return button;
}

/**
 * Returns a button that restarts a server.
 * @param question returns what else that ends, or ''
 * @param say shows why it was refused
 */
export const restartButton = (
  { call }: Pick<Page, 'call'>,
  server: string,
  question: () => string,
  say: (problem: string) => void,
) =>
  confirmButton({
    label: t('Restart server'),
    about: shortName(server),
    testid: 'restart-server',
    question,
    act: async () => say(visible((await call('RestartServer', { server })).error?.message)),
  });
