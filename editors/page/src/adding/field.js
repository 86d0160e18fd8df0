// A field of a form: its label, a hint and a place for an error message, all linked to the control.

import { h, show } from '../elements/dom.js';
import { visible } from '../words/text.js';

let count = 0;

/**
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {(message: string) => void} say shows an error message; '' removes it
 * @property {() => boolean} wrong reports whether an error message is shown
 * @property {() => void} focus
 */

/**
 * @param {string} label
 * @param {HTMLElement} control takes the focus
 * @param {{ hint?: string, body?: HTMLElement, after?: HTMLElement }} [options] body: contains the control
 * @returns {Field}
 */
export function labelled(label, control, { hint = '', body = control, after } = {}) {
  const id = `adding-${++count}`;
  control.id = id;
  control.setAttribute('aria-describedby', `${hint ? `${id}-hint ` : ''}${id}-error`);
  const error = h('p', { class: 'field-error', id: `${id}-error`, hidden: true });
  const element = h(
    'div',
    { class: 'field' },
    h('label', { class: 'field-title', for: id, text: label }),
    hint && h('p', { class: 'field-hint', id: `${id}-hint`, text: hint }),
    body,
    after,
    error,
  );
  return { element, focus: () => control.focus(), ...sayer(error, [control]) };
}

/**
 * @param {HTMLElement} error
 * @param {HTMLElement[]} controls that the error is about
 */
export function sayer(error, controls) {
  return {
    say: (/** @type {string} */ message) => {
      error.textContent = visible(message);
      show(error, message !== '');
      for (const control of controls) {
        if (message) control.setAttribute('aria-invalid', 'true');
        else control.removeAttribute('aria-invalid');
      }
    },
    wrong: () => !error.hidden,
  };
}

/** Returns a control for a line of text. @param {import('../elements/dom.js').Props} [props] */
export function textBox(props = {}) {
  const box = h('input', { type: 'text', autocomplete: 'off', autocapitalize: 'off', ...props });
  box.spellcheck = false;
  return box;
}

/** Returns a control for several lines of text. @param {import('../elements/dom.js').Props} [props] */
export function linesBox(props = {}) {
  const box = h('textarea', { rows: 2, class: 'grows code', autocomplete: 'off', ...props });
  box.spellcheck = false;
  return box;
}
