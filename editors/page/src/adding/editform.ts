// The forms that change an existing entry, or remove it from its file.

import { h, replace, show } from '../elements/dom.js';
import { placeLink } from '../surface.js';
import { plural, t } from '../words/t.js';
import { shortName, visible } from '../words/text.js';
import { entryForm, writer } from './entryform.js';
import { frame, written } from './frame.js';
import { proposalOf } from './proposal.js';
import { same } from './same.js';
import type { ConfigFileJson, ConfigWriteJson as ConfigWrite } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page, Reply } from '../page.js';

/** @param done all: nothing else was typed during the write */
export function editForm(
  page: Page,
  server: string,
  done: (write: ConfigWrite, all: boolean) => void,
  close: () => void,
) {
  let configFile = '';
  /** The entry that the form was filled with. */
  let filled: object | undefined;
  let file: ConfigFileJson | undefined;
  const note = h('p', { class: 'muted', role: 'status', text: t('Reading the entry…') });
  const form = entryForm(
    page,
    {
      file: () => file,
      name: () => server,
      check: () => undefined,
      order: ({ changedForm, settings, inputs, preview }) =>
        changedForm || settings
          ? [
              'UpdateServer',
              {
                server,
                configFile,
                ...(changedForm && { form: changedForm, inputs }),
                ...(settings && { settings }),
                writtenBy: writer,
                preview,
              },
            ]
          : undefined,
    },
    {
      submit: t('Save'),
      done: (write, all) => {
        if (!all) void read(true);
        done(write, all);
      },
    },
  );
  show(form.element, false);
  show(form.save, false);
  const { element, title } = frame(
    t('Change {0}', shortName(server)),
    [note, form.element, form.outcome],
    [form.save],
    close,
  );
  void read();

  /**
   * Reads the entry. What was typed is kept, unless the entry has changed in its file.
   * @param saved the form itself has just written the entry
   */
  async function read(saved: boolean = false) {
    configFile = page.state.servers.get(server)?.configFile ?? '';
    const { error, response } = await page.call('GetServerEntry', { server, configFile });
    const entry = response?.entry;
    file = response?.file ?? file;
    const faults = entry?.problems?.filter((p) => p.fatal) ?? [];
    if (!entry?.form) {
      replace(
        note,
        error
          ? visible(error.message)
          : t(
              'The entry cannot be shown here: {0}. Mend it in the file: ',
              visible(faults.map((p) => [p.key, p.message].filter(Boolean).join(': ')).join('; ')),
            ),
        !error && placeLink(page.surface, file?.path ?? configFile, faults[0]?.line ?? entry?.line),
      );
      if (error) return;
      filled = undefined;
      show(form.element, false);
      show(form.save, false);
      return;
    }
    const now = { ...entry, line: 0, in: file?.path };
    const stale = filled && !saved && !same(filled, now);
    replace(
      note,
      t('In '),
      placeLink(page.surface, file?.path ?? configFile, entry.line),
      stale && t('. It has changed there: this is how it is now.'),
    );
    // Inputs that the file already has are not filled in here.
    const proposal = { ...proposalOf(entry), inputs: [] };
    if (saved) form.base(proposal);
    else if (!filled || stale) form.set(proposal, true);
    filled = now;
    form.fits();
    show(form.element, true);
    show(form.save, true);
    form.element.querySelector('details')?.setAttribute('open', '');
  }
  return { element, title, read };
}

/** Returns the form that shows what a removal loses, with the button that removes the entry. */
export function removal(page: Page, server: string, done: (write: ConfigWrite) => void, close: () => void) {
  const known = page.state.servers.get(server);
  const configFile = known?.configFile ?? '';
  const calls = [...page.state.requests.values()].filter(
    (r) => r.server === server && r.method !== 'initialize',
  ).length;
  const said = h('div', { class: 'fields' });
  const problem = h('p', { class: 'problem', role: 'alert', tabindex: -1, hidden: true });
  const remove = h('button', {
    class: 'primary',
    text: t('Remove'),
    dataset: { testid: 'remove-now' },
    onclick: () => void act(),
  });
  const { element, title } = frame(
    t('Remove {0}?', shortName(server)),
    [
      h(
        'p',
        {},
        t('Its entry is taken out of '),
        placeLink(page.surface, configFile, known?.configLine),
        t('. You can undo that.'),
      ),
      ...(calls > 0
        ? [
            h('p', {
              class: 'warning',
              text: plural(
                calls,
                '{0} request that runs now will be cancelled.',
                '{0} requests that run now will be cancelled.',
              ),
            }),
          ]
        : []),
      ...(known?.shadows?.length
        ? [
            h(
              'p',
              { class: 'warning' },
              t('Another entry of this name counts then: '),
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
  const order = (preview: boolean) => page.call('RemoveServer', { server, configFile, preview });
  const tell = ({ error, errorPlace }: Reply) => {
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
    if (reply.response?.write) replace(said, written(reply.response.write));
  });
  async function act() {
    remove.setAttribute('aria-disabled', 'true');
    const reply = await order(false);
    remove.removeAttribute('aria-disabled');
    tell(reply);
    if (reply.response?.write) done(reply.response.write);
    else problem.focus();
  }
  return { element, title };
}
