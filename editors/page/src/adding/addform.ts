// The form that adds a server. It asks for the way to a proposal, the name of the entry, and the config file.

import { t } from '../words/t.js';
import { h, replace, setText, show } from '../elements/dom.js';
import { shortName, visible } from '../words/text.js';
import { BundleFile } from './bundle.js';
import { EntryForm } from './entryform.js';
import { labelled, textBox } from './field.js';
import { FileChoice } from './files.js';
import { frame } from './frame.js';
import { PastedText } from './pasted.js';
import { RegistrySearch } from './registry.js';
import { writer } from './writing.js';
import type { Proposal } from './proposal.js';
import type { ConfigWriteJson as ConfigWrite } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page } from '../page.js';
import type { Entry, Order } from './entryform.js';

/** What leads to a proposal, besides the fields of the form: a pasted text, or a search elsewhere. */
interface Finder {
  element: HTMLElement;
  begin?: () => void;
  stop?: () => void;
}

/** A way to give a server. */
interface Way {
  id: string;
  label: string;
  /** is called when the way is chosen for the first time; without it, the fields of the form are the way */
  make?: () => Finder;
}

/** Maximum length of the name of an entry, in characters. */
const mostName = 128;

/** Returns what a proposal says about its server. */
const about = ({ title, description, source, warnings = [] }: Proposal) => [
  title && h('h3', { dir: 'auto', text: shortName(title) }),
  description && h('p', { class: 'prose long', tabindex: 0, dir: 'auto', text: visible(description) }),
  source && h('p', { class: 'muted', text: t('From {0}.', visible(source)) }),
  ...warnings.map((text) => h('p', { class: 'warning', text: visible(text) })),
];

