// The fields for the values that a proposal leaves to people. ${input:ID} stands for each in the texts of the entry.

import { t } from '../words/t.js';
import { h } from '../elements/dom.js';
import { visible } from '../words/text.js';
import { labelled } from './field.js';
import { ValueControl } from './value.js';
import type {
  ConfigFileJson as ConfigFile,
  EntryInputJson as EntryInput,
} from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { ProposedInput } from './proposal.js';

function inputField(input: ProposedInput, changed: () => void) {
  const control = new ValueControl(() => input.title ?? input.id, {
    secret: input.secret ?? false,
    ...(input.ask && { ask: true }),
    value: input.default ?? '',
    ...(input.options && { options: input.options }),
    changed,
  });
  const title = visible(input.title ?? input.id);
  const field = labelled(input.required && !input.ask ? t('{0} (required)', title) : title, control.typed, {
    ...(input.description && { hint: visible(input.description) }),
    body: control.element,
  });
  return { input, control, field };
}

export class InputFields {
  readonly element: HTMLElement;
  readonly #fields: ReturnType<typeof inputField>[];
  readonly #as: (id: string) => string;

  /** @param as returns the id that the input has in the file */
  constructor(inputs: readonly ProposedInput[], changed: () => void, as: (id: string) => string = (id) => id) {
    this.#as = as;
    this.#fields = inputs.map((input) => inputField(input, changed));
    this.element = h(
      'fieldset',
      { class: 'field', hidden: inputs.length === 0 },
      h('legend', { text: t('Values for this server') }),
      ...this.#fields.map(({ field }) => field.element),
    );
  }

  fits(file: ConfigFile | undefined) {
    for (const { control } of this.#fields) control.fits(file);
  }

  /** Shows which required values are missing, and returns the control of the first one. */
  check() {
    const missing = this.#fields.filter(({ input, control, field }) => {
      const lacks = input.required === true && control.empty;
      field.say(lacks ? t('This is required.') : '');
      return lacks;
    });
    return missing[0]?.control.typed;
  }

  /** Reports whether a text is nothing but a reference to an optional value that nobody has given. */
  idle(text: string) {
    return this.#fields.some(
      ({ input, control }) =>
        text === `\${input:${input.id}}` && !input.required && control.way === 'text' && control.empty,
    );
  }

  /** Returns a text with the values in it. See ValueControl.read. */
  fill(text: string, reference: string, shown: boolean) {
    return this.#fields.reduce(
      (sum, { input: { id }, control }) =>
        sum.replaceAll(`\${input:${id}}`, () => control.read(this.#as(id), reference, shown)),
      text,
    );
  }

  secrets() {
    return this.#fields.flatMap(({ control }) => control.secrets());
  }

  /** Returns the inputs that are asked for at the start of the server. */
  asked(): EntryInput[] {
    return this.#fields.filter(({ control }) => control.way === 'ask').map(({ input }) => this.#inFile(input));
  }

  #inFile({ id, secret, default: given, options, ...input }: ProposedInput): EntryInput {
    const as = this.#as(id);
    const description = input.description ?? (as === id ? '' : id);
    return {
      id: as,
      ...(description && { description }),
      ...(secret ? { secret } : given && { default: given }),
      ...(options && { options }),
    };
  }
}
