// Servers that are added, changed and removed from the page. The form stands in the section of the servers, not over
// the page: a question that opens meanwhile must stay in reach. Esc closes it, and what was typed is there when it is
// opened again.

import { h, replace, setText, show } from '../elements/dom.js';
import { placeLink } from '../surface.js';
import { plural, shortName, visible } from '../words/text.js';
import { closeButton, entryForm, writer, written } from './entryform.js';
import { labelled, textBox } from './field.js';
import { fileChoice } from './files.js';
import { pastedText } from './pasted.js';
import { proposalOf } from './proposal.js';

/** @typedef {import('./proposal.js').Proposal} Proposal */
/** @typedef {import('../../../host/src/gen/mcphub/v1/config_pb.js').ConfigWriteJson} ConfigWrite */

/**
 * One more way to a proposal, beside the form and a pasted text: a search in a registry, say.
 * @typedef {object} Way
 * @property {string} id
 * @property {string} label
 * @property {(page: import('../page.js').Page, propose: (proposal: Proposal) => void) => { element: HTMLElement, focus: () => void }} make
 *   is called when it is chosen first. What it proposes is shown in the form.
 */

/** The ways of other files. @type {Way[]} */
export const moreWays = [];

/** How long the last write can be undone by a click, in milliseconds. */
const undoTime = 300_000;

/** Longest name of an entry. */
const mostName = 128;

/**
 * @typedef {object} Adding
 * @property {(proposal?: Proposal) => void} openAddForm
 * @property {(server: string) => void} openEditForm
 * @property {(server: string) => void} openRemove
 * @property {(write: ConfigWrite, did: string) => void} wrote tells what was written, with Undo
 */

/**
 * @param {import('../page.js').Page} page
 * @param {HTMLElement} place where the form and the notice stand
 * @param {{ shown: (server: string) => void, back: () => HTMLElement }} list of the servers
 * @returns {Adding & { promptsChanged: () => void }}
 */
