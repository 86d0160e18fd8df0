// The form for one entry of a config file: how the server is reached, and the settings of the entry. Before anything is
// written, the form shows what would run, and which lines of the file would change.

import { t } from '../words/t.js';
import { h, replace, setText, show } from '../elements/dom.js';
import { followPress, pressOver } from '../elements/press.js';
import { placeLink } from '../surface.js';
import { visible } from '../words/text.js';
import { labelled, linesBox, textBox } from './field.js';
import { asLines, inputsIn, ofLines, wordsOf } from './proposal.js';
import { same } from './same.js';
import { settingsFields } from './settings.js';
import { inputFields, pairs } from './value.js';
import { whatBecomes } from './whatbecomes.js';
import type { Proposal } from './proposal.js';
import type { ServerFormJson as ServerForm } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type {
  ConfigFileJson as ConfigFile,
  ConfigPlaceJson,
  ConfigWriteJson as ConfigWrite,
} from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Order as OrderOf } from '../hub/methods.js';
import type { Page, Reply } from '../page.js';

export type Order = OrderOf<'AddServer' | 'UpdateServer'>;

/** The writer of an entry, as the launch consent shows it. */
export const writer = 'McpHub’s page';

/** How long after the last key the hub is asked for a preview of the write, in milliseconds. */
const previewPause = 300;

/** where the entry goes */
export interface Target {
  file: () => ConfigFile | undefined;
  name: () => string;
  /** shows faults of file and name, and returns the first field with one */
  check: () => HTMLElement | undefined;
  say?: (message: string, place: ConfigPlaceJson | undefined) => void;
  /** undefined: nothing changes */
  order: (entry: {
    form: ServerForm | undefined;
    changedForm: ServerForm | undefined;
    settings: object | undefined;
    inputs: object[];
    preview: boolean;
  }) => Order | undefined;
}

