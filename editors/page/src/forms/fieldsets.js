// Fields that contain other fields: objects, lists, and the choice between several schemas.
import { h, replace, show } from '../elements/dom.js';
import { caption, choiceField, field, rawField } from './fields.js';
import { arrayOf, objectOf, stringOf } from '../words/jsontext.js';
import { visible } from '../words/text.js';
import { pathTo, resolve, typesOf, validate } from './validate.js';
import { t } from '../words/t.js';

/** @typedef {import('../words/jsontext.js').Json} Json */
/** @typedef {import('../words/jsontext.js').JsonObject} JsonObject */
/** @typedef {import('./fields.js').Field} Field */
/** @typedef {import('./fields.js').Form} Form */
/** @typedef {import('./fields.js').About} About */

/** @param {string} text @param {() => void} onclick */
const button = (text, onclick) => h('button', { class: 'secondary small', text, onclick });

/**
 * Returns the field for an object. An optional object is drawn when the user adds it: only then its required fields
 * matter, and a schema that refers to itself comes to an end.
 * @param {Form} form @param {JsonObject} schema @param {About} about @param {number} depth
 * @returns {Field}
 */
export function objectField(form, schema, about, depth) {
  const properties = objectOf(schema.get('properties'));
  const required = new Set(arrayOf(schema.get('required')).map(stringOf));
  const body = h('div', { class: 'fields' });
  /** @type {Map<string, Field> | undefined} */
  let inside;
  /** @type {[string, Json][]} */
  let rest = [];
  const name = caption(form, schema, about).main;
  const add = button(t('Add {0}', name), () => {
    draw();
    inside?.values().next().value?.focus();
  });
  const remove = button(t('Remove {0}', name), () => {
    clear();
    add.focus();
  });
  const optional = depth > 0 && !about.required;
  const draw = () => {
    inside ??= new Map(
      [...properties].map(([key, child]) => [
        key,
        form.make(child, { name: key, required: required.has(key) }, depth + 1),
      ]),
    );
    replace(
      body,
      [...inside.values()].map((child) => child.element),
    );
    show(add, false);
    show(remove, optional);
  };
  const clear = () => {
    inside = undefined;
    rest = [];
    replace(body);
    show(add, true);
    show(remove, false);
  };
  const made = field(
    form,
    schema,
    about,
    depth > 0 ? h('fieldset', { class: 'field nested' }) : h('div', { class: 'fields', role: 'group' }),
    {
      group: [add, body, remove],
      read() {
        if (!inside) return undefined;
        /** @type {[string, Json][]} */
        const found = [];
        for (const [key, child] of inside) {
          const value = child.read();
          if (value !== undefined) found.push([key, value]);
        }
        return new Map([...found, ...rest]);
      },
      set(value) {
        clear();
        if (value === undefined && optional) return;
        draw();
        if (!(value instanceof Map)) return;
        rest = [...value].filter(([key]) => !properties.has(key)); // members without a field must not be lost
        for (const [key, child] of inside ?? []) child.set(value.get(key));
      },
      focus: () => (inside?.values().next().value ?? { focus: () => add.focus() }).focus(),
    },
  );
  made.visit = (path, see) => {
    see(path, made);
    for (const [key, child] of inside ?? []) child.visit(pathTo(path, key), see);
  };
  if (depth === 0) made.element.querySelector('legend')?.remove();
  return made;
}

/** @param {Form} form @param {JsonObject} schema @param {About} about @param {number} depth @returns {Field} */
export function listField(form, schema, about, depth) {
  const list = h('div', { class: 'fields', role: 'list' });
  /** @type {{ row: HTMLElement, child: Field, remove: HTMLButtonElement }[]} */
  let rows = [];
  /** The whole list as JSON text, when it is too long to be drawn. @type {Field | undefined} */
  let whole;
  const add = button(t('Add entry'), () => append().focus());
  const label = () =>
    rows.forEach(({ row, remove }, i) => {
      row.setAttribute('aria-label', t('Entry {0}', i + 1));
      remove.setAttribute('aria-label', t('Remove entry {0}', i + 1));
    });
  const append = () => {
    const child = form.make(schema.get('items'), { name: t('Entry'), required: true, item: true }, depth + 1);
    const remove = button(t('Remove'), () => {
      const at = rows.findIndex((one) => one.row === row);
      rows.splice(at, 1);
      row.remove();
      label();
      (rows[at] ?? rows.at(-1))?.child.focus();
      if (!rows.length) add.focus();
      form.check();
    });
    const row = h('div', { class: 'entry', role: 'listitem' }, child.element, remove);
    rows.push({ row, child, remove });
    list.append(row);
    label();
    return child;
  };
  const made = field(form, schema, about, h('fieldset', { class: 'field nested' }), {
    group: [list, add],
    read: () =>
      whole ? whole.read() : rows.length || about.required ? rows.map(({ child }) => child.read() ?? null) : undefined,
    set(value) {
      rows = [];
      whole = arrayOf(value).length > form.room() ? rawField(form, new Map(), about) : undefined;
      show(add, !whole);
      replace(list, whole?.element);
      list.setAttribute('role', whole ? 'none' : 'list');
      if (whole) whole.set(value);
      else for (const item of arrayOf(value)) append().set(item);
    },
    focus: () => (whole ?? add).focus(),
  });
  made.visit = (path, see) => {
    see(path, made);
    whole?.visit(path, see);
    rows.forEach(({ child }, i) => child.visit(pathTo(path, i), see));
  };
  return made;
}

/**
 * Returns the field for a value that fits one of several schemas.
 * @param {Form} form @param {JsonObject} schema @param {About} about @param {Json[]} variants @param {number} depth
 * @returns {Field}
 */
export function variantField(form, schema, about, variants, depth) {
  const labels = variants.map((variant, i) => {
    const found = resolve(variant, form.root);
    const only = [...objectOf(found.get('properties')).values()]
      .map((one) => stringOf(objectOf(one).get('const')))
      .find(Boolean);
    return {
      value: String(i),
      label: visible(stringOf(found.get('title')) || only || typesOf(found).join(t(' or ')) || t('Form {0}', i + 1)),
    };
  });
  const holder = h('div', { class: 'fields' });
  /** @type {Field | undefined} */
  let child;
  const chooser = choiceField(form, new Map(), { ...about, name: t('Form') }, labels);
  const choose = (/** @type {Json | undefined} */ at) => {
    child = at === undefined ? undefined : form.make(variants[Number(at)], { ...about, required: true }, depth + 1);
    replace(holder, child?.element);
  };
  chooser.element.addEventListener('change', () => choose(chooser.read()));
  const made = field(form, schema, about, h('fieldset', { class: 'field nested' }), {
    group: [chooser.element, holder],
    read: () => child?.read(),
    set(value) {
      const fits =
        value === undefined ? -1 : variants.findIndex((variant) => !validate(variant, value, form.root).length);
      const at = fits < 0 && value !== undefined ? 0 : fits;
      chooser.set(at < 0 ? undefined : String(at));
      choose(at < 0 ? undefined : String(at));
      child?.set(value);
    },
    focus: () => chooser.focus(),
  });
  made.visit = (path, see) => {
    see(path, made);
    child?.visit(path, see);
  };
  return made;
}
