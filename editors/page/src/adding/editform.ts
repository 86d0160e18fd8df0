// The form that changes an existing entry.

import { h, replace, show } from '../elements/dom.js';
import { placeLink } from '../surface.js';
import { t } from '../words/t.js';
import { shortName, visible } from '../words/text.js';
import { EntryForm } from './entryform.js';
import { frame } from './frame.js';
import { proposalOf } from './proposal.js';
import { same } from './same.js';
import { writer } from './writing.js';
import type {
  ConfigEntryJson as ConfigEntry,
  ConfigFileJson as ConfigFile,
  ConfigWriteJson as ConfigWrite,
} from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page } from '../page.js';
import type { Entry, Order } from './entryform.js';

export class EditForm {
  readonly element: HTMLElement;
  readonly title: string;
  readonly #page: Page;
  readonly #server: string;
  readonly #form: EntryForm;
  readonly #note = h('p', { class: 'muted', role: 'status', text: t('Reading the entry…') });
  #configFile = '';
  #file: ConfigFile | undefined;
  /** The entry that the form was filled with. */
  #filled: object | undefined;

  /** @param done all: nothing else was typed during the write */
  constructor(page: Page, server: string, done: (write: ConfigWrite, all: boolean) => void, close: () => void) {
    this.#page = page;
    this.#server = server;
    const target = {
      file: () => this.#file,
      name: () => server,
      check: () => undefined,
      order: (entry: Entry) => this.#order(entry),
    };
    this.#form = new EntryForm(page, target, {
      text: t('Save'),
      done: (write, all) => {
        if (!all) void this.read(true);
        done(write, all);
      },
    });
    this.#show(false);
    const { element, outcome, save } = this.#form;
    ({ element: this.element, title: this.title } = frame(
      t('Change {0}', shortName(server)),
      [this.#note, element, outcome],
      [save],
      close,
    ));
    void this.read();
  }

  /**
   * Reads the entry. What was typed is kept, unless the entry has changed in its file.
   * @param saved the form itself has just written the entry
   */
  async read(saved: boolean = false) {
    const { state, call } = this.#page;
    this.#configFile = state.servers.get(this.#server)?.configFile ?? '';
    const { error, response } = await call('GetServerEntry', { server: this.#server, configFile: this.#configFile });
    this.#file = response?.file ?? this.#file;
    if (response?.entry?.form) this.#fill(response.entry, saved);
    else if (error) replace(this.#note, visible(error.message));
    else this.#refer(response?.entry);
  }

  #fill(entry: ConfigEntry, saved: boolean) {
    const now = { ...entry, line: 0, in: this.#file?.path };
    const stale = this.#filled && !saved && !same(this.#filled, now);
    replace(
      this.#note,
      t('In '),
      this.#place(entry.line),
      stale && t('. The file has changed. This is the current entry.'),
    );
    // Inputs that the file already has are not filled in here.
    const proposal = { ...proposalOf(entry), inputs: [] };
    if (saved) this.#form.base(proposal);
    else if (!this.#filled || stale) this.#form.set(proposal, true);
    this.#filled = now;
    this.#form.fits();
    this.#show(true);
    this.#form.element.querySelector('details')?.setAttribute('open', '');
  }

  /** Refers to the file for an entry that has no form. */
  #refer(entry: ConfigEntry | undefined) {
    const faults = entry?.problems?.filter((problem) => problem.fatal) ?? [];
    const why = faults.map(({ key, message }) => [key, message].filter(Boolean).join(': ')).join('; ');
    replace(
      this.#note,
      t('This entry cannot be edited here: {0}. Fix it in the file: ', visible(why)),
      this.#place(faults[0]?.line ?? entry?.line),
    );
    this.#filled = undefined;
    this.#show(false);
  }

  #place(line: number | undefined) {
    return placeLink(this.#page.surface, this.#file?.path ?? this.#configFile, line);
  }

  #show(shown: boolean) {
    show(this.#form.element, shown);
    show(this.#form.save, shown);
  }

  #order({ changedForm, settings, inputs, preview }: Entry): Order | undefined {
    if (!changedForm && !settings) return undefined;
    return [
      'UpdateServer',
      {
        server: this.#server,
        configFile: this.#configFile,
        ...(changedForm && { form: changedForm, inputs }),
        ...(settings && { settings }),
        writtenBy: writer,
        preview,
      },
    ];
  }
}
