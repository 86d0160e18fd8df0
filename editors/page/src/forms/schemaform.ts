// A form for a JSON Schema: for the arguments of a tool, or the question of a server. Optional fields that are empty
// are not sent. Numbers are sent as they were typed.
import { h, show } from '../elements/dom.js';
import {
  booleanField,
  choiceField,
  choicesOf,
  constantField,
  mostChoices,
  notJson,
  numberField,
  rawField,
  severalField,
  textField,
} from './fields.js';
import { listField, objectField, variantField } from './fieldsets.js';
import { arrayOf, lostAt, objectOf, parse, stringify, stringOf } from '../words/jsontext.js';
import { pretty, visible } from '../words/text.js';
import { resolve, typesOf, validate } from './validate.js';
import { t } from '../words/t.js';
import type { Json } from '../words/jsontext.js';
import type { About, Field, Form } from './fields.js';

/** path: a JSON Pointer; field: the name of the field for people, '' for the whole form */
export type FormError = { path: string; message: string; field: string };

export interface SchemaForm {
  element: HTMLElement;
  read: () => { json: string } | { errors: FormError[] };
  /** shows errors at their fields, and moves the focus to the first */
  showErrors: (errors: FormError[]) => void;
  focusFirst: () => void;
  /** fills in a draft. If a field cannot show it, or it is no JSON yet, the form changes to the text of the JSON */
  set: (draft: string) => void;
  /** returns the present content, whether it fits the schema or not */
  draft: () => string;
  /** reports whether the content differs from the initial one */
  edited: () => boolean;
}

const maxDepth = 8;
const maxFields = 300; // a schema of a server may be endless; further values are edited as JSON text

export function schemaForm(
  schemaJson: string | undefined,
  { idPrefix, flat = false }: { idPrefix: string; flat?: boolean },
): SchemaForm {
  let ids = 0;
  let left = maxFields;
  let root = objectOf(null);
  try {
    root = objectOf(parse(schemaJson || '{}'));
  } catch {
    // A schema that cannot be parsed has no fields. The values can still be edited as JSON.
  }
  const form: Form = {
    root,
    flat,
    id: () => `${idPrefix}-${ids++}`,
    room: () => left,
    check: () => check(false),
    make: (schema, about, depth) =>
      --left < 0 || depth > maxDepth ? rawField(form, objectOf(schema), about) : make(form, schema, about, depth),
  };
  /** The fields; undefined while they are being made, and if there are none. */
  let top = undefined as Field | undefined;
  const whole = h('textarea', {
    'class': 'code grows',
    'rows': 6,
    'spellcheck': 'false',
    'autocomplete': 'off',
    'id': `${idPrefix}-json`,
    'aria-label': t('All values as JSON'),
    'aria-describedby': `${idPrefix}-problem`,
    'hidden': true,
  });
  const problem = h('p', { class: 'field-error', id: `${idPrefix}-problem`, hidden: true });
  const say = (message: string) => {
    problem.textContent = visible(message);
    show(problem, message !== '');
  };
  const asText = () => !whole.hidden;

  const collect = (): { value: Json; errors: FormError[] } => {
    const errors: FormError[] = [];
    let value: Json = new Map();
    const labels: Map<string, string> = new Map();
    if (asText()) {
      try {
        value = parse(whole.value);
      } catch (error) {
        return {
          value,
          errors: [{ path: '', field: '', message: notJson(error) }],
        };
      }
    } else {
      value = top?.read() ?? value;
      top?.visit('', (path, field) => {
        labels.set(path, field.label);
        const message = field.syntax();
        if (message) errors.push({ path, field: field.label, message });
      });
    }
    for (const { path, message } of validate(root, value, root)) {
      if (!errors.some((error) => error.path === path))
        errors.push({ path, message, field: labels.get(path) ?? path.slice(1) });
    }
    return { value, errors };
  };

  /**
   * Shows each problem at its field, or at the nearest field around it that was drawn.
   * @param all also at fields that the user has not visited
   */
  const place = (errors: FormError[], all: boolean) => {
    const fields: Map<string, Field> = new Map();
    top?.visit('', (path, field) => fields.set(path, field));
    const messages: Map<Field, string> = new Map();
    const rest: string[] = [];
    for (const { path, message, field: label } of errors) {
      let at = path;
      while (at && !fields.has(at)) at = at.slice(0, at.lastIndexOf('/'));
      const field = at && !asText() ? fields.get(at) : undefined;
      if (field) messages.set(field, messages.get(field) ?? message);
      else if (all) rest.push(label ? `${label}: ${message}` : message);
    }
    say(rest.join('\n'));
    for (const field of fields.values()) {
      field.touched ||= all;
      field.say(field.touched ? (messages.get(field) ?? '') : '');
    }
    return messages.keys().next().value;
  };
  const check = (all: boolean) => {
    if (!top) return undefined;
    if (!asText()) return place(collect().errors, all);
    say('');
    return undefined;
  };

  const schema = resolve(root, root);
  const count = objectOf(schema.get('properties')).size;
  top = count && count <= maxFields ? objectField(form, schema, { name: '', required: true }, 0) : undefined;
  const start = stringify(top?.read() ?? new Map());
  const why = count ? t('These are {0} fields: too many to be drawn.', count) : t('No values are asked for.');
  const none = h('p', { class: 'muted', text: why, hidden: top !== undefined });
  const switcher = h('button', {
    'class': 'link',
    'aria-pressed': 'false',
    'text': t('Edit as JSON'),
    'onclick': () => turn(),
  });
  whole.addEventListener('input', () => say(''));

  /** Fills in the fields. Returns the path of the first part of the value that they cannot hold, if there is one. */
  const setFields = (value: Json) => {
    left = maxFields; // the new fields replace the old ones
    top?.set(value);
    return lostAt(value, top?.read());
  };
  const turn = () => {
    try {
      if (!asText()) whole.value = pretty(stringify(top?.read() ?? new Map()));
      else if (top) {
        const lost = setFields(parse(whole.value));
        if (lost) {
          const place = lost.join(' / ') || t('the top');
          say(t('The fields cannot show what is at “{0}”: change it here, or leave all as JSON.', place));
          return;
        }
      }
    } catch (error) {
      say(notJson(error));
      return;
    }
    show(whole, Boolean(whole.hidden));
    show(top?.element ?? none, !asText());
    switcher.setAttribute('aria-pressed', String(asText()));
    say('');
    if (asText()) whole.focus();
  };

  if (count && !top) turn();
  return {
    element: h('div', { class: 'schema-form' }, top?.element, none, whole, problem, switcher),
    read() {
      const { value, errors } = collect();
      return errors.length ? { errors } : { json: stringify(value) };
    },
    showErrors(errors) {
      const first = place(errors, true);
      if (asText()) whole.focus();
      else first?.focus();
    },
    focusFirst: () => (asText() ? whole : (top ?? switcher)).focus(),
    set(draft) {
      let text = draft;
      try {
        const value = parse(draft);
        if (top && !asText() && !setFields(value)) return;
        text = pretty(draft);
      } catch {
        // The draft is half-typed JSON: its text stays unchanged.
      }
      if (!asText()) turn();
      whole.value = text;
    },
    draft: () => (asText() ? whole.value : stringify(top?.read() ?? new Map())),
    edited: () => (asText() ? whole.value !== pretty(start) : stringify(top?.read() ?? new Map()) !== start),
  };
}

