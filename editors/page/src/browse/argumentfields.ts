// Fields for the arguments of a prompt or the variables of a resource template. Their values are texts. If the server
// makes proposals, the fields show them.

import { combobox } from '../elements/combobox.js';
import { h, setText, show } from '../elements/dom.js';
import { longClass, shortName, startOf, visible } from '../words/text.js';
import { completions } from './completions.js';
import { t } from '../words/t.js';
import type { Page } from '../page.js';
import type { Reference } from './completions.js';

export type Argument = { name?: string; title?: string; description?: string; required?: boolean };

export interface ArgumentFields {
  element: HTMLElement;
  /** returns what is filled in; undefined: a value is missing, and the form says so */
  read: () => Record<string, string> | undefined;
}

/** Maximum number of arguments of a request. If a server wants more, the page cannot make the request. */
export const mostArguments = 256;
const longestDescription = 4000;

let all = 0;

export function argumentFields(
  page: Page,
  {
    server,
    reference,
    args,
    completes,
    submit,
  }: {
    server: string;
    reference: Reference;
    args: readonly Argument[];
    /** the server makes proposals */
    completes: boolean;
    /** is called when Enter is pressed in a field */
    submit: () => void;
  },
): ArgumentFields {
  const fields: {
    name: string;
    required: boolean;
    input: HTMLInputElement;
    say: (text: string) => void;
    element: HTMLElement;
  }[] = args.slice(0, mostArguments).map((argument) => {
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
    function say(text: string) {
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

  /** Returns the values of the other fields: the proposals of a server may depend on them. */
  const others = (but: string) =>
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
