// How an entry gets a value: it is written into the file, asked for when the server starts, or taken from an
// environment variable. Everybody who can read the file can read a secret in it, so the other two ways are offered
// where the file's dialect can express them.

import { t } from '../words/t.js';
import { h, show } from '../elements/dom.js';
import { dots } from './frame.js';
import { labelled, linesBox, sayer, textBox } from './field.js';
import { looksSecret } from './proposal.js';
import { shortName, visible } from '../words/text.js';
import type {
  ConfigFileJson as ConfigFile,
  EntryInputJson as EntryInput,
} from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { ProposedInput } from './proposal.js';

export type Way = 'text' | 'ask' | 'env';

const ways: [Way, string][] = [
  ['text', t('Save in file')],
  ['ask', t('Ask for it at the start')],
  ['env', t('Environment variable')],
];

/** Returns the ways that a file can express. */
const waysOf = (file: ConfigFile | undefined): Way[] => [
  'text',
  ...(file?.takesInputs ? (['ask'] as Way[]) : []),
  ...(file?.environmentReference ? (['env'] as Way[]) : []),
];

/**
 * @param label returns the name of the value
 * @param options stands: the value is in the file already, so a person has chosen the way
 */
export function valueControl(
  label: () => string,
  {
    secret = false,
    ask = secret,
    value = '',
    stands = false,
    options,
    changed,
  }: { secret?: boolean; ask?: boolean; value?: string; stands?: boolean; options?: string[]; changed: () => void },
) {
  let file: ConfigFile | undefined;
  let chosen = stands; // a person has chosen the way
  const typed = options
    ? h(
        'select',
        {},
        h('option', { value: '', text: t('Choose…') }),
        ...options.map((text) => h('option', { value: text, text: visible(text) })),
      )
    : /[\r\n]/.test(value)
      ? linesBox()
      : textBox();
  typed.value = value;
  // A control normalizes its text. As long as nobody changes the text, the value stays the original one.
  const untouched = typed.value;
  const way = h('select', {
    onchange: () => {
      chosen = true;
      paint();
      if (now() === 'env' && typed.value === '') typed.value = label();
      changed();
    },
  });
  const plain = h('p', {
    class: 'warning',
    hidden: true,
    text: t('Everyone who can read the file can read it there.'),
  });
  const element = h('div', { class: 'value' }, h('div', { class: 'inline' }, typed, way), plain);
  typed.addEventListener('input', () => {
    paint();
    changed();
  });

  const now = () => (way.value || 'text') as Way;
  const isSecret = () => secret || looksSecret(label());
  // A reference is no secret itself.
  const refers = (to: string) => /\$\{|\{env:|\{file:/.test(to);
  const covers = () => now() === 'text' && isSecret() && !refers(typed.value);
  const text = () => (typed.value === untouched && !options ? value : typed.value);

  function paint() {
    const possible = waysOf(file);
    const before = now();
    if (way.options.length !== possible.length || possible.some((one, i) => way.options[i]?.value !== one))
      way.replaceChildren(
        ...ways.filter(([one]) => possible.includes(one)).map(([v, text]) => h('option', { value: v, text })),
      );
    const better = possible.find((one) => one !== 'text') ?? 'text';
    // A value that was to be asked for must not be written into the file just because another file was chosen.
    const moved = before === 'ask' && !possible.includes('ask');
    const leaves = moved || (!chosen && (ask || looksSecret(label())) && (typed.value === '' || ask));
    way.value = chosen && possible.includes(before) ? before : leaves ? better : 'text';
    if (moved && better === 'env') typed.value = label();
    const name = shortName(label());
    typed.setAttribute('aria-label', now() === 'env' ? t('Variable for {0}', name) : t('Value of {0}', name));
    way.setAttribute('aria-label', t('How {0} is given', name));
    show(way, possible.length > 1);
    show(typed, now() !== 'ask');
    show(plain, covers() && typed.value !== '');
    if (typed instanceof HTMLInputElement) typed.type = covers() ? 'password' : 'text';
    else if (!options) typed.classList.toggle('covered', covers());
  }
  paint();

  return {
    element,
    typed,
    focus: () => (typed.hidden ? way : typed).focus(),
    way: now,
    fits: (target: ConfigFile | undefined) => {
      file = target;
      paint();
    },
    paint,
    empty: () => now() !== 'ask' && typed.value === '',
    /**
     * Returns the text for the entry.
     * @param id of the input
     * @param reference how the entry spells an environment variable that is called NAME
     * @param shown dots stand for a covered value
     */
    read: (id: string, reference: string, shown: boolean = false) =>
      now() === 'ask'
        ? `\${input:${id}}`
        : now() === 'env'
          ? reference.replace('NAME', typed.value.trim())
          : shown && covers() && !options && typed.value !== ''
            ? dots
            : text(),
    /** Returns the secrets: the original value, and the current one. */
    secrets: () =>
      isSecret() && !options ? [value, now() === 'text' ? text() : ''].filter((one) => one && !refers(one)) : [],
  };
}

/**
 * Returns the fields for the values that a proposal leaves to people.
 * @param as returns the id that the input has in the file
 */
export function inputFields(
  inputs: readonly ProposedInput[],
  changed: () => void,
  as: (id: string) => string = (id) => id,
) {
  const fields = inputs.map((input) => {
    const control = valueControl(() => input.title ?? input.id, {
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
  });
  return {
    element: h(
      'fieldset',
      { class: 'field', hidden: inputs.length === 0 },
      h('legend', { text: t('Values that it needs') }),
      ...fields.map(({ field }) => field.element),
    ),
    fits: (file: ConfigFile | undefined) => fields.forEach(({ control }) => control.fits(file)),
    /** Shows which required values are missing, and returns the control of the first one. */
    missing: () => {
      const found = fields.filter(({ input, control, field }) => {
        const lacks = input.required === true && control.empty();
        field.say(lacks ? t('It is needed.') : '');
        return lacks;
      });
      return found[0]?.control;
    },
    /** Reports whether a text is nothing but a reference to an optional value that nobody has given. */
    idle: (text: string) =>
      fields.some(
        ({ input, control }) =>
          text === `\${input:${input.id}}` && !input.required && control.way() === 'text' && control.empty(),
      ),
    /** Returns a text with the values in it. */
    fill: (text: string, reference: string, shown: boolean) =>
      fields.reduce(
        (sum, { input: { id }, control }) =>
          sum.replaceAll(`\${input:${id}}`, () => control.read(as(id), reference, shown)),
        text,
      ),
    secrets: () => fields.flatMap(({ control }) => control.secrets()),
    /** Returns the inputs that are asked for at the start of the server. */
    asked: (): EntryInput[] =>
      fields
        .filter(({ control }) => control.way() === 'ask')
        .map(({ input: { id, description = as(id) === id ? '' : id, secret, default: given, options } }) => ({
          id: as(id),
          ...(description && { description }),
          ...(secret ? { secret } : given && { default: given }),
          ...(options && { options }),
        })),
    usesEnv: () => fields.some(({ control }) => control.way() === 'env'),
  };
}

/**
 * Returns the fields for names with values: environment variables or headers.
 * @param words key: names with the same key are the same name
 */
export function pairs({
  legend,
  one,
  add,
  key = (name) => name,
  changed,
}: {
  legend: string;
  one: string;
  add: string;
  key?: (name: string) => string;
  changed: () => void;
}) {
  let rows: {
    name: HTMLInputElement;
    control: ReturnType<typeof valueControl>;
    element: HTMLElement;
    say: (m: string) => void;
  }[] = [];
  /** Secrets of rows that were removed. */
  let gone: string[] = [];
  let file: ConfigFile | undefined;
  const list = h('ul', { class: 'lines' });
  const more = h('button', { class: 'link', text: add, onclick: () => addRow('', '').name.focus() });
  const element = h('fieldset', { class: 'field' }, h('legend', { text: legend }), list, more);

  function addRow(given: string, value: string, stands: boolean = false) {
    const name = textBox({ placeholder: t('NAME'), value: given });
    const control = valueControl(() => name.value.trim() || one, { value, stands, changed });
    const drop = h('button', {
      class: 'link',
      text: t('Remove'),
      onclick: () => {
        const at = rows.indexOf(row);
        rows.splice(at, 1);
        gone.push(...control.secrets());
        row.element.remove();
        (rows[at] ?? rows[at - 1])?.name.focus();
        if (rows.length === 0) more.focus();
        changed();
      },
    });
    const error = h('p', { class: 'field-error', hidden: true, id: crypto.randomUUID() });
    name.setAttribute('aria-describedby', error.id);
    const row = {
      name,
      control,
      element: h('li', { class: 'pair' }, h('div', { class: 'inline' }, name, drop), control.element, error),
      say: sayer(error, [name, control.typed]).say,
    };
    const relabel = () => {
      name.setAttribute('aria-label', t('Name of the {0}', one));
      drop.setAttribute(
        'aria-label',
        t('Remove {0}', shortName(name.value.trim()) || t('the {0} without a name', one)),
      );
      control.paint();
    };
    name.addEventListener('input', () => {
      relabel();
      changed();
    });
    relabel();
    control.fits(file);
    rows.push(row);
    list.append(row.element);
    return row;
  }

  const used = () => rows.filter(({ name, control }) => name.value.trim() !== '' || !control.empty());
  return {
    element,
    set: (values: Record<string, string>, stands: boolean) => {
      rows = [];
      gone = [];
      list.replaceChildren();
      for (const [name, value] of Object.entries(values)) addRow(name, value, stands);
    },
    fits: (target: ConfigFile | undefined) => {
      file = target;
      for (const { control } of rows) control.fits(target);
    },
    /** Shows the faults, and returns the name field of the first row with one. */
    check: () => {
      const seen = new Set();
      let first: HTMLElement | undefined;
      for (const { name, control, say } of rows) {
        const text = name.value.trim();
        const fault =
          text === '' && !control.empty()
            ? t('It needs a name.')
            : text !== '' && seen.has(key(text))
              ? t('It is there twice.')
              : control.way() === 'env' && text !== '' && !/^[A-Za-z_]\w*$/.test(control.typed.value.trim())
                ? t('It needs the name of a variable.')
                : '';
        seen.add(key(text));
        say(fault);
        if (fault) first ??= name;
      }
      return first;
    },
    /** Returns the row of a name. */
    row: (name: string) => rows.find((r) => key(r.name.value.trim()) === key(name)),
    read: (idOf: (name: string) => string, reference: string): Record<string, string> =>
      Object.fromEntries(
        used().map(({ name, control }) => [name.value.trim(), control.read(idOf(name.value.trim()), reference)]),
      ),
    asked: (idOf: (name: string) => string): EntryInput[] =>
      used()
        .filter(({ control }) => control.way() === 'ask')
        .map(({ name }) => ({ id: idOf(name.value.trim()), description: name.value.trim(), secret: true })),
    secrets: () => [...gone, ...rows.flatMap(({ control }) => control.secrets())],
    usesEnv: () => used().some(({ control }) => control.way() === 'env'),
  };
}
