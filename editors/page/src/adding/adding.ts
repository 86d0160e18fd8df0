// Adds, changes and removes servers. The form is part of the section of the servers and does not cover the page, so
// that a question that opens meanwhile can be reached. Esc closes the form. What was typed is still there when the form
// is opened again.

import { t } from '../words/t.js';
import { h, replace, setText, show } from '../elements/dom.js';
import { placeLink } from '../surface.js';
import { shortName, visible } from '../words/text.js';
import { addForm } from './addform.js';
import { editForm, removal } from './editform.js';
import { writer } from './entryform.js';
import { closeButton } from './frame.js';
import type { Adding } from './proposal.js';
import type { ConfigWriteJson as ConfigWrite } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page } from '../page.js';

export { moreWays } from './addform.js';

/** How long the last write can be undone by a click, in milliseconds. */
const undoTime = 300_000;

/**
 * @param place gets the form and the notice
 * @param list of the servers
 */
export function adding(
  page: Page,
  place: HTMLElement,
  list: { shown: (server: string) => void; back: () => HTMLElement },
): Adding & { promptsChanged: () => void } {
  const { call, announce, state } = page;
  const notice = h('div', {
    'class': 'banner',
    'role': 'region',
    'hidden': true,
    'aria-label': t('Last change of a config file'),
    'dataset': { testid: 'written' },
  });
  const open = h('div', {});
  place.append(notice, open);
  let opener: Element | null = null;
  let noticeTimer = 0;
  /** The server whose launch question is shown as soon as it opens. */
  let awaits = '';

  function showForm(element: HTMLElement, focus: () => void) {
    if (element !== add.element) add.stop();
    opener = document.activeElement;
    replace(open, element);
    element.scrollIntoView({ block: 'nearest' });
    focus();
  }
  /** @param element if it is given, only this form is closed */
  function close(element?: HTMLElement) {
    if (element && !open.contains(element)) return;
    add.stop();
    replace(open);
    const to =
      opener instanceof HTMLElement && opener.isConnected && opener !== document.body && opener.getClientRects().length
        ? opener
        : list.back();
    to.focus();
  }
  open.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
    event.preventDefault();
    event.stopPropagation();
    close();
  });

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
    if (!error) announce(t('{0} runs.', shortName(server)));
  }
  function promptsChanged() {
    if (!awaits) return;
    for (const { promptId, server, serverLaunch } of state.prompts.values()) {
      if (server !== awaits || !serverLaunch || !promptId) continue;
      awaits = '';
      page.reveal(promptId);
    }
  }

  const add = addForm(
    page,
    (write, all) => {
      if (all) close(add.element);
      wrote(write, t('“{0}” was added.', shortName(write.server)));
      if (write.server && state.servers.get(write.server)?.state !== 'SERVER_STATE_DISABLED') void start(write.server);
    },
    () => close(),
  );
  /** The forms for entries, which keep what was typed, by server. */
  const edits: Map<string, ReturnType<typeof editForm>> = new Map();

  return {
    wrote,
    promptsChanged,
    openAddForm: (proposal) => {
      if (proposal) add.propose(proposal);
      showForm(add.element, add.focus);
      void add.listFiles();
    },
    openEditForm: (server) => {
      const known = edits.get(server);
      const edit =
        known
        ?? editForm(
          page,
          server,
          (write, all) => {
            if (all) {
              edits.delete(server);
              close(edit.element);
            }
            wrote(write, t('“{0}” was changed.', shortName(write.server)));
            if (write.needsConsent && state.servers.get(server)?.launchConsent === 'LAUNCH_CONSENT_NEEDED')
              void start(server);
          },
          () => close(),
        );
      edits.set(server, edit);
      void known?.read();
      showForm(edit.element, edit.focus);
    },
    openRemove: (server) => {
      const gone = removal(
        page,
        server,
        (write) => {
          edits.delete(server);
          close(gone.element);
          wrote(write, t('“{0}” was removed.', shortName(write.server)));
        },
        () => close(),
      );
      showForm(gone.element, gone.focus);
    },
  };
}
