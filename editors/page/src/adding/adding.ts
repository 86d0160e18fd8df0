// Adds, changes and removes servers. A form is what is opened on the page: a question that opens meanwhile stands above
// it. Esc closes the form. What was typed is still there when the form is opened again.

import { t } from '../words/t.js';
import { h, replace, setText, show } from '../elements/dom.js';
import { placeLink } from '../surface.js';
import { shortName, visible } from '../words/text.js';
import { addForm } from './addform.js';
import { editForm, removal } from './editform.js';
import { writer } from './entryform.js';
import { closeButton } from './frame.js';
import { isWithin, keyOf } from '../opened/opened.js';
import { byId } from '../page.js';
import type { Adding } from './proposal.js';
import type { ConfigWriteJson as ConfigWrite } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page } from '../page.js';

/** How long the last write can be undone by a click, in milliseconds. */
const undoTime = 300_000;

/** What the forms need of the list of servers. */
export interface ServerList {
  /** opens a server */
  shown: (server: string) => void;
  /** is called when a server that was just added or changed is ready */
  ready: (server: string) => void;
  /** takes the focus when what had it is gone */
  back: () => HTMLElement;
}

export function adding(page: Page, list: ServerList): Adding & { promptsChanged: () => void } {
  const { call, announce, state } = page;
  const notice = h('div', {
    'class': 'banner',
    'role': 'region',
    'hidden': true,
    'aria-label': t('Last change of a config file'),
    'dataset': { testid: 'written' },
  });
  byId('said').append(notice);
  let noticeTimer = 0;
  /** The server whose launch question is shown as soon as it opens. */
  let awaits = '';
  /** The server whose page the form was opened from. */
  let back: string | undefined;

  /** Opens a form. From the page of its server, it leads back there. */
  function showForm(key: string, form: { element: HTMLElement; title: string }, server?: string) {
    const from = server !== undefined && isWithin(page.openKey, keyOf('server', server));
    page.open({
      key,
      title: form.title,
      content: form.element,
      closed: add.stop,
      ...(from && { up: { title: shortName(server), open: () => list.shown(server) } }),
    });
    back = from ? server : undefined;
  }

  /** Closes this form. A reply that comes late closes no other one. */
  function closeForm(key: string) {
    if (page.openKey !== key) return;
    if (back !== undefined && state.servers.has(back)) list.shown(back);
    else page.close(key);
  }

  /** @param again the write can be undone */
  function wrote(write: ConfigWrite, did: string, again: boolean = true) {
    clearTimeout(noticeTimer);
    const said = h('span', { role: 'status' });
    let undoing = false;
    const undo = h('button', {
      class: 'secondary',
      text: t('Undo'),
      dataset: { testid: 'undo' },
      onclick: () => void undoLast(),
    });
    const leave = () => {
      const had = notice.contains(document.activeElement);
      show(notice, false);
      if (had) list.back().focus();
    };
    const dismiss = closeButton(t('Dismiss'), leave);
    const had = notice.contains(document.activeElement);
    replace(
      notice,
      h('div', { class: 'grows-wide' }, said, ' ', placeLink(page.surface, write.configFile, write.configLine)),
      again && write.undoId && undo,
      dismiss,
    );
    show(notice, true);
    if (had) dismiss.focus();
    setText(said, did);
    announce(did);
    noticeTimer = window.setTimeout(leave, undoTime);

    async function undoLast() {
      if (undoing) return;
      undoing = true;
      undo.setAttribute('aria-disabled', 'true');
      const { response, error } = await call('UndoConfigWrite', { writtenBy: writer, undoId: write.undoId ?? '' });
      const undone = response?.write;
      undoing = false;
      undo.removeAttribute('aria-disabled');
      if (undone) {
        const text = t('“{0}” is as it was before.', shortName(undone.server));
        if (said.isConnected) wrote(undone, text, false);
        else announce(text); // the notice of a later write has replaced this one
        return;
      }
      setText(said, visible(error?.message));
      if (error?.code !== 'FAILED_PRECONDITION') return;
      if (document.activeElement === undo) dismiss.focus();
      undo.remove();
    }
  }

  /** Starts a server. The hub asks a person first, and the card of this question is shown. */
  async function start(server: string) {
    awaits = server;
    list.shown(server);
    promptsChanged();
    const { error } = await call('StartServer', { server });
    awaits = '';
    if (error) return;
    announce(t('{0} runs.', shortName(server)));
    list.ready(server);
  }
  function promptsChanged() {
    if (!awaits) return;
    for (const { promptId, server, serverLaunch } of state.prompts.values()) {
      if (server !== awaits || !serverLaunch || !promptId) continue;
      awaits = '';
      page.reveal(promptId);
    }
  }

  const closeAdd = () => closeForm('adding');
  const add = addForm(
    page,
    (write, all) => {
      if (all) closeAdd();
      wrote(write, t('“{0}” was added.', shortName(write.server)));
      if (write.server && state.servers.get(write.server)?.state !== 'SERVER_STATE_DISABLED') void start(write.server);
    },
    closeAdd,
  );
  /** The forms for entries, which keep what was typed, by server. */
  const edits: Map<string, ReturnType<typeof editForm>> = new Map();

  function changed(server: string, write: ConfigWrite, all: boolean) {
    if (all) {
      edits.delete(server);
      closeForm(keyOf('edit', server));
    }
    wrote(write, t('“{0}” was changed.', shortName(write.server)));
    if (write.needsConsent && state.servers.get(server)?.launchConsent === 'LAUNCH_CONSENT_NEEDED') void start(server);
  }

  return {
    wrote,
    promptsChanged,
    openAddForm: (proposal) => {
      if (page.surface.shows === 'now') {
        page.run('mcphub.addServer', [proposal ?? {}]); // the form has a place of its own
        return;
      }
      showForm('adding', add);
      if (proposal) add.propose(proposal);
      void add.listFiles();
    },
    openEditForm: (server) => {
      const known = edits.get(server);
      const key = keyOf('edit', server);
      const done = (write: ConfigWrite, all: boolean) => changed(server, write, all);
      const edit = known ?? editForm(page, server, done, () => closeForm(key));
      edits.set(server, edit);
      void known?.read();
      showForm(key, edit, server);
    },
    openRemove: (server) => {
      const key = keyOf('remove', server);
      const removed = (write: ConfigWrite) => {
        edits.delete(server);
        page.close(key);
        wrote(write, t('“{0}” was removed.', shortName(write.server)));
      };
      showForm(
        key,
        removal(page, server, removed, () => closeForm(key)),
        server,
      );
    },
  };
}
