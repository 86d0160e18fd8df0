// What stays of a card that has closed: a note for some seconds, or, where somebody was typing, what was typed.
import { h } from '../elements/dom.js';
import { t } from '../words/t.js';

const noteMs = 6000;

/**
 * Lets a note stay for its time, and for as long as the pointer or the focus is on it.
 * @param {HTMLElement} element
 * @param {() => void} over
 */
export function stay(element, over) {
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
 * Keeps a card whose question went away under somebody's hands: its fields can be read and copied, nothing of it can be
 * sent. It goes when the user closes it, or some seconds after the focus has moved on to another part of the page;
 * another window of the desktop does not count, since what was copied is pasted there.
 * @param {HTMLElement} article
 * @param {HTMLElement} note says how the question ended
 * @param {string} typed what Copy copies
 * @param {() => void} over
 */
export function keepTyped(article, note, typed, over) {
  const head = article.querySelector('.card-head');
  const from = article.querySelector('.card-from');
  const body = article.querySelector('.card-body');
  const focused = document.activeElement;
  // The body is not moved: what has the focus would lose it, and with it the place in the text.
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
  // A control that is disabled throws the focus away.
  if (focused instanceof HTMLElement && article.contains(focused) && focused.matches(':disabled, [hidden]'))
    copy.focus();
  else if (focused && !focused.isConnected) copy.focus();

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
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

/** Texts can still be selected; all else is disabled, and buttons go. @param {Element | null} body */
function freeze(body) {
  if (!body) return;
  for (const control of body.querySelectorAll('input, textarea, select, button:not(.block button)')) {
    const text = control instanceof HTMLTextAreaElement || (control instanceof HTMLInputElement && isText(control));
    if (text) control.readOnly = true;
    else if (control instanceof HTMLButtonElement) control.hidden = true;
    else control.setAttribute('disabled', '');
  }
}

/** @param {HTMLInputElement} input */
const isText = ({ type }) => !['checkbox', 'radio', 'button', 'file', 'range', 'color'].includes(type);
