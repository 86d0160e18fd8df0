// Fields for the arguments of a prompt or the variables of a resource template. Their values are texts. If the server
// makes proposals, the fields show them.

import { combobox } from '../elements/combobox.js';
import { h, setText, show } from '../elements/dom.js';
import { longClass, shortName, startOf, visible } from '../words/text.js';
import { completions } from './completions.js';
import { t } from '../words/t.js';

/** @typedef {{ name?: string, title?: string, description?: string, required?: boolean }} Argument */
/**
 * @typedef {object} ArgumentFields
 * @property {HTMLElement} element
 * @property {() => Record<string, string> | undefined} read returns what is filled in; undefined: a value is
 * missing, and the form says so
 */

/** Maximum number of arguments of a request. If a server wants more, the page cannot make the request. */
export const mostArguments = 256;
const longestDescription = 4000;

let all = 0;

/**
 * @param {import('../page.js').Page} page
 * @param {object} of
 * @param {string} of.server
 * @param {import('./completions.js').Reference} of.reference
 * @param {readonly Argument[]} of.args
 * @param {boolean} of.completes the server makes proposals
 * @param {() => void} of.submit is called when Enter is pressed in a field
 * @returns {ArgumentFields}
 */
export function argumentFields(page, { server, reference, args, completes, submit }) {
  /** @type {{ name: string, required: boolean, input: HTMLInputElement, say: (text: string) => void, element: HTMLElement }[]} */
  const fields = args.slice(0, mostArguments).map((argument) => {
    const { name = '', title = '', description = '', required = false } = argument;
    const id = `argument-${++all}`;
    const shown = shortName(name);
    const hint =
      description !== ''
      && h('p', {
        ...longClass('field-hint', description),
        id: `${id}-hint`,
        dir: 'auto',
        text: visible(startOf(description, longestDescription)),
      });
    const error = h('p', { class: 'field-error', id: `${id}-error`, hidden: true });
    const input = h('input', {
      id,
      'type': 'text',
      'autocomplete': 'off',
      'spellcheck': 'false',
      'aria-required': required ? 'true' : undefined,
      'aria-describedby': `${hint ? `${id}-hint ` : ''}${id}-error`,
    });
    const control = completes
      ? combobox({
          input,
          label: shown,
          propose: (value, unwanted) =>
            completions(page, { server, reference, argument: name, value, context: others(name) }, unwanted),
        }).element
      : input;
    input.addEventListener('input', () => say(''));
    input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.isComposing && !event.defaultPrevented) submit();
    });
    /** @param {string} text */
    function say(text) {
      setText(error, text);
      show(error, text !== '');
      if (text === '') input.removeAttribute('aria-invalid');
      else input.setAttribute('aria-invalid', 'true');
    }
    const element = h(
      'div',
      { class: 'field' },
      h(
        'label',
        { for: id },
        h('span', { class: 'field-name', text: shown }),
        title !== '' && title !== name && h('span', { class: 'muted', dir: 'auto', text: ` ${shortName(title)}` }),
        required && h('span', { class: 'muted', text: ` ${t('(required)')}` }),
      ),
      hint,
      control,
      error,
    );
    return { name, required, input, say, element };
  });

  /** Returns the values of the other fields: the proposals of a server may depend on them. @param {string} but */
  const others = (but) =>
    Object.fromEntries(
      fields
        .filter(({ name, input }) => name !== but && input.value !== '')
        .map(({ name, input }) => [name, input.value]),
    );

  return {
    element: h('div', { class: 'fields' }, ...fields.map(({ element }) => element)),
    read: () => {
      const missing = fields.filter(({ required, input }) => required && input.value === '');
      for (const field of missing) field.say(t('This is required.'));
      missing[0]?.input.focus();
      if (missing.length > 0) return undefined;
      return Object.fromEntries(
        fields.filter(({ input }) => input.value !== '').map(({ name, input }) => [name, input.value]),
      );
    },
  };
}