/** Returns the field for a schema. */
function make(form: Form, raw: Json | undefined, about: About, depth: number): Field {
  const schema = resolve(raw, form.root);
  const variants = [...arrayOf(schema.get('oneOf')), ...arrayOf(schema.get('anyOf'))];
  const isNull = (one: Json) => typesOf(resolve(one, form.root)).join() === 'null';
  const types = typesOf(schema).filter((type) => type !== 'null');
  const real = variants.filter((one) => !isNull(one));
  if (types.length < typesOf(schema).length || real.length < variants.length) {
    // The schema also allows null: an empty field is null if the value is required, and is left out otherwise.
    const single = !types.length && real.length === 1;
    const inner = new Map([...(single ? resolve(real[0], form.root) : []), ...schema]);
    if (types.length) inner.set('type', types.length === 1 ? (types[0] ?? null) : types);
    inner.delete('oneOf');
    inner.delete('anyOf');
    if (!single && real.length) inner.set('anyOf', real);
    if (schema.get('default') === null) inner.delete('default');
    if (inner.has('enum'))
      inner.set(
        'enum',
        arrayOf(inner.get('enum')).filter((one) => one !== null),
      );
    const made = make(form, inner, { ...about, required: false }, depth);
    const { read } = made;
    made.read = () => read() ?? (about.required && !made.syntax() ? null : undefined);
    return made;
  }
  if (schema.has('const')) return constantField(form, schema, about);
  const choices = choicesOf(schema, form.root);
  if (choices.length) return choiceField(form, schema, about, choices);
  if (variants.length > mostChoices) return rawField(form, schema, about);
  if (variants.length && !schema.has('properties')) return variantField(form, schema, about, variants, depth);
  if (types.length > 1)
    return variantField(
      form,
      schema,
      about,
      types.map((type) => new Map([...schema, ['type', type], ['title', type]])),
      depth,
    );
  switch (types[0] ?? (schema.has('properties') ? 'object' : '')) {
    case 'string':
      return textField(form, schema, about);
    case 'number':
    case 'integer':
      return numberField(form, schema, about);
    case 'boolean':
      return booleanField(form, schema, about);
    case 'object': {
      const { size } = objectOf(schema.get('properties'));
      return size && size <= form.room() ? objectField(form, schema, about, depth) : rawField(form, schema, about);
    }
    case 'array': {
      const several = choicesOf(resolve(schema.get('items'), form.root), form.root);
      if (several.length) return severalField(form, schema, about, several);
      return schema.has('items') && !stringOf(schema.get('prefixItems'))
        ? listField(form, schema, about, depth)
        : rawField(form, schema, about);
    }
    default:
      return rawField(form, schema, about);
  }
}
