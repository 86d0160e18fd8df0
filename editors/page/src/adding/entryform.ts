// The form for one entry of a config file: how the server is reached, and the settings of the entry. Before anything is
// written, the form shows what would run, and which lines of the file would change.

import { t } from '../words/t.js';
import { h, replace, setText, show } from '../elements/dom.js';
import { guardMs } from '../elements/guardtime.js';
import { followPress, pressOver } from '../elements/press.js';
import { placeLink } from '../surface.js';
import { visible } from '../words/text.js';
import { InputFields } from './inputs.js';
import { inputsIn } from './proposal.js';
import { CommandFields, UrlFields } from './reach.js';
import { same } from './same.js';
import { SettingsFields } from './settings.js';
import { whatBecomes } from './whatbecomes.js';
import type {
  ConfigFileJson as ConfigFile,
  ConfigPlaceJson,
  ConfigWriteJson as ConfigWrite,
  ServerFormJson as ServerForm,
} from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Order as OrderOf } from '../hub/methods.js';
import type { Page, Reply } from '../page.js';
import type { Proposal } from './proposal.js';
import type { Fill, Place } from './reach.js';

export type Order = OrderOf<'AddServer' | 'UpdateServer'>;

/** How long after the last key the hub is asked for a preview of the write, in milliseconds. */
const previewPause = 300;

/** What the fields describe, as an order takes it. */
export interface Entry {
  form: ServerForm | undefined;
  changedForm: ServerForm | undefined;
  settings: object | undefined;
  inputs: object[];
  preview: boolean;
}

/** where the entry goes */
export interface Target {
  file: () => ConfigFile | undefined;
  name: () => string;
  /** shows faults of file and name, and returns the first field with one */
  check: () => HTMLElement | undefined;
  say?: (message: string, place: ConfigPlaceJson | undefined) => void;
  /** undefined: nothing changes */
  order: (entry: Entry) => Order | undefined;
}

export interface Submit {
  /** the word on the button */
  text: string;
  /** all: the fields still have the written values */
  done: (write: ConfigWrite, all: boolean) => void;
}

/** Returns all texts of an entry that values can stand in. */
const textsOf = ({ command = '', url = '', directory = '', args = [], environment = {}, headers = {} }: ServerForm) => [
  command,
  url,
  directory,
  ...args,
  ...Object.values(environment),
  ...Object.values(headers),
];

