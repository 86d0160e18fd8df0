// The choice of the config file that an entry is added to. It offers the files that the hub reads and can write, and
// says why the others cannot be chosen.

import { plural, t } from '../words/t.js';
import { h, replace, show } from '../elements/dom.js';
import { labelled } from './field.js';
import { likeliestFile } from './writing.js';
import { placeLink } from '../surface.js';
import { shortName, visible } from '../words/text.js';
import type { ConfigFileJson as ConfigFile } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page } from '../page.js';
import type { Field } from './field.js';

const scopes: Record<string, string> = { user: t('user'), workspace: t('workspace') };

function optionOf({ path = '', scope = '', exists }: ConfigFile) {
  const notes = [scopes[scope], exists ? '' : t('will be created')].filter(Boolean).join(', ');
  return h('option', { value: path, text: notes ? `${visible(path)} (${notes})` : visible(path) });
}

export class FileChoice {
  readonly element: HTMLElement;
  readonly #page: Page;
  readonly #select: HTMLSelectElement;
  readonly #summary = h('summary', {});
  readonly #others = h('ul', { class: 'lines' });
  readonly #why = h('details', { hidden: true }, this.#summary, this.#others);
  readonly #field: Field;
  #files: ConfigFile[] = [];

  constructor(page: Page, changed: () => void) {
    this.#page = page;
    this.#select = h('select', { dataset: { testid: 'adding-file' }, onchange: changed });
    this.#field = labelled(t('Config file'), this.#select, { after: this.#why });
    this.element = this.#field.element;
  }

  get chosen() {
    return this.#files.find((file) => file.path === this.#select.value && !file.notWritable);
  }

  /** Returns the control if no file is chosen. */
  check() {
    return this.chosen ? undefined : this.#select;
  }

  /** Asks the hub for the files. What was chosen stays chosen. */
  async list() {
    const { error, response } = await this.#page.call('ListConfigFiles', {});
    this.#files = response?.files ?? [];
    const good = this.#files.filter((file) => !file.notWritable);
    this.#offer(good);
    this.#explain(this.#files.filter((file) => file.notWritable));
    const none = t('McpHub can write to no config file. Create one, or add one in the McpHub settings.');
    this.#field.say(error ? (error.message ?? '') : good.length === 0 ? none : '');
  }

  /** Returns what is wrong with a name: because of the chosen file (here), or of another one (elsewhere). */
  clash(name: string) {
    const having = this.#files.filter((file) => file.servers?.includes(name));
    if (having.some((file) => file.path === this.#select.value))
      return {
        here: t('“{0}” already exists in this file. Choose another name, or change that entry.', shortName(name)),
        elsewhere: '',
      };
    const [first] = having;
    return {
      here: '',
      elsewhere: first
        ? t('{0} also has an entry with this name. The later file takes precedence.', visible(first.path))
        : '',
    };
  }

  #offer(files: readonly ConfigFile[]) {
    const before = this.#select.value;
    const once = files.filter((file, i) => files.findIndex(({ path }) => path === file.path) === i);
    this.#select.replaceChildren(...once.map(optionOf));
    const chosen = files.find((file) => file.path === before) ?? likeliestFile(files);
    if (chosen?.path) this.#select.value = chosen.path;
  }

  #explain(files: readonly ConfigFile[]) {
    show(this.#why, files.length > 0);
    replace(
      this.#summary,
      plural(files.length, '{0} other file is not available', '{0} other files are not available'),
    );
    replace(
      this.#others,
      files.map((file) =>
        h('li', {}, placeLink(this.#page.surface, file.path, file.line), ` ${visible(file.notWritable)}`),
      ),
    );
  }
}