export class AddForm {
  readonly element: HTMLElement;
  readonly title: string;
  readonly #done: (write: ConfigWrite, all: boolean) => void;
  readonly #name = textBox({
    maxlength: 4 * mostName,
    dataset: { testid: 'adding-name' },
    oninput: () => {
      this.#checkName();
      this.#form.changed();
    },
  });
  readonly #nameField = labelled(t('Name'), this.#name, {
    hint: t('As it is called in the config file and in lists.'),
  });
  readonly #clash = h('p', { class: 'warning', hidden: true });
  readonly #about = h('div', { class: 'fields', hidden: true });
  readonly #files: FileChoice;
  readonly #form: EntryForm;
  readonly #paste: PastedText;
  readonly #ways: Way[];
  readonly #radios: HTMLInputElement[];
  /** What was made for the ways, by their ids. */
  readonly #finders: Map<string, Finder> = new Map();
  /** Shows the chosen way, unless that is the fields. */
  readonly #other = h('div', {});
  readonly #entry: HTMLElement;
  #proposal: Proposal = {};

  constructor(page: Page, done: (write: ConfigWrite, all: boolean) => void, close: () => void) {
    this.#done = done;
    this.#files = new FileChoice(page, () => this.#fits());
    this.#form = new EntryForm(
      page,
      {
        file: () => this.#files.chosen,
        name: () => (this.#checkName() ? '' : this.#name.value.trim()),
        check: () => this.#check(),
        say: (text) => this.#nameField.say(text),
        order: (entry) => this.#order(entry),
      },
      { text: t('Add and start'), done: (write, all) => this.#wrote(write, all) },
    );
    this.#name.addEventListener('keydown', this.#form.submitOnEnter);
    const propose = (proposal: Proposal) => this.propose(proposal);
    this.#paste = new PastedText(page, propose);
    this.#ways = [
      { id: 'command', label: t('Command') },
      { id: 'url', label: t('URL') },
      { id: 'paste', label: t('Paste'), make: () => this.#paste },
      { id: 'registry', label: t('Registry'), make: () => new RegistrySearch(page, propose) },
    ];
    // Only an editor lets a person choose a file of the machine that the hub runs on.
    if (page.surface.kind === 'vscode')
      this.#ways.push({ id: 'bundle', label: t('Bundle file'), make: () => new BundleFile(page, propose) });
    this.#radios = this.#ways.map(({ id }) => this.#radio(id));
    this.#entry = h(
      'div',
      { class: 'fields' },
      this.#about,
      this.#nameField.element,
      this.#clash,
      this.#form.element,
      this.#files.element,
      this.#form.outcome,
    );
    const parts = [this.#choice(), this.#other, this.#entry];
    ({ element: this.element, title: this.title } = frame(t('Add a server'), parts, [this.#form.save], close));
    this.#form.set({});
    this.#choose('command');
  }

  /** Shows a proposal, or the way to one. */
  propose(proposal: Proposal) {
    const { way, text, name } = proposal;
    if (way) {
      this.#choose(way);
      this.#finders.get(way)?.begin?.();
    } else if (text !== undefined) {
      if (name) this.#name.value = name;
      this.#choose('paste');
      this.#paste.read(text);
    } else this.#fill(proposal);
  }

  /** Gives up the requests of all ways: nobody waits for the replies any more. */
  stop() {
    for (const finder of this.#finders.values()) finder.stop?.();
  }

  async listFiles() {
    await this.#files.list();
    this.#fits();
  }

  #radio(id: string) {
    return h('input', {
      type: 'radio',
      name: 'adding-way',
      value: id,
      dataset: { testid: `adding-way-${id}` },
      onchange: () => this.#choose(id),
    });
  }

  #choice() {
    const labels = this.#ways.map(({ label }, i) => h('label', { class: 'check' }, this.#radios[i], label));
    return h(
      'fieldset',
      { class: 'field ways' },
      h('legend', { class: 'unseen', text: t('How the server is given') }),
      h('div', { class: 'inline wraps' }, ...labels),
    );
  }

  #choose(id: string) {
    for (const radio of this.#radios) radio.checked = radio.value === id;
    const isForm = id === 'command' || id === 'url';
    if (isForm) this.#form.show(id);
    replace(this.#other, this.#finder(id)?.element);
    show(this.#entry, isForm);
    show(this.#form.save, isForm);
  }

  #finder(id: string) {
    const finder = this.#finders.get(id) ?? this.#ways.find((way) => way.id === id)?.make?.();
    if (finder) this.#finders.set(id, finder);
    return finder;
  }

  #fill(proposal: Proposal) {
    this.#proposal = proposal;
    const { name = '', entry } = proposal;
    if (name || !entry) this.#name.value = name.slice(0, 4 * mostName);
    this.#form.set(proposal);
    this.#choose(this.#form.kind);
    replace(this.#about, about(proposal));
    show(this.#about, this.#about.childElementCount > 0);
    this.#fits();
    if (this.element.isConnected) (this.#name.value === '' ? this.#name : this.#form).focus();
  }

  #fits() {
    this.#checkName();
    this.#form.fits();
  }

  #check() {
    if (this.#name.value.trim() === '') this.#nameField.say(t('Enter a name.'));
    else this.#checkName();
    return this.#nameField.wrong() ? this.#name : this.#files.check();
  }

  /** Shows what is wrong with the name, and reports whether it cannot be used. */
  #checkName() {
    const text = this.#name.value.trim();
    const { here, elsewhere } = this.#files.clash(text);
    const length = Array.from(text).length; // characters, as the hub counts them
    this.#nameField.say(
      length > mostName ? t('A name has at most {0} characters; this one has {1}.', mostName, length) : here,
    );
    setText(this.#clash, elsewhere);
    show(this.#clash, elsewhere !== '');
    return this.#nameField.wrong();
  }

  #order({ form = {}, changedForm, settings, inputs, preview }: Entry): Order {
    const { entry, proposalId } = this.#proposal;
    const what = entry
      ? {
          entryJson: entry.entryJson ?? '{}',
          entryDialect: entry.dialect ?? '',
          ...(changedForm && { changedForm }),
        }
      : { form };
    return [
      'AddServer',
      {
        server: this.#name.value.trim(),
        configFile: this.#files.chosen?.path ?? '',
        ...what,
        ...(settings && { settings }),
        writtenBy: writer,
        inputs,
        preview,
        ...(proposalId && { proposalId }),
      },
    ];
  }

  #wrote(write: ConfigWrite, all: boolean) {
    this.#done(write, all);
    if (!all) return;
    this.#fill({});
    this.#choose('command');
  }
}
