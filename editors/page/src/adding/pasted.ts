// A text that somebody pastes. The hub reads it, and reports which servers are in it and what is wrong with it.

import { h, replace, show } from '../elements/dom.js';
import { ofLine } from './commandline.js';
import { labelled, linesBox } from './field.js';
import { proposalOf } from './proposal.js';
import { plural, t } from '../words/t.js';
import { bytes, shortName, visible } from '../words/text.js';
import type { Page } from '../page.js';
import type { Proposal } from './proposal.js';

/** How much text the hub reads at most, in bytes. */
const mostText = 256 << 10;

export function pastedText({ call, announce }: Page, propose: (proposal: Proposal) => void) {
  const box = linesBox({ rows: 6, dataset: { testid: 'adding-text' }, placeholder: t('{ "mcpServers": { … } }') });
  const read = h('button', {
    class: 'primary',
    text: t('Continue'),
    dataset: { testid: 'adding-read' },
    onclick: () => void look(),
  });
  const field = labelled(t('Command, URL or config'), box, {
    hint: t('A command line, an address, JSON of any editor, or TOML of Codex.'),
  });
  const found = h('div', { 'role': 'group', 'aria-label': t('Servers in the text') });
  const element = h('div', { class: 'fields' }, field.element, read, found);
  let asked = 0;
  box.addEventListener('paste', (event) => {
    const text = event.clipboardData?.getData('text') ?? '';
    if (text.length <= mostText) return;
    event.preventDefault();
    field.say(tooLong(text.length));
  });
  box.addEventListener('input', () => field.say(''));

  const tooLong = (length: number) =>
    t(
      'This text is too long: {0}, of which at most {1} are read. Paste the part with the servers.',
      bytes(length),
      bytes(mostText),
    );

  async function look() {
    const text = box.value;
    const mine = ++asked;
    replace(found);
    if (text.trim() === '') {
      field.say(t('Paste the text first.'));
      box.focus();
      return;
    }
    const size = new TextEncoder().encode(text).length;
    if (size > mostText) {
      field.say(tooLong(size));
      return;
    }
    const line = ofLine(text);
    if (line) {
      propose(line);
      return;
    }
    const { error, response } = await call('ReadConfigText', { text });
    if (mine !== asked) return;
    const entries = response?.entries ?? [];
    const faults = (response?.problems ?? []).filter((p) => p.fatal || entries.length === 0);
    const at = (line: number | undefined) => (line ? t('Line {0}: ', line) : '');
    field.say(error?.message ?? faults.map((p) => `${at(p.line)}${p.message ?? ''}`).join('\n'));
    const [one] = entries;
    if (entries.length === 1 && one?.form) {
      propose(proposalOf(one));
      return;
    }
    replace(
      found,
      entries.length > 1
        && h('p', {
          class: 'muted',
          text: plural(entries.length, '{0} server found. Choose one.', '{0} servers found. Choose one.'),
        }),
      ...entries.map((entry) => {
        const why = entry.problems?.filter((p) => p.fatal) ?? [];
        const name = shortName(entry.server) || t('the server');
        return h(
          'div',
          { class: 'line' },
          h('button', {
            'class': 'secondary',
            'text': name,
            'aria-disabled': entry.form ? 'false' : 'true',
            'onclick': () => entry.form && propose(proposalOf(entry)),
          }),
          ...why.map((p) =>
            h('span', {
              class: 'problem',
              text: visible(`${at(p.line)}${[p.key, p.message].filter(Boolean).join(': ')}`),
            }),
          ),
        );
      }),
    );
    show(found, entries.length > 0);
    if (field.wrong()) box.focus();
    else if (entries.length) {
      announce(plural(entries.length, '{0} server found.', '{0} servers found.'));
      found.querySelector('button')?.focus();
    }
  }

  return {
    element,
    focus: () => box.focus(),
    read: (text: string) => {
      box.value = text.slice(0, mostText + 1);
      void look();
    },
  };
}
