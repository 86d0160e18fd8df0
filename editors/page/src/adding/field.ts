// A field of a form: its label, a hint and a place for an error message, all linked to the control.

import { h, show } from '../elements/dom.js';
import { visible } from '../words/text.js';
import type { Props } from '../elements/dom.js';

let count = 0;

export interface Field {
  element: HTMLElement;
  /** shows an error message; '' removes it */
  say: (message: string) => void;
  /** reports whether an error message is shown */
  wrong: () => boolean;
  focus: () => void;
}

/**
 * @param control takes the focus
 * @param options body: contains the control
 */
export function labelled(
  label: string,
  control: HTMLElement,
  { hint = '', body = control, after }: { hint?: string; body?: HTMLElement; after?: HTMLElement } = {},
): Field {
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

/** @param controls that the error is about */
export function sayer(error: HTMLElement, controls: HTMLElement[]) {
  return {
    say: (message: string) => {
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

/** Returns a control for a line of text. */
export function textBox(props: Props = {}) {
  const box = h('input', { type: 'text', autocomplete: 'off', autocapitalize: 'off', ...props });
  box.spellcheck = false;
  return box;
}

/** Returns a control for several lines of text. */
export function linesBox(props: Props = {}) {
  const box = h('textarea', { rows: 2, class: 'grows code', autocomplete: 'off', ...props });
  box.spellcheck = false;
  return box;
}