/** @param how all: the fields still have the written values */
export function entryForm(
  page: Page,
  target: Target,
  { submit, done }: { submit: string; done: (write: ConfigWrite, all: boolean) => void },
) {
  const { call, surface } = page;
  let kind: 'command' | 'url' = 'command';
  let proposal: Proposal = {};
  /** The entry that the fields are compared with. */
  let before: ServerForm = {};
  let values = inputFields([], () => {});
  let timer = 0;
  let asked = 0;
  let busy = false;
  /** Removes the text at the field whose value the hub has refused. */
  let unsay = () => {};

  const changed = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void preview(), previewPause);
  };
  followPress();

  const command = textBox({
    oninput: () => {
      hintSplit();
      changed();
    },
    dataset: { testid: 'adding-command' },
  });
  const split = h('button', {
    class: 'link',
    hidden: true,
    text: t('Split into command and arguments'),
    onclick: parted,
  });
  const commandField = labelled(t('Command'), command, {
    hint: t('The program alone: npx, uvx, docker or a path.'),
    after: split,
  });
  const args = linesBox({ oninput: changed, dataset: { testid: 'adding-args' } });
  const argsField = labelled(t('Arguments'), args, { hint: t('One a line, as they are: no shell reads them.') });
  const env = pairs({ legend: t('Environment variables'), one: t('variable'), add: t('Add a variable'), changed });
  const cwd = textBox({ oninput: changed, dataset: { testid: 'adding-cwd' } });
  const cwdField = labelled(t('Working directory'), cwd, { hint: t('Empty: the default of the config file.') });
  const url = textBox({
    inputmode: 'url',
    oninput: changed,
    dataset: { testid: 'adding-url' },
    placeholder: t('https://'),
  });
  const urlField = labelled(t('Address'), url);
  const via = h(
    'select',
    { onchange: changed },
    h('option', { value: '', text: t('Auto-detect') }),
    h('option', { value: 'http', text: t('Streamable HTTP') }),
    h('option', { value: 'sse', text: t('HTTP with SSE') }),
  );
  const viaField = labelled(t('Transport'), via);
  const headers = pairs({
    legend: t('Headers'),
    one: t('header'),
    add: t('Add a header'),
    key: (name) => name.toLowerCase(),
    changed,
  });
  const ofCommand = h(
    'div',
    { class: 'fields' },
    commandField.element,
    argsField.element,
    env.element,
    cwdField.element,
  );
  const ofUrl = h('div', { class: 'fields' }, urlField.element, viaField.element, headers.element);
  const valuesPlace = h('div', {}, values.element);
  const settings = settingsFields(changed);

  const shownPreview = h('div', {
    'class': 'fields',
    'role': 'group',
    'aria-label': t('What would run, and what would be written'),
  });
  const problem = h('p', { class: 'problem', role: 'alert', tabindex: -1, hidden: true });
  const save = h('button', {
    class: 'primary',
    text: submit,
    dataset: { testid: 'adding-save' },
    onclick: () => void write(),
  });
  const element = h('div', { class: 'fields' }, ofCommand, ofUrl, valuesPlace, settings.element);
  const outcome = h('div', { class: 'fields' }, shownPreview, problem);
  // Enter in a field of one line saves, as in any form. A key that is held down must not: it was meant for what was
  // there before.
  command.addEventListener('keydown', submitOnEnter);
  url.addEventListener('keydown', submitOnEnter);

  function submitOnEnter(event: KeyboardEvent) {
    if (event.key !== 'Enter' || event.isComposing || event.repeat) return;
    event.preventDefault();
    void write();
  }

  function hintSplit() {
    const words = wordsOf(command.value.trim());
    const path = /^([a-z]:)?[\\/]/i.test(command.value.trim());
    show(split, !path && (words?.length ?? 0) > 1 && args.value.trim() === '');
  }
  function parted() {
    const [program = '', ...rest] = wordsOf(command.value.trim()) ?? [];
    command.value = program;
    args.value = asLines(rest);
    hintSplit();
    args.focus();
    changed();
  }

  /** The random ends of ids, by file, server and name. */
  const ends: Map<string, string> = new Map();
  /**
   * Returns the id of the input for a variable, a header, or an input of a text. The value that a person types is
   * stored under this id. No other server may have the same id: it would get the value without a question.
   */
  const idOf = (name: string) => {
    const of = JSON.stringify([target.file()?.path, target.name(), name]);
    const end = ends.get(of) ?? crypto.randomUUID().slice(0, 8);
    ends.set(of, end);
    const slug = `${target.name()}-${name}`.replaceAll(/[^\w-]+/g, '-').toLowerCase();
    return `${slug.slice(0, 90)}-${end}`;
  };

  /**
   * Returns the entry that the fields describe. reference: how the entry spells an environment variable called NAME.
   * @param shown dots stand for covered values
   */
  function form(reference: string, shown: boolean = false): ServerForm {
    const fill = (text: string) => values.fill(text, reference, shown);
    const all = (texts: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(texts).flatMap(([name, text]) => (values.idle(text) ? [] : [[name, fill(text)]])),
      );
    if (kind === 'url')
      return {
        url: fill(url.value.trim()),
        ...(via.value && { transport: via.value === 'sse' ? 'SERVER_TRANSPORT_SSE' : 'SERVER_TRANSPORT_HTTP' }),
        headers: all(headers.read(idOf, reference)),
      };
    return {
      command: fill(command.value.trim()),
      args: ofLines(args.value).flatMap((arg) => (values.idle(arg) ? [] : [fill(arg)])),
      environment: all(env.read(idOf, reference)),
      ...(cwd.value.trim() && { directory: fill(cwd.value.trim()) }),
      ...(proposal.entry?.form?.unsetEnvironment && { unsetEnvironment: proposal.entry.form.unsetEnvironment }),
    };
  }

  function order(dry: boolean): Order | undefined {
    const file = target.file();
    const entry = proposal.entry;
    // Variables in a pasted text are spelled in the dialect of that text. The hub translates them for the file.
    const reference = entry?.environmentReference || file?.environmentReference || '';
    const now = form(reference);
    const changes = !same(now, before);
    const texts = [
      now.command ?? '',
      now.url ?? '',
      now.directory ?? '',
      ...(now.args ?? []),
      ...Object.values(now.environment ?? {}),
      ...Object.values(now.headers ?? {}),
    ];
    const used = new Set(inputsIn(texts));
    const inputs = [...values.asked(), ...(kind === 'url' ? headers : env).asked(idOf)].filter(({ id }) =>
      used.has(id ?? ''),
    );
    return target.order({
      form: changes || !entry ? now : undefined,
      changedForm: changes && entry ? now : undefined,
      settings: settings.read(),
      inputs: file?.takesInputs ? inputs : [],
      preview: dry,
    });
  }

  /** Shows the faults that can be found without the hub, and returns the first field with one. */
  function check() {
    const first = [target.check()];
    commandField.say(kind === 'command' && command.value.trim() === '' ? t('A server needs a command.') : '');
    urlField.say(
      kind === 'url' && !/^https?:\/\/./i.test(url.value.trim()) && !/^\$\{|^\{/.test(url.value.trim())
        ? t('It needs an address that begins with http:// or https://.')
        : '',
    );
    for (const field of [argsField, cwdField, viaField]) field.say('');
    if (commandField.wrong()) first.push(command);
    if (urlField.wrong()) first.push(url);
    first.push((kind === 'url' ? headers : env).check(), values.missing()?.typed, settings.check());
    return first.find((one) => one !== undefined);
  }

  /**
   * Shows why the hub has refused.
   * @returns the field that shows it
   */
  function sayWhy({ error, errorPlace }: Reply): HTMLElement | undefined {
    const text = error?.message ?? '';
    const key = errorPlace?.key ?? '';
    const [head = '', ...rest] = key.split(/[.[]/);
    const name = rest.join('.');
    let at: HTMLElement | undefined;
    const row = name ? (/^env/.test(head) ? env : /headers$/.test(head) ? headers : undefined)?.row(name) : undefined;
    const field =
      row
      ?? {
        command: commandField,
        args: argsField,
        cwd: cwdField,
        url: urlField,
        serverUrl: urlField,
        httpUrl: urlField,
        type: viaField,
      }[head];
    if (field && field.element.closest('[hidden]') === null) {
      field.say(text);
      unsay = () => field.say('');
      at = field.element.querySelector('input, textarea, select') as HTMLElement;
    }
    if (!at && target.say && error?.reason === 'SERVER_EXISTS') target.say(text, errorPlace);
    replace(problem, visible(text), ' ', errorPlace?.line ? placeLink(surface, errorPlace.file, errorPlace.line) : '');
    show(problem, !at);
    return at;
  }

  async function preview() {
    clearTimeout(timer);
    const mine = ++asked;
    await pressOver();
    if (mine !== asked) return;
    show(problem, false);
    unsay();
    unsay = () => {};
    const ready = (kind === 'url' ? url : command).value.trim() !== '' && target.name() !== '' && target.file();
    const dry = ready && element.isConnected ? order(true) : undefined;
    if (!dry) {
      replace(shownPreview);
      return;
    }
    const reply = await call(dry[0], dry[1]);
    await pressOver();
    if (mine !== asked) return;
    if (!reply.response?.write) {
      replace(shownPreview);
      // The fault is shown at its field. The focus stays where it is, since a person may still be typing.
      if (reply.error?.code !== 'UNAVAILABLE') sayWhy(reply);
      return;
    }
    const now = form(target.file()?.environmentReference ?? '', true);
    const secrets = [env, headers, values].flatMap((part) => part.secrets());
    replace(shownPreview, ...whatBecomes(reply.response.write, now, secrets));
  }

  async function write() {
    if (busy) return;
    asked++; // the reply to an open request for a preview is out of date
    clearTimeout(timer);
    const wrong = check();
    if (wrong) {
      wrong.focus();
      return;
    }
    const given = order(false);
    if (!given) {
      setText(problem, t('Nothing is changed yet.'));
      show(problem, true);
      return;
    }
    busy = true;
    save.setAttribute('aria-disabled', 'true');
    const reply = await call(given[0], given[1]);
    busy = false;
    save.removeAttribute('aria-disabled');
    if (reply.response?.write) {
      show(problem, false);
      done(reply.response.write, same(given, order(false)));
    } else (sayWhy(reply) ?? problem).focus();
  }

  return {
    element,
    outcome, // is placed after all fields
    save,
    changed,
    focus: () => (kind === 'url' ? url : command).focus(),
    submitOnEnter,
    show: (to: 'command' | 'url') => {
      kind = to;
      show(ofCommand, to === 'command');
      show(ofUrl, to === 'url');
      changed();
    },
    /** Is called when another file was chosen. */
    fits: () => {
      for (const part of [env, headers, values]) part.fits(target.file());
      changed();
    },
    /** Keeps what was typed, and compares it with this proposal from now on. */
    base: (to: Proposal) => {
      proposal = to;
      before = to.entry?.form ?? {};
      settings.base(to.entry?.settings);
    },
    /** @param stands the values are in the file already */
    set: (to: Proposal, stands: boolean = false) => {
      proposal = to;
      ends.clear();
      kind = to.url === undefined ? 'command' : 'url';
      command.value = to.command ?? '';
      args.value = asLines(to.args ?? []);
      env.set(to.env ?? {}, stands);
      cwd.value = to.cwd ?? '';
      url.value = to.url ?? '';
      via.value = to.transport ?? '';
      headers.set(to.headers ?? {}, stands);
      settings.set(to.entry?.settings);
      // A text from elsewhere could use the input id of another server, and get the value that a person has typed for
      // that server. So its inputs get new ids. The hub has made the ids of its own proposals unique.
      values = inputFields(
        to.inputs ?? [],
        changed,
        to.proposalId === undefined ? (id) => idOf(`input:${id}`) : undefined,
      );
      replace(valuesPlace, values.element);
      before = to.entry?.form ?? {};
      for (const field of [commandField, argsField, cwdField, urlField, viaField]) field.say('');
      replace(shownPreview);
      show(problem, false);
      show(ofCommand, kind === 'command');
      show(ofUrl, kind === 'url');
      hintSplit();
    },
    kind: () => kind,
  };
}
