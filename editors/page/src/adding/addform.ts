// The form that adds a server. It asks for the way to a proposal, the name of the entry, and the config file.

import { t } from '../words/t.js';
import { h, replace, setText, show } from '../elements/dom.js';
import { shortName, visible } from '../words/text.js';
import { bundleFile } from './bundle.js';
import { entryForm, writer } from './entryform.js';
import { labelled, textBox } from './field.js';
import { fileChoice } from './files.js';
import { frame } from './frame.js';
import { pastedText } from './pasted.js';
import { registrySearch } from './registry.js';
import type { Proposal } from './proposal.js';
import type { ConfigWriteJson as ConfigWrite } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page } from '../page.js';

/** A further way to a proposal, besides the form and a pasted text, for example a search in a registry. */
export interface Way {
  id: string;
  label: string;
  /** is called when the way is chosen for the first time. The form shows what it proposes. */
  make: (
    page: Page,
    propose: (proposal: Proposal) => void,
  ) => { element: HTMLElement; focus: () => void; begin?: () => void; stop?: () => void };
}

/** Maximum length of the name of an entry, in characters. */
const mostName = 128;

/** The ways that search elsewhere. Only an editor lets a person choose a file of the machine that the hub runs on. */
const waysOf = ({ surface }: Page): Way[] => [
  { id: 'registry', label: t('Registry'), make: registrySearch },
  ...(surface.kind === 'vscode' ? [{ id: 'bundle', label: t('Bundle file'), make: bundleFile }] : []),
];

export function addForm(page: Page, done: (write: ConfigWrite, all: boolean) => void, close: () => void) {
  let proposal: Proposal = {};
  const name = textBox({
    maxlength: 4 * mostName,
    dataset: { testid: 'adding-name' },
    oninput: () => {
      checkName();
      form.changed();
    },
  });
  const nameField = labelled(t('Name'), name, { hint: t('As it is called in the config file and in lists.') });
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
    nameField.say(
      length > mostName ? t('A name has at most {0} characters; this one has {1}.', mostName, length) : here,
    );
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
        if (name.value.trim() === '') nameField.say(t('The entry needs a name.'));
        else checkName();
        return nameField.wrong()
          ? name
          : files.chosen
            ? undefined
            : (files.element.querySelector('select') ?? undefined);
      },
      say: (text) => nameField.say(text),
      order: ({ form: now, changedForm, settings, inputs, preview }) => {
        const entry = proposal.entry;
        return [
          'AddServer',
          {
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
            ...(proposal.proposalId && { proposalId: proposal.proposalId }),
          },
        ];
      },
    },
    {
      submit: t('Add and start'),
      done: (write, all) => {
        done(write, all);
        if (!all) return;
        propose({});
        choose('command');
      },
    },
  );

  name.addEventListener('keydown', form.submitOnEnter);

  /** The ways by id. A way is made when it is first chosen. */
  const made: Map<string, ReturnType<Way['make']>> = new Map();
  const moreWays = waysOf(page);
  const paste = pastedText(page, propose);
  made.set('paste', paste);
  const ways = [
    { id: 'command', label: t('Command') },
    { id: 'url', label: t('Address') },
    { id: 'paste', label: t('Paste') },
    ...moreWays,
  ];
  const other = h('div', {});
  const entry = h(
    'div',
    { class: 'fields' },
    about,
    nameField.element,
    clash,
    form.element,
    files.element,
    form.outcome,
  );
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
    h('legend', { class: 'unseen', text: t('How the server is given') }),
    h('div', { class: 'inline wraps' }, ...radios.map(({ label }) => label)),
  );

  function choose(id: string) {
    for (const one of radios) one.radio.checked = one.id === id;
    const isForm = id === 'command' || id === 'url';
    if (isForm) form.show(id);
    else if (!made.has(id)) {
      const way = moreWays.find((one) => one.id === id);
      if (way) made.set(id, way.make(page, propose));
    }
    const part = made.get(id);
    replace(other, ...(isForm || !part ? [] : [part.element]));
    show(entry, isForm);
    show(form.save, isForm);
  }

  function propose(to: Proposal) {
    if (to.way) {
      choose(to.way);
      made.get(to.way)?.begin?.();
      return;
    }
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
      to.title && h('h3', { dir: 'auto', text: shortName(to.title) }),
      to.description && h('p', { class: 'prose long', tabindex: 0, dir: 'auto', text: visible(to.description) }),
      to.source && h('p', { class: 'muted', text: t('From {0}.', visible(to.source)) }),
      ...(to.warnings ?? []).map((text) => h('p', { class: 'warning', text: visible(text) })),
    );
    show(about, about.childElementCount > 0);
    checkName();
    form.fits();
    if (element.isConnected) (name.value === '' ? name : form).focus();
  }

  const { element, title } = frame(t('Add a server'), [choice, other, entry], [form.save], close);
  form.set({});
  choose('command');
  return {
    element,
    title,
    propose,
    /** Gives up the requests of all ways: nobody waits for the replies any more. */
    stop: () => made.forEach((way) => way.stop?.()),
    listFiles: async () => {
      await files.list();
      checkName();
      form.fits();
    },
  };
}
