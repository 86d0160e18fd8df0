// Fields of a form that hold one value: a text, a number, yes or no, one or several of given values. A field for raw
// JSON takes everything that no other field can show.
import { h, show } from '../elements/dom.js';
import { afterPress, followPress } from '../elements/press.js';
import { arrayOf, equal, JsonNumber, numberOf, numberPattern, parse, stringify, stringOf } from '../words/jsontext.js';
import { fitsField } from '../../../host/src/visible.js';
import { longClass, pretty, visible } from '../words/text.js';
import { resolve } from './validate.js';
import { t } from '../words/t.js';
import type { Json, JsonObject } from '../words/jsontext.js';

export interface Field {
  element: HTMLElement;
  label: string;
  /** returns the value; undefined: it is left out */
  read: () => Json | undefined;
  /** sets the value; undefined: as if nobody had ever filled it in */
  set: (value: Json | undefined) => void;
  /** returns why the text is no value at all, or '' if it is one */
  syntax: () => string;
  /** shows a problem; '' removes it */
  say: (message: string) => void;
  focus: () => void;
  /** the user has visited the field, so problems may be shown */
  touched: boolean;
  /** calls see for the field and for all fields inside it */
  visit: (path: string, see: (path: string, field: Field) => void) => void;
}

/** what the fields of one form share */
export interface Form {
  /** the whole schema, which references point into */
  root: JsonObject;
  /** the form is for an elicitation, not for the arguments of a tool */
  flat: boolean;
  /** returns a new id */
  id: () => string;
  /** returns how many more fields may be drawn */
  room: () => number;
  /** looks for problems in the fields that the user has visited, or in all */
  check: (all?: boolean) => void;
  make: (schema: Json | undefined, about: About, depth: number) => Field;
}

/** item: the field is an entry of a list, where nothing can be left out */
export type About = { name: string; required: boolean; item?: boolean };

export function caption(form: Form, schema: JsonObject, about: About) {
  const title = stringOf(schema.get('title'));
  const main = form.flat ? title || about.name : about.name;
  return { main: visible(main), second: visible(title && title !== main ? title : '') };
}

function captionParts(form: Form, schema: JsonObject, about: About): (HTMLElement | false)[] {
  const { main, second } = caption(form, schema, about);
  return [
    h('span', { class: form.flat ? 'field-title' : 'field-name', text: main }),
    second !== '' && h('span', { class: 'muted', text: ` ${second}` }),
    about.required && !about.item && h('span', { class: 'muted', text: ` ${t('(required)')}` }),
  ];
}

/** Returns the value with which a field begins. */
function proposedBy(schema: JsonObject): { value?: Json | undefined; leftOut?: string } {
  const value = schema.get('default');
  if (value === undefined || fitsField(typeof value === 'string' ? value : stringify(value))) return { value };
  return { leftOut: t('The proposed value is left out: a field cannot show it.') };
}

/**
 * Returns the common part of every field: its name, its description, and a place for a problem. They are linked to the
 * control for screen readers.
 * @param control takes the focus, or is the group of controls that do
 */
export function field(
  form: Form,
  schema: JsonObject,
  about: About,
  control: HTMLElement,
  how: {
    group?: HTMLElement[];
    read: () => Json | undefined;
    set: (value: Json | undefined) => void;
    syntax?: () => string;
    focus?: () => void;
  },
): Field {
  const id = form.id();
  const proposed = proposedBy(schema);
  const description = [visible(stringOf(schema.get('description'))), proposed.leftOut].filter(Boolean).join('\n');
  const hint =
    description !== ''
    && h('p', { ...longClass('field-hint', description), id: `${id}-hint`, dir: 'auto', text: description });
  const error = h('p', { class: 'field-error', id: `${id}-error`, hidden: true });
  control.setAttribute('aria-describedby', `${hint ? `${id}-hint ` : ''}${id}-error`);
  control.id = id;
  const parts = captionParts(form, schema, about);
  let element = control;
  if (how.group) {
    const legend = h('legend', {}, ...parts);
    control.append(...[legend, hint, ...how.group, error].filter((part) => part !== false));
  } else {
    if (about.required) control.setAttribute('aria-required', 'true');
    element = h('div', { class: 'field' }, h('label', { for: id }, ...parts), hint, control, error);
  }
  const self: Field = {
    element,
    label: caption(form, schema, about).main,
    read: how.read,
    set: how.set,
    syntax: how.syntax ?? (() => ''),
    touched: false,
    focus: how.focus ?? (() => control.focus()),
    say(message) {
      error.textContent = visible(message);
      show(error, message !== '');
      if (message) control.setAttribute('aria-invalid', 'true');
      else control.removeAttribute('aria-invalid');
    },
    visit: (path, see) => see(path, self),
  };
  followPress();
  element.addEventListener('focusout', (event) => {
    if (event.relatedTarget instanceof Node && element.contains(event.relatedTarget)) return;
    self.touched = true;
    afterPress(() => form.check());
  });
  element.addEventListener('input', () => self.touched && form.check());
  self.set(proposed.value);
  return self;
}

export function textField(form: Form, schema: JsonObject, about: About) {
  const format = stringOf(schema.get('format'));
  // A tool's argument may be a whole file. An answer in an elicitation has one line, unless it may be very long.
  const lines = /[\r\n]/.test(stringOf(schema.get('default'))); // a field of one line would lose the line breaks
  const long = lines || (!format && (numberOf(schema.get('maxLength')) ?? (form.flat ? 0 : Infinity)) > 200);
  const control = long
    ? h('textarea', { rows: 1, class: 'grows', autocomplete: 'off' })
    : h('input', {
        type: 'text',
        autocomplete: 'off',
        inputmode: { email: 'email', uri: 'url' }[format],
        placeholder: { 'date': '2026-03-31', 'date-time': '2026-03-31T18:30:00Z' }[format],
      });
  control.spellcheck = false;
  let given = '';
  let shown = '';
  return field(form, schema, about, control, {
    // A control normalizes line ends. A text that nobody has changed is sent in its original form.
    read: () => (control.value === '' && !about.item ? undefined : control.value === shown ? given : control.value),
    set(value) {
      control.value = given = stringOf(value);
      shown = control.value;
    },
  });
}