export class EntryForm {
  readonly element: HTMLElement;
  /** is placed after all fields */
  readonly outcome: HTMLElement;
  readonly save: HTMLButtonElement;
  readonly #page: Page;
  readonly #target: Target;
  readonly #submit: Submit;
  /** When the fields were filled in, on the clock of performance.now. */
  #setAt = 0;
  readonly #reaches = {
    command: new CommandFields(() => this.changed()),
    url: new UrlFields(() => this.changed()),
  };
  readonly #valuesPlace = h('div', {});
  readonly #settings = new SettingsFields(() => this.changed());
  readonly #preview = h('div', {
    'class': 'fields',
    'role': 'group',
    'aria-label': t('Preview'),
  });
  readonly #problem = h('p', { class: 'problem', role: 'alert', tabindex: -1, hidden: true });
  /** The random ends of the ids of inputs, by file, server and name. */
  readonly #ends: Map<string, string> = new Map();
  #kind: 'command' | 'url' = 'command';
  #proposal: Proposal = {};
  #values = new InputFields([], () => {});
  #timer = 0;
  #asked = 0;
  #busy = false;
  /** What shows why the hub has refused a value. */
  #refused: Place | undefined;

  constructor(page: Page, target: Target, submit: Submit) {
    this.#page = page;
    this.#target = target;
    this.#submit = submit;
    this.save = h('button', {
      class: 'primary',
      text: submit.text,
      dataset: { testid: 'adding-save' },
      onclick: () => void this.#write(),
    });
    const { command, url } = this.#reaches;
    for (const { main } of [command, url]) main.addEventListener('keydown', this.submitOnEnter);
    this.element = h(
      'div',
      { class: 'fields' },
      command.element,
      url.element,
      this.#valuesPlace,
      this.#settings.element,
    );
    this.outcome = h('div', { class: 'fields' }, this.#preview, this.#problem);
    followPress();
  }

  get kind() {
    return this.#kind;
  }

  focus() {
    this.#reach.main.focus();
  }

  /**
   * Saves on Enter in a field of one line, as every form does. A key that is held down must not, nor one that follows
   * closely on a paste that has opened the form: it was meant for what was there before.
   */
  readonly submitOnEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.isComposing) return;
    event.preventDefault();
    if (!event.repeat && performance.now() - this.#setAt >= guardMs) void this.#write();
  };

  show(kind: 'command' | 'url') {
    this.#showKind(kind);
    this.changed();
  }

  /** Is called when another file was chosen. */
  fits() {
    for (const part of this.#parts) part.fits(this.#target.file());
    this.changed();
  }

  /** Is called when anything in the form has changed. */
  changed() {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#showPreview(), previewPause);
  }

  /** Keeps what was typed, and compares it with this proposal from now on. */
  base(proposal: Proposal) {
    this.#proposal = proposal;
    this.#settings.base(proposal.entry?.settings);
  }

  /** @param stands the values are in the file already */
  set(proposal: Proposal, stands: boolean = false) {
    this.#proposal = proposal;
    this.#setAt = performance.now();
    this.#ends.clear();
    this.#showKind(proposal.url === undefined ? 'command' : 'url');
    for (const reach of Object.values(this.#reaches)) reach.set(proposal, stands);
    this.#settings.set(proposal.entry?.settings);
    // A text from elsewhere could use the input id of another server, and get the value that a person has typed for
    // that server. So its inputs get new ids. The hub has made the ids of its own proposals unique.
    this.#values = new InputFields(
      proposal.inputs ?? [],
      () => this.changed(),
      proposal.proposalId === undefined ? (id) => this.#idOf(`input:${id}`) : undefined,
    );
    replace(this.#valuesPlace, this.#values.element);
    replace(this.#preview);
    show(this.#problem, false);
  }

  get #reach() {
    return this.#reaches[this.#kind];
  }

  /** What has values that a file may be unable to keep, or that are secret. */
  get #parts() {
    return [this.#reaches.command.pairs, this.#reaches.url.pairs, this.#values];
  }

  #showKind(kind: 'command' | 'url') {
    this.#kind = kind;
    for (const [of, { element }] of Object.entries(this.#reaches)) show(element, of === kind);
  }

  /**
   * Returns the id of the input for a variable, a header, or an input of a text. The value that a person types is
   * stored under this id. No other server may have the same id: it would get the value without a question.
   */
  readonly #idOf = (name: string) => {
    const server = this.#target.name();
    const of = JSON.stringify([this.#target.file()?.path, server, name]);
    const end = this.#ends.get(of) ?? crypto.randomUUID().slice(0, 8);
    this.#ends.set(of, end);
    const slug = `${server}-${name}`.replaceAll(/[^\w-]+/g, '-').toLowerCase();
    return `${slug.slice(0, 90)}-${end}`;
  };

  /**
   * Returns the entry that the fields describe.
   * @param reference how the entry spells an environment variable called NAME
   * @param shown dots stand for covered values
   */
  #form(reference: string, shown: boolean = false): ServerForm {
    const form = this.#reach.read(this.#fill(reference, shown));
    const unset = this.#proposal.entry?.form?.unsetEnvironment;
    return this.#kind === 'command' && unset ? { ...form, unsetEnvironment: unset } : form;
  }

  #fill(reference: string, shown: boolean): Fill {
    const given = (text: string) => !this.#values.idle(text);
    const text = (from: string) => this.#values.fill(from, reference, shown);
    return {
      text,
      texts: (texts) => texts.filter(given).map(text),
      pairs: (pairs) =>
        Object.fromEntries(
          Object.entries(pairs.read(this.#idOf, reference))
            .filter(([, value]) => given(value))
            .map(([name, value]) => [name, text(value)]),
        ),
    };
  }

  #order(preview: boolean): Order | undefined {
    const file = this.#target.file();
    const entry = this.#proposal.entry;
    // Variables in a pasted text are spelled in the dialect of that text. The hub translates them for the file.
    const now = this.#form(entry?.environmentReference || file?.environmentReference || '');
    const changes = !same(now, entry?.form ?? {});
    return this.#target.order({
      form: changes || !entry ? now : undefined,
      changedForm: changes && entry ? now : undefined,
      settings: this.#settings.read(),
      inputs: file?.takesInputs ? this.#inputsOf(now) : [],
      preview,
    });
  }

  /** Returns the inputs that are asked for at the start, of those that an entry refers to. */
  #inputsOf(form: ServerForm) {
    const used = new Set(inputsIn(textsOf(form)));
    const asked = [...this.#values.asked(), ...this.#reach.pairs.asked(this.#idOf)];
    return asked.filter(({ id = '' }) => used.has(id));
  }

  /** Shows the faults that can be found without the hub, and returns the first field with one. */
  #check() {
    for (const reach of Object.values(this.#reaches)) reach.unsay();
    // All are asked, so that all faults are shown.
    const wrong = [this.#target.check(), this.#reach.check(), this.#values.check(), this.#settings.check()];
    return wrong.find((one) => one !== undefined);
  }

  /**
   * Shows why the hub has refused: at the field of the value, or below all fields.
   * @returns the control of that field
   */
  #sayWhy({ error, errorPlace: place }: Reply): HTMLElement | undefined {
    const text = error?.message ?? '';
    const field = this.#fieldOf(place?.key ?? '');
    field?.say(text);
    this.#refused = field;
    if (!field && error?.reason === 'SERVER_EXISTS') this.#target.say?.(text, place);
    const link = place?.line ? placeLink(this.#page.surface, place.file, place.line) : '';
    replace(this.#problem, visible(text), ' ', link);
    show(this.#problem, !field);
    return field?.element.querySelector<HTMLElement>('input, textarea, select') ?? undefined;
  }

  /** Returns the field of a key such as "command", "env.TOKEN" or "args[2]", unless it is hidden. */
  #fieldOf(key: string) {
    const [head = '', ...rest] = key.split(/[.[]/);
    const name = rest.join('.');
    const { command, url } = this.#reaches;
    const field = command.at(head, name) ?? url.at(head, name);
    return field?.element.closest('[hidden]') ? undefined : field;
  }

  /** Asks the hub what would be written, and shows it. */
  async #showPreview() {
    clearTimeout(this.#timer);
    const mine = ++this.#asked;
    await pressOver();
    if (mine !== this.#asked) return;
    show(this.#problem, false);
    this.#refused?.say('');
    this.#refused = undefined;
    const order = this.#isReady() ? this.#order(true) : undefined;
    if (!order) {
      replace(this.#preview);
      return;
    }
    const reply = await this.#page.call(order[0], order[1]);
    await pressOver();
    if (mine !== this.#asked) return;
    if (reply.response?.write) {
      const now = this.#form(this.#target.file()?.environmentReference ?? '', true);
      const secrets = this.#parts.flatMap((part) => part.secrets());
      replace(this.#preview, ...whatBecomes(reply.response.write, now, secrets));
      return;
    }
    replace(this.#preview);
    // The fault is shown at its field. The focus stays where it is, since a person may still be typing.
    if (reply.error?.code !== 'UNAVAILABLE') this.#sayWhy(reply);
  }

  /** Reports whether enough is filled in for a preview. */
  #isReady() {
    return (
      this.#reach.main.value.trim() !== ''
      && this.#target.name() !== ''
      && this.#target.file() !== undefined
      && this.element.isConnected
    );
  }

  async #write() {
    if (this.#busy) return;
    this.#asked++; // the reply to an open request for a preview is out of date
    clearTimeout(this.#timer);
    const wrong = this.#check();
    if (wrong) {
      wrong.focus();
      return;
    }
    const order = this.#order(false);
    if (!order) {
      setText(this.#problem, t('There are no changes to save.'));
      show(this.#problem, true);
      return;
    }
    const reply = await this.#send(order);
    if (reply.response?.write) {
      show(this.#problem, false);
      this.#submit.done(reply.response.write, same(order, this.#order(false)));
    } else (this.#sayWhy(reply) ?? this.#problem).focus();
  }

  async #send(order: Order) {
    this.#busy = true;
    this.save.setAttribute('aria-disabled', 'true');
    const reply = await this.#page.call(order[0], order[1]);
    this.#busy = false;
    this.save.removeAttribute('aria-disabled');
    return reply;
  }
}
