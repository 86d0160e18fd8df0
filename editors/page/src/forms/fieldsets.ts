// Fields that contain other fields: objects, lists, and the choice between several schemas.
import { h, replace, show } from '../elements/dom.js';
import { caption, choiceField, field, rawField } from './fields.js';
import { arrayOf, objectOf, stringOf } from '../words/jsontext.js';
import { visible } from '../words/text.js';
import { pathTo, resolve, typesOf, validate } from './validate.js';
import { t } from '../words/t.js';
import type { Json, JsonObject } from '../words/jsontext.js';
import type { About, Field, Form } from './fields.js';

const button = (text: string, onclick: () => void) => h('button', { class: 'secondary small', text, onclick });

/** The fields for the members of an object. They are there only while the object is. */
class Members {
  readonly parts: HTMLElement[];
  readonly #form: Form;
  readonly #schema: JsonObject;
  readonly #depth: number;
  readonly #optional: boolean;
  readonly #body = h('div', { class: 'fields' });
  readonly #add: HTMLButtonElement;
  readonly #remove: HTMLButtonElement;
  #fields: Map<string, Field> | undefined;
  /** The members that have no field. They must not be lost. */
  #rest: [string, Json][] = [];

  constructor(form: Form, schema: JsonObject, about: About, depth: number) {
    this.#form = form;
    this.#schema = schema;
    this.#depth = depth;
    this.#optional = depth > 0 && !about.required;
    const name = caption(form, schema, about).main;
    this.#add = button(t('Add {0}', name), () => {
      this.#draw();
      this.#first?.focus();
    });
    this.#remove = button(t('Remove {0}', name), () => {
      this.#clear();
      this.#add.focus();
    });
    this.parts = [this.#add, this.#body, this.#remove];
  }

  focus() {
    (this.#first ?? this.#add).focus();
  }

  read(): JsonObject | undefined {
    if (!this.#fields) return undefined;
    const found: [string, Json][] = [];
    for (const [key, child] of this.#fields) {
      const value = child.read();
      if (value !== undefined) found.push([key, value]);
    }
    return new Map([...found, ...this.#rest]);
  }

  set(value: Json | undefined) {
    this.#clear();
    if (value === undefined && this.#optional) return;
    const fields = this.#draw();
    if (!(value instanceof Map)) return;
    this.#rest = [...value].filter(([key]) => !this.#properties.has(key));
    for (const [key, child] of fields) child.set(value.get(key));
  }

  visit(path: string, see: (path: string, field: Field) => void) {
    for (const [key, child] of this.#fields ?? []) child.visit(pathTo(path, key), see);
  }

  get #properties() {
    return objectOf(this.#schema.get('properties'));
  }

  get #first() {
    return this.#fields?.values().next().value;
  }

  #draw() {
    const required = arrayOf(this.#schema.get('required')).map(stringOf);
    const make = (name: string, schema: Json) =>
      this.#form.make(schema, { name, required: required.includes(name) }, this.#depth + 1);
    this.#fields ??= new Map([...this.#properties].map(([name, schema]) => [name, make(name, schema)]));
    replace(
      this.#body,
      [...this.#fields.values()].map((child) => child.element),
    );
    show(this.#add, false);
    show(this.#remove, this.#optional);
    return this.#fields;
  }

  #clear() {
    this.#fields = undefined;
    this.#rest = [];
    replace(this.#body);
    show(this.#add, true);
    show(this.#remove, false);
  }
}

/**
 * Returns the field for an object. An optional object is drawn when the user adds it: only then its required fields
 * matter, and a schema that refers to itself comes to an end.
 */
export function objectField(form: Form, schema: JsonObject, about: About, depth: number): Field {
  const members = new Members(form, schema, about, depth);
  const control = depth > 0 ? h('fieldset', { class: 'field nested' }) : h('div', { class: 'fields', role: 'group' });
  const made = field(form, schema, about, control, {
    group: members.parts,
    read: () => members.read(),
    set: (value) => members.set(value),
    focus: () => members.focus(),
  });
  made.visit = (path, see) => {
    see(path, made);
    members.visit(path, see);
  };
  if (depth === 0) made.element.querySelector('legend')?.remove();
  return made;
}

export function listField(form: Form, schema: JsonObject, about: About, depth: number): Field {
  const list = h('div', { class: 'fields', role: 'list' });
  let rows: { row: HTMLElement; child: Field; remove: HTMLButtonElement }[] = [];
  /** The whole list as JSON text, when it is too long to be drawn. */
  let whole: Field | undefined;
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

/** Returns the field for a value that fits one of several schemas. */
export function variantField(form: Form, schema: JsonObject, about: About, variants: Json[], depth: number): Field {
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
  let child: Field | undefined;
  const chooser = choiceField(form, new Map(), { ...about, name: t('Form') }, labels);
  const choose = (at: Json | undefined) => {
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
