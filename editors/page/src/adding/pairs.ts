// The fields for names with values: environment variables or headers.

import { t } from '../words/t.js';
import { h } from '../elements/dom.js';
import { shortName } from '../words/text.js';
import { sayer, textBox } from './field.js';
import { ValueControl } from './value.js';
import type {
  ConfigFileJson as ConfigFile,
  EntryInputJson as EntryInput,
} from '../../../host/src/gen/mcphub/v1/config_pb.js';

/** What the pairs of one kind are called, and what they do. */
interface Kind {
  legend: string;
  one: string;
  add: string;
  /** names with the same key are the same name */
  key?: (name: string) => string;
  changed: () => void;
}

/** One name with its value. */
class Pair {
  readonly element: HTMLElement;
  readonly control: ValueControl;
  readonly say: (message: string) => void;
  readonly #box: HTMLInputElement;
  readonly #one: string;
  readonly #drop: HTMLButtonElement;

  constructor({ one, changed }: Kind, name: string, value: string, stands: boolean, removed: () => void) {
    this.#one = one;
    this.#box = textBox({ placeholder: t('NAME'), value: name });
    this.control = new ValueControl(() => this.name || one, { value, stands, changed });
    this.#drop = h('button', { class: 'link', text: t('Remove'), onclick: removed });
    const error = h('p', { class: 'field-error', hidden: true, id: crypto.randomUUID() });
    this.#box.setAttribute('aria-describedby', error.id);
    this.say = sayer(error, [this.#box, this.control.typed]).say;
    this.element = h(
      'li',
      { class: 'pair' },
      h('div', { class: 'inline' }, this.#box, this.#drop),
      this.control.element,
      error,
    );
    this.#box.addEventListener('input', () => {
      this.#relabel();
      changed();
    });
    this.#relabel();
  }

  get name() {
    return this.#box.value.trim();
  }

  get used() {
    return this.name !== '' || !this.control.empty;
  }

  focus() {
    this.#box.focus();
  }

  /** @param twice another row has the name, too */
  check(twice: boolean) {
    const fault = this.#fault(twice);
    this.say(fault);
    return fault === '' ? undefined : this.#box;
  }

  #fault(twice: boolean) {
    const { name, control } = this;
    if (name === '') return control.empty ? '' : t('Enter a name.');
    if (twice) return t('This name is already used.');
    const variable = control.typed.value.trim();
    return control.way === 'env' && !/^[A-Za-z_]\w*$/.test(variable) ? t('Enter the name of a variable.') : '';
  }

  #relabel() {
    this.#box.setAttribute('aria-label', t('Name of the {0}', this.#one));
    this.#drop.setAttribute(
      'aria-label',
      t('Remove {0}', shortName(this.name) || t('the {0} without a name', this.#one)),
    );
    this.control.paint();
  }
}

export class Pairs {
  readonly element: HTMLElement;
  readonly #kind: Kind;
  readonly #key: (name: string) => string;
  readonly #list = h('ul', { class: 'lines' });
  readonly #more: HTMLButtonElement;
  #rows: Pair[] = [];
  /** Secrets of rows that were removed. */
  #gone: string[] = [];
  #file: ConfigFile | undefined;

  constructor(kind: Kind) {
    this.#kind = kind;
    this.#key = kind.key ?? ((name) => name);
    this.#more = h('button', { class: 'link', text: kind.add, onclick: () => this.#add('', '', false).focus() });
    this.element = h('fieldset', { class: 'field' }, h('legend', { text: kind.legend }), this.#list, this.#more);
  }

  /** @param stand the values are in the file already */
  set(values: Record<string, string>, stand: boolean) {
    this.#rows = [];
    this.#gone = [];
    this.#list.replaceChildren();
    for (const [name, value] of Object.entries(values)) this.#add(name, value, stand);
  }

  fits(file: ConfigFile | undefined) {
    this.#file = file;
    for (const { control } of this.#rows) control.fits(file);
  }

  /** Shows the faults, and returns the name field of the first row with one. */
  check() {
    const seen = new Set();
    let first: HTMLElement | undefined;
    for (const row of this.#rows) {
      const key = this.#key(row.name);
      const wrong = row.check(seen.has(key));
      first ??= wrong;
      seen.add(key);
    }
    return first;
  }

  /** Returns the row of a name. */
  row(name: string) {
    return this.#rows.find((row) => this.#key(row.name) === this.#key(name));
  }

  /** Returns the texts for the entry by name. See ValueControl.read. */
  read(idOf: (name: string) => string, reference: string): Record<string, string> {
    return Object.fromEntries(this.#used().map(({ name, control }) => [name, control.read(idOf(name), reference)]));
  }

  /** Returns the inputs that are asked for at the start of the server. */
  asked(idOf: (name: string) => string): EntryInput[] {
    return this.#used()
      .filter(({ control }) => control.way === 'ask')
      .map(({ name }) => ({ id: idOf(name), description: name, secret: true }));
  }

  secrets() {
    return [...this.#gone, ...this.#rows.flatMap(({ control }) => control.secrets())];
  }

  #used() {
    return this.#rows.filter(({ used }) => used);
  }

  #add(name: string, value: string, stands: boolean) {
    const row = new Pair(this.#kind, name, value, stands, () => this.#remove(row));
    row.control.fits(this.#file);
    this.#rows.push(row);
    this.#list.append(row.element);
    return row;
  }

  #remove(row: Pair) {
    const at = this.#rows.indexOf(row);
    this.#rows.splice(at, 1);
    this.#gone.push(...row.control.secrets());
    row.element.remove();
    (this.#rows[at] ?? this.#rows[at - 1])?.focus();
    if (this.#rows.length === 0) this.#more.focus();
    this.#kind.changed();
  }
}
