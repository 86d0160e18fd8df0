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

/** @typedef {import('../words/jsontext.js').Json} Json */
/** @typedef {import('../words/jsontext.js').JsonObject} JsonObject */
/** @typedef {import('./fields.js').Field} Field */
/** @typedef {import('./fields.js').Form} Form */
/** @typedef {import('./fields.js').About} About */
/**
 * @typedef {{ path: string, message: string, field: string }} FormError path: a JSON Pointer; field: the
 * name of the field for people, '' for the whole form
 */
/**
 * @typedef {object} SchemaForm
 * @property {HTMLElement} element
 * @property {() => { json: string } | { errors: FormError[] }} read
 * @property {(errors: FormError[]) => void} showErrors shows errors at their fields, and moves the focus to the first
 * @property {() => void} focusFirst
 * @property {(draft: string) => void} set fills in a draft. If a field cannot show it, or it is no JSON yet, the form
 * changes to the text of the JSON
 * @property {() => string} draft returns the present content, whether it fits the schema or not
 * @property {() => boolean} edited reports whether the content differs from the initial one
 */

const maxDepth = 8;
const maxFields = 300; // a schema of a server may be endless; further values are edited as JSON text

/**
 * @param {string | undefined} schemaJson
 * @param {{ idPrefix: string, flat?: boolean }} options
 * @returns {SchemaForm}
 */
export function schemaForm(schemaJson, { idPrefix, flat = false }) {
  let ids = 0;
  let left = maxFields;
  let root = objectOf(null);
  try {
    root = objectOf(parse(schemaJson || '{}'));
  } catch {
    // A schema that cannot be parsed has no fields. The values can still be edited as JSON.
  }
  /** @type {Form} */
  const form = {
    root,
    flat,
    id: () => `${idPrefix}-${ids++}`,
    room: () => left,
    check: () => check(false),
    make: (schema, about, depth) =>
      --left < 0 || depth > maxDepth ? rawField(form, objectOf(schema), about) : make(form, schema, about, depth),
  };
  /** The fields; undefined while they are being made, and if there are none. @type {Field | undefined} */
  let top;
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
  const say = (/** @type {string} */ message) => {
    problem.textContent = visible(message);
    show(problem, message !== '');
  };
  const asText = () => !whole.hidden;

  /** @returns {{ value: Json, errors: FormError[] }} */
  const collect = () => {
    /** @type {FormError[]} */
    const errors = [];
    /** @type {Json} */
    let value = new Map();
    /** @type {Map<string, string>} */
    const labels = new Map();
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
   * @param {FormError[]} errors
   * @param {boolean} all also at fields that the user has not visited
   */
  const place = (errors, all) => {
    /** @type {Map<string, Field>} */
    const fields = new Map();
    top?.visit('', (path, field) => fields.set(path, field));
    /** @type {Map<Field, string>} */
    const messages = new Map();
    /** @type {string[]} */
    const rest = [];
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
  const check = (/** @type {boolean} */ all) => {
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
  const setFields = (/** @type {Json} */ value) => {
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

/**
 * Returns the field for a schema.
 * @param {Form} form
 * @param {Json | undefined} raw
 * @param {About} about
 * @param {number} depth
 * @returns {Field}
 */
function make(form, raw, about, depth) {
  const schema = resolve(raw, form.root);
  const variants = [...arrayOf(schema.get('oneOf')), ...arrayOf(schema.get('anyOf'))];
  const isNull = (/** @type {Json} */ one) => typesOf(resolve(one, form.root)).join() === 'null';
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