export function adding(page, place, list) {
  const { ask, announce, state } = page;
  const notice = h('div', {
    'class': 'banner',
    'role': 'region',
    'hidden': true,
    'aria-label': 'Last change of a config file',
    'dataset': { testid: 'written' },
  });
  const open = h('div', {});
  place.append(notice, open);
  /** @type {Element | null} */
  let opener = null;
  let noticeTimer = 0;
  /** The server whose launch is to be agreed to, once its question is there. */
  let awaits = '';

  /** @param {HTMLElement} element @param {() => void} focus */
  function showForm(element, focus) {
    opener = document.activeElement;
    replace(open, element);
    element.scrollIntoView({ block: 'nearest' });
    focus();
  }
  function close() {
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

  /** @param {ConfigWrite} write @param {string} did */
  function wrote(write, did) {
    clearTimeout(noticeTimer);
    const said = h('span', { role: 'status' });
    const undo = h('button', {
      type: 'button',
      class: 'secondary',
      text: 'Undo',
      dataset: { testid: 'undo' },
      onclick: () => void undoLast(),
    });
    const leave = () => {
      const had = notice.contains(document.activeElement);
      show(notice, false);
      if (had) list.back().focus();
    };
    replace(
      notice,
      h('div', { class: 'grows-wide' }, said, ' ', placeLink(page.surface, write.configFile, write.configLine)),
      write.canUndo && undo,
      closeButton('Dismiss', leave),
    );
    show(notice, true);
    setText(said, `“${shortName(write.server)}” ${did}.`);
    announce(`“${shortName(write.server)}” ${did}.`);
    noticeTimer = window.setTimeout(leave, undoTime);

    async function undoLast() {
      const reply = await ask({ undoConfigWrite: { writtenBy: writer } });
      if (reply.configWrite) wrote(reply.configWrite, 'is as it was before');
      else setText(said, visible(reply.error?.message));
    }
  }

  /** Starts what was written: the hub asks first, and the card of that is shown. @param {string} server */
  async function start(server) {
    awaits = server;
    list.shown(server);
    promptsChanged();
    const reply = await ask({ startServer: { server } });
    awaits = '';
    if (!reply.error) announce(`${shortName(server)} runs.`);
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
    (write) => {
      close();
      wrote(write, 'was added');
      if (write.server && state.servers.get(write.server)?.state !== 'SERVER_STATE_DISABLED') void start(write.server);
    },
    close,
  );

  return {
    wrote,
    promptsChanged,
    openAddForm: (proposal) => {
      if (proposal) add.propose(proposal);
      showForm(add.element, add.focus);
      void add.listFiles();
    },
    openEditForm: (server) => {
      const edit = editForm(
        page,
        server,
        (write) => {
          close();
          wrote(write, 'was changed');
          if (write.needsConsent && state.servers.get(server)?.launchConsent === 'LAUNCH_CONSENT_NEEDED')
            void start(server);
        },
        close,
      );
      showForm(edit.element, edit.focus);
    },
    openRemove: (server) => {
      const gone = removal(
        page,
        server,
        (write) => {
          close();
          wrote(write, 'was removed');
        },
        close,
      );
      showForm(gone.element, gone.focus);
    },
  };
}

/** @param {string} title @param {HTMLElement[]} parts @param {HTMLElement[]} buttons @param {() => void} close */
function frame(title, parts, buttons, close) {
  const heading = h('h3', { tabindex: -1, text: title });
  const element = h(
    'div',
    { 'class': 'card adding', 'role': 'group', 'aria-label': title, 'dataset': { testid: 'adding' } },
    h('div', { class: 'card-head' }, heading, closeButton('Close; what was typed is kept', close)),
    h('div', { class: 'card-body' }, ...parts),
    h(
      'div',
      { class: 'card-buttons' },
      ...buttons,
      h('button', { type: 'button', class: 'secondary', text: 'Cancel', onclick: close }),
    ),
  );
  return { element, heading, focus: () => heading.focus({ preventScroll: true }) };
}

/** @param {import('../page.js').Page} page @param {(write: ConfigWrite) => void} done @param {() => void} close */
function addForm(page, done, close) {
  /** @type {Proposal} */
  let proposal = {};
  const name = textBox({
    maxlength: 4 * mostName,
    dataset: { testid: 'adding-name' },
    oninput: () => {
      checkName();
      form.changed();
    },
  });
  const nameField = labelled('Name', name, { hint: 'As it is called in the config file and in lists.' });
  const clash = h('p', { class: 'warning', hidden: true });
  const files = fileChoice(page, () => {
    checkName();
    form.fits();
  });
  const about = h('div', { class: 'fields', hidden: true });

  function checkName() {
    const text = name.value.trim();
    const { here, elsewhere } = files.clash(text);
    const length = Array.from(text).length; // characters, as the hub counts them
    nameField.say(length > mostName ? `A name has at most ${mostName} characters; this one has ${length}.` : here);
    setText(clash, elsewhere);
    show(clash, elsewhere !== '');
    return nameField.wrong();
  }
  const form = entryForm(
    page,
    {
      file: () => files.chosen,
      name: () => (checkName() ? '' : name.value.trim()),
      check: () => {
        if (name.value.trim() === '') nameField.say('The entry needs a name.');
        else checkName();
        return nameField.wrong()
          ? name
          : files.chosen
            ? undefined
            : (files.element.querySelector('select') ?? undefined);
      },
      say: (text) => nameField.say(text),
      message: ({ form: now, changedForm, settings, inputs, preview }) => {
        const entry = proposal.entry;
        return {
          addServer: {
            server: name.value.trim(),
            configFile: files.chosen?.path ?? '',
            ...(entry
              ? {
                  entryJson: entry.entryJson ?? '{}',
                  entryDialect: entry.dialect ?? '',
                  ...(changedForm && { changedForm }),
                }
              : { form: now ?? {} }),
            ...(settings && { settings }),
            writtenBy: writer,
            inputs,
            preview,
          },
        };
      },
    },
    {
      submit: 'Add and start',
      done: (write) => {
        done(write);
        propose({});
        choose('command');
      },
    },
  );

  /** Chosen ways, made when they are needed. @type {Map<string, { element: HTMLElement, focus: () => void }>} */
  const made = new Map();
  const paste = pastedText(page, propose);
  made.set('paste', paste);
  const ways = [
    { id: 'command', label: 'Command' },
    { id: 'url', label: 'Address' },
    { id: 'paste', label: 'Paste a config' },
    ...moreWays,
  ];
  const other = h('div', {});
  const entry = h('div', { class: 'fields' }, about, nameField.element, clash, form.element, files.element);
  const radios = ways.map(({ id, label }) => {
    const radio = h('input', {
      type: 'radio',
      name: 'adding-way',
      value: id,
      dataset: { testid: `adding-way-${id}` },
      onchange: () => choose(id),
    });
    return { id, radio, label: h('label', { class: 'check' }, radio, label) };
  });
  const choice = h(
    'fieldset',
    { class: 'field ways' },
    h('legend', { text: 'By' }),
    h('div', { class: 'row wraps' }, ...radios.map(({ label }) => label)),
  );

  /** @param {string} id */
  function choose(id) {
    for (const one of radios) one.radio.checked = one.id === id;
    const isForm = id === 'command' || id === 'url';
    if (isForm) form.show(/** @type {'command' | 'url'} */ (id));
    else if (!made.has(id)) {
      const way = moreWays.find((one) => one.id === id);
      if (way) made.set(id, way.make(page, propose));
    }
    const part = made.get(id);
    replace(other, ...(isForm || !part ? [] : [part.element]));
    show(entry, isForm);
    show(form.save, isForm);
  }

  /** @param {Proposal} to */
  function propose(to) {
    if (to.text !== undefined) {
      if (to.name) name.value = to.name;
      choose('paste');
      paste.read(to.text);
      return;
    }
    proposal = to;
    if (to.name || !to.entry) name.value = (to.name ?? '').slice(0, 4 * mostName);
    form.set(to);
    choose(form.kind());
    replace(
      about,
      to.title && h('h4', { dir: 'auto', text: shortName(to.title) }),
      to.description && h('p', { class: 'prose long', tabindex: 0, dir: 'auto', text: visible(to.description) }),
      to.source && h('p', { class: 'muted', text: `From ${visible(to.source)}.` }),
      ...(to.warnings ?? []).map((text) => h('p', { class: 'warning', text: visible(text) })),
    );
    show(about, about.childElementCount > 0);
    checkName();
    form.fits();
    if (element.isConnected) (name.value === '' ? name : form).focus();
  }

  const { element, focus } = frame('Add a server', [choice, other, entry], [form.save], close);
  form.set({});
  choose('command');
  return {
    element,
    focus,
    propose,
    listFiles: async () => {
      await files.list();
      checkName();
      form.fits();
    },
  };
}

/**
 * @param {import('../page.js').Page} page
 * @param {string} server
 * @param {(write: ConfigWrite) => void} done
 * @param {() => void} close
 */
function editForm(page, server, done, close) {
  const known = page.state.servers.get(server);
  const configFile = known?.configFile ?? '';
  /** @type {import('../../../host/src/gen/mcphub/v1/config_pb.js').ConfigFileJson | undefined} */
  let file;
  const note = h('p', { class: 'muted', role: 'status', text: 'Reading the entry…' });
  const form = entryForm(
    page,
    {
      file: () => file,
      name: () => server,
      check: () => undefined,
      message: ({ changedForm, settings, inputs, preview }) =>
        changedForm || settings
          ? {
              updateServer: {
                server,
                configFile,
                ...(changedForm && { form: changedForm, inputs }),
                ...(settings && { settings }),
                writtenBy: writer,
                preview,
              },
            }
          : undefined,
    },
    { submit: 'Save', done },
  );
  show(form.element, false);
  show(form.save, false);
  const { element, focus } = frame(`Change ${shortName(server)}`, [note, form.element], [form.save], close);
  void ask();

  async function ask() {
    const { error, getServerEntry } = await page.ask({ getServerEntry: { server, configFile } });
    const entry = getServerEntry?.entry;
    file = getServerEntry?.file;
    const faults = entry?.problems?.filter((p) => p.fatal) ?? [];
    if (!entry?.form) {
      replace(
        note,
        error
          ? visible(error.message)
          : `The entry cannot be shown here: ${visible(faults.map((p) => [p.key, p.message].filter(Boolean).join(': ')).join('; '))}. Mend it in the file: `,
        !error && placeLink(page.surface, file?.path ?? configFile, faults[0]?.line ?? entry?.line),
      );
      return;
    }
    replace(note, 'In ', placeLink(page.surface, file?.path ?? configFile, entry.line));
    // Inputs that stand in the file already are not filled in here.
    form.set({ ...proposalOf(entry), inputs: [] });
    form.fits();
    show(form.element, true);
    show(form.save, true);
    form.element.querySelector('details')?.setAttribute('open', '');
  }
  return { element, focus };
}

/**
 * What is lost by a removal, and the button for it.
 * @param {import('../page.js').Page} page
 * @param {string} server
 * @param {(write: ConfigWrite) => void} done
 * @param {() => void} close
 */
function removal(page, server, done, close) {
  const known = page.state.servers.get(server);
  const configFile = known?.configFile ?? '';
  const calls = [...page.state.requests.values()].filter(
    (r) => r.server === server && r.method !== 'initialize',
  ).length;
  const said = h('div', { class: 'fields' });
  const problem = h('p', { class: 'problem', role: 'alert', tabindex: -1, hidden: true });
  const remove = h('button', {
    type: 'button',
    class: 'primary',
    text: 'Remove',
    dataset: { testid: 'remove-now' },
    onclick: () => void act(),
  });
  const { element, focus } = frame(
    `Remove ${shortName(server)}?`,
    [
      h(
        'p',
        {},
        'Its entry is taken out of ',
        placeLink(page.surface, configFile, known?.configLine),
        '. You can undo that.',
      ),
      ...(calls > 0
        ? [
            h('p', {
              class: 'warning',
              text: `${plural(calls, 'request')} that ${calls === 1 ? 'runs' : 'run'} now will be cancelled.`,
            }),
          ]
        : []),
      ...(known?.shadows?.length
        ? [
            h(
              'p',
              { class: 'warning' },
              'Another entry of this name counts then: ',
              placeLink(page.surface, known.shadows[0]?.file, known.shadows[0]?.line),
            ),
          ]
        : []),
      said,
      problem,
    ],
    [remove],
    close,
  );
  const order = (/** @type {boolean} */ preview) => page.ask({ removeServer: { server, configFile, preview } });
  /** @param {import('../page.js').Reply} reply */
  const tell = ({ error, errorPlace }) => {
    replace(
      problem,
      visible(error?.message),
      ' ',
      errorPlace?.line ? placeLink(page.surface, errorPlace.file, errorPlace.line) : '',
    );
    show(problem, error !== undefined);
  };
  void order(true).then((reply) => {
    tell(reply);
    if (reply.configWrite) replace(said, written(reply.configWrite));
  });
  async function act() {
    remove.setAttribute('aria-disabled', 'true');
    const reply = await order(false);
    remove.removeAttribute('aria-disabled');
    tell(reply);
    if (reply.configWrite) done(reply.configWrite);
    else problem.focus();
  }
  return { element, focus };
}
