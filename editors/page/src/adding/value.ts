// How an entry gets a value: it is written into the file, asked for when the server starts, or taken from an
// environment variable. Everybody who can read the file can read a secret in it, so the other two ways are offered
// where the file's dialect can express them.

import { t } from '../words/t.js';
import { h, show } from '../elements/dom.js';
import { dots } from './frame.js';
import { linesBox, textBox } from './field.js';
import { looksSecret } from './proposal.js';
import { shortName, visible } from '../words/text.js';
import type { ConfigFileJson as ConfigFile } from '../../../host/src/gen/mcphub/v1/config_pb.js';

export type Way = 'text' | 'ask' | 'env';

const ways: [Way, string][] = [
  ['text', t('Save in file')],
  ['ask', t('Ask at server start')],
  ['env', t('Environment variable')],
];

/** Returns the ways that a file can express. */
const waysOf = (file: ConfigFile | undefined): Way[] => [
  'text',
  ...(file?.takesInputs ? (['ask'] as Way[]) : []),
  ...(file?.environmentReference ? (['env'] as Way[]) : []),
];

/** Reports whether a text refers to a value that is kept elsewhere: a reference is no secret itself. */
const refers = (text: string) => /\$\{|\{env:|\{file:/.test(text);

function control(value: string, options: readonly string[] | undefined) {
  if (options)
    return h(
      'select',
      {},
      h('option', { value: '', text: t('Choose…') }),
      ...options.map((text) => h('option', { value: text, text: visible(text) })),
    );
  return /[\r\n]/.test(value) ? linesBox() : textBox();
}

export interface ValueOptions {
  secret?: boolean;
  /** the value is asked for at the start, where the file can express that; by default if it is a secret */
  ask?: boolean;
  value?: string;
  /** the value is in the file already, so a person has chosen the way */
  stands?: boolean;
  /** the only allowed values */
  options?: string[];
  changed: () => void;
}

/** The control for one value, and for the way in which the entry gets it. */
export class ValueControl {
  readonly element: HTMLElement;
  readonly typed: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
  readonly #label: () => string;
  readonly #given: ValueOptions;
  readonly #value: string;
  /** The value as the control normalizes it. As long as nobody changes that text, the value stays the original one. */
  readonly #untouched: string;
  readonly #way = h('select', { onchange: () => this.#choose() });
  readonly #plain = h('p', {
    class: 'warning',
    hidden: true,
    text: t('Everyone who can read the file can read it there.'),
  });
  /** A person has chosen the way. */
  #chosen: boolean;
  #file: ConfigFile | undefined;

  /** @param label returns the name of the value */
  constructor(label: () => string, given: ValueOptions) {
    const { value = '', stands = false, options } = given;
    this.#label = label;
    this.#given = given;
    this.#value = value;
    this.#chosen = stands;
    this.typed = control(value, options);
    this.typed.value = value;
    this.#untouched = this.typed.value;
    this.typed.addEventListener('input', () => {
      this.paint();
      given.changed();
    });
    this.element = h('div', { class: 'value' }, h('div', { class: 'inline' }, this.typed, this.#way), this.#plain);
    this.paint();
  }

  focus() {
    (this.typed.hidden ? this.#way : this.typed).focus();
  }

  get way() {
    return (this.#way.value || 'text') as Way;
  }

  get empty() {
    return this.way !== 'ask' && this.typed.value === '';
  }

  fits(file: ConfigFile | undefined) {
    this.#file = file;
    this.paint();
  }

  /**
   * Returns the text for the entry.
   * @param id of the input
   * @param reference how the entry spells an environment variable that is called NAME
   * @param shown dots stand for a covered value
   */
  read(id: string, reference: string, shown: boolean = false) {
    if (this.way === 'ask') return `\${input:${id}}`;
    if (this.way === 'env') return reference.replace('NAME', this.typed.value.trim());
    return shown && this.#covers() && !this.#given.options && this.typed.value !== '' ? dots : this.#text();
  }

  /** Returns the secrets: the original value, and the current one. */
  secrets() {
    if (!this.#isSecret() || this.#given.options) return [];
    return [this.#value, this.way === 'text' ? this.#text() : ''].filter((one) => one && !refers(one));
  }

  /** Is called when the name of the value, its text or the file has changed. */
  paint() {
    const before = this.way;
    const possible = waysOf(this.#file);
    const better = possible.find((one) => one !== 'text') ?? 'text';
    // A value that was to be asked for must not be written into the file just because another file was chosen.
    const moved = before === 'ask' && !possible.includes('ask');
    this.#offer(possible);
    if (this.#chosen && possible.includes(before)) this.#way.value = before;
    else this.#way.value = moved || this.#shouldLeave() ? better : 'text';
    if (moved && better === 'env') this.typed.value = this.#label();
    this.#name();
    this.#cover();
    show(this.#way, possible.length > 1);
  }

  #choose() {
    this.#chosen = true;
    this.paint();
    if (this.way === 'env' && this.typed.value === '') this.typed.value = this.#label();
    this.#given.changed();
  }

  #offer(possible: readonly Way[]) {
    const { options } = this.#way;
    if (options.length === possible.length && possible.every((one, i) => options[i]?.value === one)) return;
    this.#way.replaceChildren(
      ...ways.filter(([one]) => possible.includes(one)).map(([value, text]) => h('option', { value, text })),
    );
  }

  /** Reports whether the value should not be written into the file unless a person chooses that. */
  #shouldLeave() {
    const { secret = false, ask = secret } = this.#given;
    return !this.#chosen && (ask || (looksSecret(this.#label()) && this.typed.value === ''));
  }

  #name() {
    const name = shortName(this.#label());
    this.typed.setAttribute('aria-label', this.way === 'env' ? t('Variable for {0}', name) : t('Value of {0}', name));
    this.#way.setAttribute('aria-label', t('How {0} is given', name));
  }

  #cover() {
    const covers = this.#covers();
    show(this.typed, this.way !== 'ask');
    show(this.#plain, covers && this.typed.value !== '');
    if (this.typed instanceof HTMLInputElement) this.typed.type = covers ? 'password' : 'text';
    else if (!this.#given.options) this.typed.classList.toggle('covered', covers);
  }

  #isSecret() {
    return this.#given.secret === true || looksSecret(this.#label());
  }

  #covers() {
    return this.way === 'text' && this.#isSecret() && !refers(this.typed.value);
  }

  #text() {
    return this.typed.value === this.#untouched && !this.#given.options ? this.#value : this.typed.value;
  }
}
