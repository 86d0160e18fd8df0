// Buttons that end something: at once, with a reason, or after a second click where calls would be lost.

import { h, setText, show } from '../elements/dom.js';

let ids = 0;

/**
 * A button that stops, and beside it one that asks for a reason first.
 * @param {{ label: string, about: string, testid: string, stop: (reason: string) => void }} options about: what is
 * stopped, for those who do not see where the button is
 * @returns {{ element: HTMLElement, disable: (disabled: boolean) => void }}
 */
export function stopControl({ label, about, testid, stop }) {
  const id = `reason-${++ids}`;
  let off = false;
  const button = h('button', {
    'type': 'button',
    'class': 'stop',
    'text': label,
    'aria-label': `${label} ${about}`.trim(),
    'dataset': { testid },
    // The second click of a double one is for what the first has stopped, and not for the button that has moved up into
    // its place.
    'onclick': (/** @type {MouseEvent} */ { detail: clicks }) => {
      if (clicks < 2) finish('');
    },
  });
  const field = h('input', {
    id,
    'type': 'text',
    'maxlength': 256,
    'autocomplete': 'off',
    'aria-label': `Reason to stop ${about || 'everything'}`,
    'placeholder': 'Reason, then Enter',
  });
  const line = h('span', { class: 'reason', hidden: true }, field);
  const open = h('button', {
    'type': 'button',
    'class': 'link',
    'text': 'with reason…',
    'aria-label': `with reason… ${label} ${about}`.trim(),
    'aria-expanded': 'false',
    'aria-controls': id,
    'onclick': () => expand(line.hidden),
  });

  /** @param {boolean} wanted */
  function expand(wanted) {
    show(line, wanted && !off);
    open.setAttribute('aria-expanded', String(wanted));
    if (wanted) field.focus();
  }
  /** @param {string} reason */
  function finish(reason) {
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
    element: h('span', { class: 'stop-control' }, button, open, line),
    disable: (disabled) => {
      off = disabled;
      // Not the attribute "disabled": that would throw the focus away.
      for (const one of [button, open]) one.setAttribute('aria-disabled', String(disabled));
      if (disabled) show(line, false);
    },
  };
}

/**
 * A button that asks once more, in its own place, when there is a reason to. It forgets the first click when the focus
 * goes elsewhere.
 * @param {{ label: string, about: string, testid?: string, question: () => string, act: () => Promise<unknown> }}
 * options
 *   question: what the second click does, "" = nothing is lost, and the first click does it
 */
export function confirmButton({ label, about, testid, question, act }) {
  let asked = false;
  let busy = false;
  const button = h('button', {
    'type': 'button',
    'text': label,
    'aria-label': `${label} ${about}`,
    'dataset': testid ? { testid } : {},
    'onclick': (/** @type {MouseEvent} */ { detail: clicks }) => void click(clicks),
    'onblur': () => ask(''),
  });

  /** @param {string} text */
  function ask(text) {
    asked = text !== '';
    button.classList.toggle('asking', asked);
    setText(button, text || label);
    button.setAttribute('aria-label', text || `${label} ${about}`);
  }
  /** @param {number} clicks */
  async function click(clicks) {
    if (busy || (asked && clicks > 1)) return; // a double click has not read the question
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
  return button;
}
