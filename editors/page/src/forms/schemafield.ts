// The field for a schema: which of the fields shows its values.
import {
  booleanField,
  choiceField,
  choicesOf,
  constantField,
  mostChoices,
  numberField,
  rawField,
  severalField,
  textField,
} from './fields.js';
import { listField, objectField, variantField } from './fieldsets.js';
import { arrayOf, objectOf, stringOf } from '../words/jsontext.js';
import { resolve, typesOf } from './validate.js';
import type { Json, JsonObject } from '../words/jsontext.js';
import type { About, Field, Form } from './fields.js';

const variantsOf = (schema: JsonObject) => [...arrayOf(schema.get('oneOf')), ...arrayOf(schema.get('anyOf'))];

const realTypes = (schema: JsonObject) => typesOf(schema).filter((type) => type !== 'null');

/** Returns the field for a schema. */
export function fieldOf(form: Form, raw: Json | undefined, about: About, depth: number): Field {
  const schema = resolve(raw, form.root);
  const inner = withoutNull(schema, form.root);
  return inner ? nullableField(form, inner, about, depth) : plainField(form, schema, about, depth);
}

/** Returns what a schema allows besides null, or undefined if it does not allow null. */
function withoutNull(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  const variants = variantsOf(schema);
  const types = realTypes(schema);
  const real = variants.filter((one) => typesOf(resolve(one, root)).join() !== 'null');
  if (types.length === typesOf(schema).length && real.length === variants.length) return undefined;
  const single = !types.length && real.length === 1;
  const inner = new Map([...(single ? resolve(real[0], root) : []), ...schema]);
  if (types.length) inner.set('type', types.length === 1 ? (types[0] ?? null) : types);
  inner.delete('oneOf');
  inner.delete('anyOf');
  if (!single && real.length) inner.set('anyOf', real);
  if (schema.get('default') === null) inner.delete('default');
  const choices = arrayOf(inner.get('enum')).filter((one) => one !== null);
  if (inner.has('enum')) inner.set('enum', choices);
  return inner;
}

/**
 * Returns the field for a schema that also allows null: an empty field is null if the value is required, and is left
 * out otherwise.
 */
function nullableField(form: Form, inner: JsonObject, about: About, depth: number): Field {
  const made = fieldOf(form, inner, { ...about, required: false }, depth);
  const { read } = made;
  made.read = () => read() ?? (about.required && !made.syntax() ? null : undefined);
  return made;
}

function plainField(form: Form, schema: JsonObject, about: About, depth: number): Field {
  if (schema.has('const')) return constantField(form, schema, about);
  const choices = choicesOf(schema, form.root);
  if (choices.length) return choiceField(form, schema, about, choices);
  const variants = variantsOf(schema);
  if (variants.length > mostChoices) return rawField(form, schema, about);
  if (variants.length && !schema.has('properties')) return variantField(form, schema, about, variants, depth);
  const types = realTypes(schema);
  if (types.length > 1) {
    const ofTypes = types.map((type) => new Map([...schema, ['type', type], ['title', type]]));
    return variantField(form, schema, about, ofTypes, depth);
  }
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
    case 'array':
      return arrayField(form, schema, about, depth);
    default:
      return rawField(form, schema, about);
  }
}

function arrayField(form: Form, schema: JsonObject, about: About, depth: number): Field {
  const several = choicesOf(resolve(schema.get('items'), form.root), form.root);
  if (several.length) return severalField(form, schema, about, several);
  return schema.has('items') && !stringOf(schema.get('prefixItems'))
    ? listField(form, schema, about, depth)
    : rawField(form, schema, about);
}
