// Buttons that end something: at once, with a reason, or, if calls would be lost, after a second click.

import { h, show } from '../elements/dom.js';
import { icon, iconButton } from '../elements/icon.js';
import { t } from '../words/t.js';
import type { IconName } from '../elements/icon.js';

let ids = 0;

/**
 * Returns a button that stops something, a button beside it that asks for a reason first, and the field for the reason.
 * @param options about: what is stopped, for people who do not see where the button is. worded: the button shows its
 * label, not an icon
 */
export function stopControl({
  label,
  about,
  testid,
  worded = false,
  stop,
}: {
  label: string;
  about: string;
  testid: string;
  worded?: boolean;
  stop: (reason: string) => void;
}): { buttons: HTMLElement; field: HTMLElement; disable: (disabled: boolean) => void } {
  const id = `reason-${++ids}`;
  const what = about ? t('{0} {1}', label, about) : label;
  let off = false;
  // The second click of a double click is meant for what the first click has stopped, not for the button that has moved
  // into its place.
  const onclick = ({ detail: clicks }: MouseEvent) => {
    if (clicks < 2) finish('');
  };
  const button = worded
    ? h('button', { class: 'stop', text: label, dataset: { testid }, onclick })
    : iconButton('stop', what, { class: 'stop', dataset: { testid }, onclick });
  const field = h('input', {
    'type': 'text',
    'maxlength': 256,
    'autocomplete': 'off',
    'aria-label': about ? t('Reason to stop {0}', about) : t('Reason to stop everything'),
    'placeholder': t('Reason, then Enter'),
  });
  const line = h('span', { class: 'reason', id, hidden: true }, field);
  const open = iconButton('chat', t('{0} with a reason', what), {
    'aria-expanded': 'false',
    'aria-controls': id,
    'dataset': { testid: `${testid}-with-reason` },
    'onclick': () => expand(Boolean(line.hidden)),
  });

  function expand(wanted: boolean) {
    show(line, wanted && !off);
    open.setAttribute('aria-expanded', String(wanted));
    if (wanted) field.focus();
  }
  function finish(reason: string) {
    if (off) return;
    if (line.contains(document.activeElement)) button.focus();
    expand(false);
    field.value = '';
    stop(reason);
  }
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.isComposing) finish(field.value.trim());
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    expand(false);
    open.focus();
  });
  return {
    buttons: h('span', { class: 'stop-control' }, ...(worded ? [button, open] : [open, button])),
    field: line,
    disable: (disabled) => {
      off = disabled;
      // The attribute "disabled" would lose the focus.
      for (const one of [button, open]) one.setAttribute('aria-disabled', String(disabled));
      if (disabled) show(line, false);
    },
  };
}

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
