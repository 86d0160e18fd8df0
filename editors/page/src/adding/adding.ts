// Adds, changes and removes servers. A form is what is opened on the page: a question that opens meanwhile stands above
// it. Esc closes the form. What was typed is still there when the form is opened again.

import { t } from '../words/t.js';
import { shortName } from '../words/text.js';
import { AddForm } from './addform.js';
import { EditForm } from './editform.js';
import { WriteNotice } from './notice.js';
import { Removal } from './removal.js';
import { isWithin, keyOf } from '../opened/opened.js';
import { byId } from '../page.js';
import type { Adding, Proposal } from './proposal.js';
import type { ConfigWriteJson as ConfigWrite } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page } from '../page.js';

const addKey = 'adding';

/** What the forms need of the list of servers. */
export interface ServerList {
  /** opens a server */
  shown: (server: string) => void;
  /** is called when a server that was just added or changed is ready */
  ready: (server: string) => void;
  /** takes the focus when what had it is gone */
  back: () => HTMLElement;
}

export class Forms implements Adding {
  readonly #page: Page;
  readonly #list: ServerList;
  readonly #notice: WriteNotice;
  readonly #add: AddForm;
  /** The forms for entries, which keep what was typed, by server. */
  readonly #edits: Map<string, EditForm> = new Map();
  /** The server whose launch question is shown as soon as it opens. */
  #awaits = '';
  /** The server whose page the form was opened from. */
  #back: string | undefined;

  constructor(page: Page, list: ServerList) {
    this.#page = page;
    this.#list = list;
    this.#notice = new WriteNotice(page, list.back);
    byId('said').append(this.#notice.element);
    this.#add = new AddForm(
      page,
      (write, all) => this.#added(write, all),
      () => this.#close(addKey),
    );
  }

  wrote(write: ConfigWrite, did: string) {
    this.#notice.wrote(write, did);
  }

  openAddForm(proposal?: Proposal) {
    if (this.#page.surface.shows === 'now') {
      this.#page.run('mcphub.addServer', [proposal ?? {}]); // the form has a place of its own
      return;
    }
    this.#show(addKey, this.#add);
    if (proposal) this.#add.propose(proposal);
    void this.#add.listFiles();
  }

  openEditForm(server: string) {
    const key = keyOf('edit', server);
    const known = this.#edits.get(server);
    const edit =
      known
      ?? new EditForm(
        this.#page,
        server,
        (write, all) => this.#changed(server, write, all),
        () => this.#close(key),
      );
    this.#edits.set(server, edit);
    void known?.read();
    this.#show(key, edit, server);
  }

  openRemove(server: string) {
    const key = keyOf('remove', server);
    const removal = new Removal(
      this.#page,
      server,
      (write) => {
        this.#edits.delete(server);
        this.#page.close(key);
        this.wrote(write, t('“{0}” was removed.', shortName(write.server)));
      },
      () => this.#close(key),
    );
    this.#show(key, removal, server);
  }

  /** Shows the launch question that is waited for. */
  promptsChanged() {
    if (!this.#awaits) return;
    for (const { promptId, server, serverLaunch } of this.#page.state.prompts.values()) {
      if (server !== this.#awaits || !serverLaunch || !promptId) continue;
      this.#awaits = '';
      this.#page.reveal(promptId);
    }
  }

  /** Opens a form. From the page of its server, it leads back there. */
  #show(key: string, form: { element: HTMLElement; title: string }, server?: string) {
    const from = server !== undefined && isWithin(this.#page.openKey, keyOf('server', server));
    this.#page.open({
      key,
      title: form.title,
      content: form.element,
      closed: () => this.#add.stop(),
      ...(from && { up: { title: shortName(server), open: () => this.#list.shown(server) } }),
    });
    this.#back = from ? server : undefined;
  }

  /** Closes this form. A reply that comes late closes no other one. */
  #close(key: string) {
    if (this.#page.openKey !== key) return;
    if (this.#back !== undefined && this.#page.state.servers.has(this.#back)) this.#list.shown(this.#back);
    else this.#page.close(key);
  }

  #added(write: ConfigWrite, all: boolean) {
    const { server = '' } = write;
    if (all) this.#close(addKey);
    this.wrote(write, t('“{0}” was added.', shortName(server)));
    if (server && this.#page.state.servers.get(server)?.state !== 'SERVER_STATE_DISABLED') void this.#start(server);
  }

  #changed(server: string, write: ConfigWrite, all: boolean) {
    if (all) {
      this.#edits.delete(server);
      this.#close(keyOf('edit', server));
    }
    this.wrote(write, t('“{0}” was changed.', shortName(write.server)));
    const consent = this.#page.state.servers.get(server)?.launchConsent;
    if (write.needsConsent && consent === 'LAUNCH_CONSENT_NEEDED') void this.#start(server);
  }

  /** Starts a server. The hub asks a person first, and the card of this question is shown. */
  async #start(server: string) {
    this.#awaits = server;
    this.#list.shown(server);
    this.promptsChanged();
    const { error } = await this.#page.call('StartServer', { server });
    this.#awaits = '';
    if (error) return;
    this.#page.announce(t('{0} runs.', shortName(server)));
    this.#list.ready(server);
  }
}
