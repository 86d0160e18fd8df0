// What remains of a card after its question has closed: a note for some seconds, or, if somebody was typing, what was
// typed.
import { h } from '../elements/dom.js';
import { t } from '../words/t.js';

const noteMs = 6000;

/** Keeps a note for some seconds, and as long as the pointer or the focus is on it. Then it calls over. */
export function stay(element: HTMLElement, over: () => void) {
  let left = noteMs;
  let since = performance.now();
  let timer = setTimeout(over, left);
  const hold = () => {
    clearTimeout(timer);
    left -= performance.now() - since;
  };
  const go = () => {
    since = performance.now();
    timer = setTimeout(over, Math.max(left, 1000));
  };
  element.addEventListener('pointerenter', hold);
  element.addEventListener('focusin', hold);
  element.addEventListener('pointerleave', go);
  element.addEventListener('focusout', go);
}

/**
 * Keeps a card whose question has closed while somebody was typing. Its fields can be read and copied, but nothing can
 * be sent. The card goes when the user closes it, or some seconds after the focus has moved to another part of the
 * page. If the focus moves to another window of the desktop, the card stays, since the user may paste the text there.
 * @param note says how the question ended
 * @param typed the text that the copy button copies
 */
export function keepTyped(article: HTMLElement, note: HTMLElement, typed: string, over: () => void) {
  const head = article.querySelector('.card-head');
  const from = article.querySelector('.card-from');
  const body = article.querySelector('.card-body');
  const focused = document.activeElement;
  // The body is not moved: a field in it would lose the focus, and the position of its cursor.
  for (const child of [...article.children]) if (child !== head && child !== from && child !== body) child.remove();
  head?.querySelector('button')?.remove();

  const copy = h('button', {
    class: 'secondary',
    text: t('Copy what you typed'),
    dataset: { testid: 'copy-typed' },
    onclick: () => {
      navigator.clipboard.writeText(typed).then(
        () => (copy.textContent = t('Copied')),
        () => (copy.textContent = t('Copying failed')),
      );
    },
  });
  const close = h('button', {
    class: 'secondary',
    text: t('Close'),
    dataset: { testid: 'close-typed' },
    onclick: over,
  });
  body?.before(note);
  article.append(h('div', { class: 'card-buttons' }, copy, close));
  article.classList.add('card-kept');
  freeze(body);
  // A control that is disabled loses the focus.
  if (focused instanceof HTMLElement && article.contains(focused) && focused.matches(':disabled, [hidden]'))
    copy.focus();
  else if (focused && !focused.isConnected) copy.focus();

  let timer: ReturnType<typeof setTimeout> | undefined;
  const hold = () => clearTimeout(timer);
  article.addEventListener('focusin', hold);
  article.addEventListener('pointerenter', hold);
  article.addEventListener('focusout', ({ relatedTarget: to }) => {
    hold();
    if (to instanceof Node ? article.contains(to) : !document.hasFocus()) return;
    timer = setTimeout(over, noteMs);
  });
  article.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.repeat && !event.isComposing) over();
  });
}

/** Makes texts read-only, so that they can still be selected. Other controls are disabled, buttons hidden. */
function freeze(body: Element | null) {
  if (!body) return;
  for (const control of body.querySelectorAll('input, textarea, select, button:not(.block button)')) {
    const text = control instanceof HTMLTextAreaElement || (control instanceof HTMLInputElement && isText(control));
    if (text) control.readOnly = true;
    else if (control instanceof HTMLButtonElement) control.hidden = true;
    else control.setAttribute('disabled', '');
  }
}

const isText = ({ type }: HTMLInputElement) =>
  !['checkbox', 'radio', 'button', 'file', 'range', 'color'].includes(type);
