// A form for a JSON Schema: for the arguments of a tool, or the question of a server. Optional fields that are empty
// are not sent. Numbers are sent as they were typed.
import { h, show } from '../elements/dom.js';
import { notJson, rawField } from './fields.js';
import { objectField } from './fieldsets.js';
import { fieldOf } from './schemafield.js';
import { lostAt, objectOf, parse, stringify } from '../words/jsontext.js';
import { pretty, visible } from '../words/text.js';
import { resolve, validate } from './validate.js';
import { t } from '../words/t.js';
import type { Json, JsonObject } from '../words/jsontext.js';
import type { Field, Form } from './fields.js';

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

export const schemaForm = (
  schemaJson: string | undefined,
  { idPrefix, flat = false }: { idPrefix: string; flat?: boolean },
): SchemaForm => new FormOfSchema(schemaJson, idPrefix, flat);

/** Returns a schema. One that cannot be parsed has no fields: the values can still be edited as JSON. */
function schemaOf(json: string | undefined) {
  try {
    return objectOf(parse(json || '{}'));
  } catch {
    return objectOf(null);
  }
}

/** Returns the field at a path, or the nearest one around it that was drawn. */
function nearest(fields: ReadonlyMap<string, Field>, path: string) {
  let at = path;
  while (at && !fields.has(at)) at = at.slice(0, at.lastIndexOf('/'));
  return at ? fields.get(at) : undefined;
}