/**
 * Returns a text field for a number. A field of the type "number" would lose "1.0" and all digits after the sixteenth.
 */
export function numberField(form: Form, schema: JsonObject, about: About) {
  const whole = stringOf(schema.get('type')) === 'integer';
  const control = h('input', {
    type: 'text',
    autocomplete: 'off',
    inputmode: whole ? 'numeric' : 'decimal',
    class: 'number',
  });
  const text = () => control.value.trim();
  return field(form, schema, about, control, {
    read: () => (numberPattern.test(text()) ? new JsonNumber(text()) : undefined),
    set: (value) => void (control.value = value instanceof JsonNumber ? value.text : ''),
    syntax: () =>
      text() === '' || numberPattern.test(text())
        ? ''
        : whole
          ? t('Enter a whole number, for example 12.')
          : t('Enter a number, for example 12.5.'),
  });
}

/** @param error of the parser */
export const notJson = (error: unknown) => t('This is not JSON. {0}', error instanceof Error ? error.message : '');

export function rawField(form: Form, schema: JsonObject, about: About) {
  const control = h('textarea', {
    rows: 3,
    class: 'code grows',
    spellcheck: 'false',
    autocomplete: 'off',
    placeholder: 'JSON',
  });
  const attempt = () => {
    try {
      return { value: control.value.trim() === '' ? undefined : parse(control.value), wrong: '' };
    } catch (error) {
      return { value: undefined, wrong: notJson(error) };
    }
  };
  return field(form, schema, about, control, {
    read: () => attempt().value,
    set: (value) => void (control.value = value === undefined ? '' : pretty(stringify(value))),
    syntax: () => attempt().wrong,
  });
}

export const mostChoices = 1000; // a person can look through so many choices; if there are more, the value is typed

export type Choice = { value: Json; label: string };

/** Returns the values that a schema offers as a choice, with their names for people. */
export function choicesOf(schema: JsonObject, root: JsonObject): Choice[] {
  const names = arrayOf(schema.get('enumNames'));
  if (Math.max(...['enum', 'oneOf', 'anyOf'].map((key) => arrayOf(schema.get(key)).length)) > mostChoices) return [];
  const plain = arrayOf(schema.get('enum')).map((value, i) => ({ value, label: stringOf(names[i]) }));
  const titled = [...arrayOf(schema.get('oneOf')), ...arrayOf(schema.get('anyOf'))].map((choice) =>
    resolve(choice, root),
  );
  const found =
    plain.length || !titled.every((choice) => choice.has('const'))
      ? plain
      : titled.map((choice) => ({ value: choice.get('const') ?? null, label: stringOf(choice.get('title')) }));
  return found.map(({ value, label }) => ({ value, label: visible(label || stringOf(value) || stringify(value)) }));
}

export function choiceField(form: Form, schema: JsonObject, about: About, choices: Choice[]) {
  const control = h(
    'select',
    {},
    h('option', { value: '', text: about.required ? t('Choose…') : t('Not set') }),
    ...choices.map((choice, i) => h('option', { value: i, text: choice.label })),
  );
  return field(form, schema, about, control, {
    read: () => (control.value === '' ? undefined : choices[Number(control.value)]?.value),
    set(value) {
      const at = choices.findIndex((choice) => value !== undefined && equal(choice.value, value));
      control.value = at < 0 ? '' : String(at);
    },
  });
}

export function booleanField(form: Form, schema: JsonObject, about: About) {
  // A checkbox cannot show that nobody has answered yet: if it is not checked, it means "no".
  if (!about.required && typeof schema.get('default') !== 'boolean') {
    return choiceField(form, schema, about, [
      { value: true, label: t('Yes') },
      { value: false, label: t('No') },
    ]);
  }
  const control = h('input', { type: 'checkbox' });
  const made = field(form, schema, { ...about, required: false }, control, {
    read: () => control.checked,
    set: (value) => void (control.checked = value === true),
  });
  made.element.classList.add('field-check');
  return made;
}

export function severalField(form: Form, schema: JsonObject, about: About, choices: Choice[]) {
  const boxes = choices.map((choice) => {
    const box = h('input', { type: 'checkbox' });
    return { box, value: choice.value, row: h('label', { class: 'check' }, box, choice.label) };
  });
  return field(form, schema, about, h('fieldset', { class: 'field' }), {
    group: boxes.map(({ row }) => row),
    read() {
      const chosen = boxes.filter(({ box }) => box.checked).map(({ value }) => value);
      return chosen.length || about.required ? chosen : undefined;
    },
    set(value) {
      for (const { box, value: own } of boxes) box.checked = arrayOf(value).some((one) => equal(one, own));
    },
    focus: () => boxes[0]?.box.focus(),
  });
}

/**
 * Returns the field for a schema that allows one value. There is nothing to choose, unless the value can be left out.
 */
export function constantField(form: Form, schema: JsonObject, about: About) {
  const value = schema.get('const') ?? null;
  if (!about.required)
    return choiceField(form, schema, about, [{ value, label: visible(stringOf(value) || stringify(value)) }]);
  const control = h('output', { class: 'code', text: visible(stringify(value)) });
  return field(form, schema, about, control, { read: () => value, set: () => {} });
}
