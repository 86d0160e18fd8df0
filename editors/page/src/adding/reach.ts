// The fields for how a server is reached: by a command that McpHub runs, or at an address.

import { t } from '../words/t.js';
import { h, show } from '../elements/dom.js';
import { labelled, linesBox, textBox } from './field.js';
import { Pairs } from './pairs.js';
import { asLines, ofLines, wordsOf } from './proposal.js';
import type { ServerFormJson as ServerForm } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Field } from './field.js';
import type { Proposal } from './proposal.js';

/** Puts the values that people have given into the texts of an entry. */
export interface Fill {
  text: (text: string) => string;
  /** leaves out the texts whose value nobody has given */
  texts: (texts: readonly string[]) => string[];
  pairs: (pairs: Pairs) => Record<string, string>;
}

/** What shows a fault: a field, or a row of pairs. */
export type Place = Pick<Field, 'element' | 'say'>;

export interface Reach {
  readonly element: HTMLElement;
  /** the box that must be filled in */
  readonly main: HTMLInputElement;
  /** the environment variables, or the headers */
  readonly pairs: Pairs;
  read: (fill: Fill) => ServerForm;
  /** @param stands the values are in the file already */
  set: (proposal: Proposal, stands: boolean) => void;
  /** shows the faults, and returns the first field with one */
  check: () => HTMLElement | undefined;
  /** removes all messages, except those of the pairs */
  unsay: () => void;
  /** returns what shows the faults of a key of the config file; name: the rest of the key, for pairs */
  at: (key: string, name: string) => Place | undefined;
}

export class CommandFields implements Reach {
  readonly element: HTMLElement;
  readonly main: HTMLInputElement;
  readonly pairs: Pairs;
  readonly #split: HTMLButtonElement;
  readonly #args: HTMLTextAreaElement;
  readonly #cwd: HTMLInputElement;
  /** The fields by their keys in config files. */
  readonly #fields: Map<string, Field>;
  readonly #command: Field;
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.main = textBox({
      oninput: () => {
        this.#hintSplit();
        changed();
      },
      dataset: { testid: 'adding-command' },
    });
    this.#split = h('button', {
      class: 'link',
      hidden: true,
      text: t('Split into command and arguments'),
      onclick: () => this.#splitWords(),
    });
    this.#args = linesBox({ oninput: changed, dataset: { testid: 'adding-args' } });
    this.#cwd = textBox({ oninput: changed, dataset: { testid: 'adding-cwd' } });
    this.#command = labelled(t('Command'), this.main, {
      hint: t('The program alone: npx, uvx, docker or a path.'),
      after: this.#split,
    });
    const args = labelled(t('Arguments'), this.#args, {
      hint: t('One per line. They are passed as they are, without a shell.'),
    });
    const cwd = labelled(t('Working directory'), this.#cwd, {
      hint: t('Leave empty for the default of the config file.'),
    });
    this.#fields = new Map(Object.entries({ command: this.#command, args, cwd }));
    this.pairs = new Pairs({
      legend: t('Environment variables'),
      one: t('variable'),
      add: t('Add a variable'),
      changed,
    });
    this.element = h('div', { class: 'fields' }, this.#command.element, args.element, this.pairs.element, cwd.element);
  }

  read(fill: Fill): ServerForm {
    const directory = this.#cwd.value.trim();
    return {
      command: fill.text(this.main.value.trim()),
      args: fill.texts(ofLines(this.#args.value)),
      environment: fill.pairs(this.pairs),
      ...(directory && { directory: fill.text(directory) }),
    };
  }

  set({ command = '', args = [], env = {}, cwd = '' }: Proposal, stands: boolean) {
    this.main.value = command;
    this.#args.value = asLines(args);
    this.pairs.set(env, stands);
    this.#cwd.value = cwd;
    this.#hintSplit();
    this.unsay();
  }

  check() {
    const missing = this.main.value.trim() === '';
    this.#command.say(missing ? t('Enter a command.') : '');
    const wrong = this.pairs.check();
    return missing ? this.main : wrong;
  }

  unsay() {
    for (const field of this.#fields.values()) field.say('');
  }

  at(key: string, name: string) {
    return (name && key.startsWith('env') ? this.pairs.row(name) : undefined) ?? this.#fields.get(key);
  }

  /** A command line that was pasted as the command can be split. The path of a program may have spaces in it. */
  #hintSplit() {
    const command = this.main.value.trim();
    const isPath = /^([a-z]:)?[\\/]/i.test(command);
    const words = wordsOf(command)?.length ?? 0;
    show(this.#split, !isPath && words > 1 && this.#args.value.trim() === '');
  }

  #splitWords() {
    const [program = '', ...rest] = wordsOf(this.main.value.trim()) ?? [];
    this.main.value = program;
    this.#args.value = asLines(rest);
    this.#hintSplit();
    this.#args.focus();
    this.#changed();
  }
}

export class UrlFields implements Reach {
  readonly element: HTMLElement;
  readonly main: HTMLInputElement;
  readonly pairs: Pairs;
  readonly #transport: HTMLSelectElement;
  readonly #url: Field;
  readonly #type: Field;

  constructor(changed: () => void) {
    this.main = textBox({
      inputmode: 'url',
      oninput: changed,
      dataset: { testid: 'adding-url' },
      placeholder: t('https://'),
    });
    this.#url = labelled(t('URL'), this.main);
    this.#transport = h(
      'select',
      { onchange: changed },
      h('option', { value: '', text: t('Auto-detect') }),
      h('option', { value: 'http', text: t('Streamable HTTP') }),
      h('option', { value: 'sse', text: t('HTTP with SSE') }),
    );
    this.#type = labelled(t('Transport'), this.#transport);
    this.pairs = new Pairs({
      legend: t('Headers'),
      one: t('header'),
      add: t('Add a header'),
      key: (name) => name.toLowerCase(),
      changed,
    });
    this.element = h('div', { class: 'fields' }, this.#url.element, this.#type.element, this.pairs.element);
  }

  read(fill: Fill): ServerForm {
    const transport = this.#transport.value;
    return {
      url: fill.text(this.main.value.trim()),
      ...(transport && { transport: transport === 'sse' ? 'SERVER_TRANSPORT_SSE' : 'SERVER_TRANSPORT_HTTP' }),
      headers: fill.pairs(this.pairs),
    };
  }

  set({ url = '', transport = '', headers = {} }: Proposal, stands: boolean) {
    this.main.value = url;
    this.#transport.value = transport;
    this.pairs.set(headers, stands);
    this.unsay();
  }

  check() {
    const url = this.main.value.trim();
    const good = /^https?:\/\/./i.test(url) || /^\$?\{/.test(url); // a reference stands for an address
    this.#url.say(good ? '' : t('Enter a URL that starts with http:// or https://.'));
    const wrong = this.pairs.check();
    return good ? wrong : this.main;
  }

  unsay() {
    this.#url.say('');
    this.#type.say('');
  }

  at(key: string, name: string) {
    if (name && /headers$/.test(key)) return this.pairs.row(name);
    if (['url', 'serverUrl', 'httpUrl'].includes(key)) return this.#url;
    return key === 'type' ? this.#type : undefined;
  }
}