class FormOfSchema implements SchemaForm {
  readonly element: HTMLElement;
  readonly #root: JsonObject;
  readonly #whole: HTMLTextAreaElement;
  readonly #problem: HTMLElement;
  /** Stands in the place of the fields if there are none. */
  readonly #none: HTMLElement;
  readonly #switcher = h('button', {
    'class': 'link',
    'aria-pressed': 'false',
    'text': t('Edit as JSON'),
    'onclick': () => this.#turn(),
  });
  /** The content at the start, as JSON. */
  readonly #start: string;
  /** How many more fields may be drawn. */
  #left = maxFields;
  /** The fields; undefined while they are being made, and if there are none. */
  #top: Field | undefined;

  constructor(schemaJson: string | undefined, idPrefix: string, flat: boolean) {
    this.#root = schemaOf(schemaJson);
    this.#whole = h('textarea', {
      'class': 'code grows',
      'rows': 6,
      'spellcheck': 'false',
      'autocomplete': 'off',
      'id': `${idPrefix}-json`,
      'aria-label': t('All values as JSON'),
      'aria-describedby': `${idPrefix}-problem`,
      'hidden': true,
      'oninput': () => this.#say(''),
    });
    this.#problem = h('p', { class: 'field-error', id: `${idPrefix}-problem`, hidden: true });
    const schema = resolve(this.#root, this.#root);
    const count = objectOf(schema.get('properties')).size;
    if (count && count <= maxFields)
      this.#top = objectField(this.#form(idPrefix, flat), schema, { name: '', required: true }, 0);
    this.#start = this.#json();
    this.#none = h('p', {
      class: 'muted',
      text: count ? t('{0} fields are too many to show.', count) : t('There are no values to enter.'),
      hidden: this.#top !== undefined,
    });
    this.element = h(
      'div',
      { class: 'schema-form' },
      this.#top?.element,
      this.#none,
      this.#whole,
      this.#problem,
      this.#switcher,
    );
    if (count && !this.#top) this.#turn();
  }

  // These are bound: a card passes them on without the form.
  readonly read = () => {
    const { value, errors } = this.#collect();
    return errors.length ? { errors } : { json: stringify(value) };
  };

  readonly showErrors = (errors: FormError[]) => {
    const first = this.#place(errors, true);
    if (this.#asText) this.#whole.focus();
    else first?.focus();
  };

  readonly focusFirst = () => (this.#asText ? this.#whole : (this.#top ?? this.#switcher)).focus();

  readonly set = (draft: string) => {
    let text = draft;
    try {
      const value = parse(draft);
      if (this.#top && !this.#asText && !this.#setFields(value)) return;
      text = pretty(draft);
    } catch {
      // The draft is half-typed JSON: its text stays unchanged.
    }
    if (!this.#asText) this.#turn();
    this.#whole.value = text;
  };

  readonly draft = () => (this.#asText ? this.#whole.value : this.#json());

  readonly edited = () => this.draft() !== (this.#asText ? pretty(this.#start) : this.#start);

  #form(idPrefix: string, flat: boolean): Form {
    let ids = 0;
    const form: Form = {
      root: this.#root,
      flat,
      id: () => `${idPrefix}-${ids++}`,
      room: () => this.#left,
      check: () => this.#check(),
      make: (schema, about, depth) =>
        --this.#left < 0 || depth > maxDepth
          ? rawField(form, objectOf(schema), about)
          : fieldOf(form, schema, about, depth),
    };
    return form;
  }

  get #asText() {
    return !this.#whole.hidden;
  }

  /** Returns the content of the fields. */
  #value(): Json {
    return this.#top?.read() ?? new Map();
  }

  #json() {
    return stringify(this.#value());
  }

  /** Returns all fields that are drawn, by their paths. */
  #fields() {
    const fields: Map<string, Field> = new Map();
    this.#top?.visit('', (path, field) => fields.set(path, field));
    return fields;
  }

  #say(message: string) {
    this.#problem.textContent = visible(message);
    show(this.#problem, message !== '');
  }

  /** Returns the content with everything that is wrong with it. */
  #collect(): { value: Json; errors: FormError[] } {
    const fields: ReadonlyMap<string, Field> = this.#asText ? new Map() : this.#fields();
    let value: Json = new Map();
    try {
      value = this.#asText ? parse(this.#whole.value) : this.#value();
    } catch (error) {
      return { value, errors: [{ path: '', field: '', message: notJson(error) }] };
    }
    const errors: FormError[] = [];
    for (const [path, field] of fields) {
      const message = field.syntax();
      if (message) errors.push({ path, field: field.label, message });
    }
    for (const { path, message } of validate(this.#root, value, this.#root)) {
      if (!errors.some((error) => error.path === path))
        errors.push({ path, message, field: fields.get(path)?.label ?? path.slice(1) });
    }
    return { value, errors };
  }

  /**
   * Shows each problem at its field, or at the nearest field around it that was drawn.
   * @param all also at fields that the user has not visited
   */
  #place(errors: FormError[], all: boolean) {
    const fields = this.#fields();
    const messages: Map<Field, string> = new Map();
    const rest: string[] = [];
    for (const { path, message, field: label } of errors) {
      const field = this.#asText ? undefined : nearest(fields, path);
      if (field) messages.set(field, messages.get(field) ?? message);
      else if (all) rest.push(label ? `${label}: ${message}` : message);
    }
    this.#say(rest.join('\n'));
    for (const field of fields.values()) {
      field.touched ||= all;
      field.say(field.touched ? (messages.get(field) ?? '') : '');
    }
    return messages.keys().next().value;
  }

  /** Shows the problems at the fields that the user has visited. */
  #check() {
    if (!this.#top) return;
    if (this.#asText) this.#say('');
    else this.#place(this.#collect().errors, false);
  }

  /** Fills in the fields. Returns the path of the first part of the value that they cannot hold, if there is one. */
  #setFields(value: Json) {
    this.#left = maxFields; // the new fields replace the old ones
    this.#top?.set(value);
    return lostAt(value, this.#top?.read());
  }

  /** Changes between the fields and the text. */
  #turn() {
    if (!this.#asText) this.#whole.value = pretty(this.#json());
    else if (!this.#takeText()) return;
    show(this.#whole, Boolean(this.#whole.hidden));
    show(this.#top?.element ?? this.#none, !this.#asText);
    this.#switcher.setAttribute('aria-pressed', String(this.#asText));
    this.#say('');
    if (this.#asText) this.#whole.focus();
  }

  /** Fills in the fields from the text. Reports whether they show all of it; if not, the page says why. */
  #takeText() {
    if (!this.#top) return true;
    try {
      const lost = this.#setFields(parse(this.#whole.value));
      if (!lost) return true;
      const place = lost.join(' / ') || t('the top');
      this.#say(t('The fields cannot show the value at “{0}”. Change it here, or keep the JSON.', place));
    } catch (error) {
      this.#say(notJson(error));
    }
    return false;
  }
}
