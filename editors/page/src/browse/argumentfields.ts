// Fields for the arguments of a prompt or the variables of a resource template. Their values are texts. If the server
// makes proposals, the fields show them.

import { combobox } from '../elements/combobox.js';
import { h, setAttribute, setText, show } from '../elements/dom.js';
import { longClass, shortName, startOf, visible } from '../words/text.js';
import { completions } from './completions.js';
import { t } from '../words/t.js';
import type { Propose } from '../elements/combobox.js';
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

interface Form {
  server: string;
  reference: Reference;
  args: readonly Argument[];
  /** the server makes proposals */
  completes: boolean;
  /** is called when Enter is pressed in a field */
  submit: () => void;
}

interface Field {
  name: string;
  required: boolean;
  element: HTMLElement;
  input: HTMLInputElement;
  /** marks the field as wrong; '': as right */
  say: (text: string) => void;
}

let all = 0;

export function argumentFields(page: Page, form: Form): ArgumentFields {
  const { server, reference, args, completes, submit } = form;
  const fields: Field[] = args.slice(0, mostArguments).map((argument) => {
    const { name = '' } = argument;
    // The proposals of a server may depend on the values of the other fields.
    const propose = (value: string, unwanted: AbortSignal) =>
      completions(page, { server, reference, argument: name, value, context: filled(name) }, unwanted);
    return fieldOf(argument, submit, completes ? propose : undefined);
  });

  /** Returns the values that are filled in, but for one. */
  function filled(but?: string): Record<string, string> {
    const given = fields.filter(({ name, input }) => name !== but && input.value !== '');
    return Object.fromEntries(given.map(({ name, input }) => [name, input.value]));
  }

  return {
    element: h('div', { class: 'fields' }, ...fields.map(({ element }) => element)),
    read: () => {
      const missing = fields.filter(({ required, input }) => required && input.value === '');
      for (const field of missing) field.say(t('This is required.'));
      missing[0]?.input.focus();
      return missing.length > 0 ? undefined : filled();
    },
  };
}

function fieldOf(argument: Argument, submit: () => void, propose: Propose | undefined): Field {
  const { name = '', title = '', required = false } = argument;
  const id = `argument-${++all}`;
  const label = shortName(name);
  const hint = hintOf(argument, `${id}-hint`);
  const error = h('p', { class: 'field-error', id: `${id}-error`, hidden: true });
  const input = h('input', {
    id,
    'type': 'text',
    'autocomplete': 'off',
    'spellcheck': 'false',
    'aria-required': required ? 'true' : undefined,
    'aria-describedby': `${hint ? `${id}-hint ` : ''}${id}-error`,
  });
  const control = propose ? combobox(input, label, propose) : input;
  function say(text: string) {
    setText(error, text);
    show(error, text !== '');
    setAttribute(input, 'aria-invalid', text === '' ? undefined : 'true');
  }
  input.addEventListener('input', () => say(''));
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && !event.isComposing && !event.defaultPrevented) submit();
  });
  const heading = h(
    'label',
    { for: id },
    h('span', { class: 'field-name', text: label }),
    title !== '' && title !== name && h('span', { class: 'muted', dir: 'auto', text: ` ${shortName(title)}` }),
    required && h('span', { class: 'muted', text: ` ${t('(required)')}` }),
  );
  return { name, required, input, say, element: h('div', { class: 'field' }, heading, hint, control, error) };
}

const hintOf = ({ description = '' }: Argument, id: string) =>
  description !== ''
  && h('p', {
    ...longClass('field-hint', description),
    id,
    dir: 'auto',
    text: visible(startOf(description, longestDescription)),
  });
