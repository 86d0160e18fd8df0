// A text that somebody pastes. The hub reads it, and reports which servers are in it and what is wrong with it.

import { h, replace, show } from '../elements/dom.js';
import { ofLine } from './commandline.js';
import { labelled, linesBox } from './field.js';
import { proposalOf } from './proposal.js';
import { plural, t } from '../words/t.js';
import { bytes, shortName, visible } from '../words/text.js';
import type { ConfigEntryJson as ConfigEntry } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { ConfigProblemJson as ConfigProblem } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page } from '../page.js';
import type { Proposal } from './proposal.js';

/** How much text the hub reads at most, in bytes. */
const mostText = 256 << 10;

const tooLong = (length: number) =>
  t('This text is too long: {0} of at most {1}. Paste only the servers.', bytes(length), bytes(mostText));

const withLine = ({ line }: ConfigProblem, text: string) => `${line ? t('Line {0}: ', line) : ''}${text}`;

export class PastedText {
  readonly element: HTMLElement;
  readonly #page: Page;
  readonly #propose: (proposal: Proposal) => void;
  readonly #box = linesBox({ rows: 6, dataset: { testid: 'adding-text' }, placeholder: t('{ "mcpServers": { … } }') });
  readonly #field = labelled(t('Command, URL or config'), this.#box, {
    hint: t('A command line, a URL, JSON from any editor, or TOML from Codex.'),
  });
  readonly #found = h('div', { 'role': 'group', 'aria-label': t('Servers in the text') });
  #asked = 0;

  constructor(page: Page, propose: (proposal: Proposal) => void) {
    this.#page = page;
    this.#propose = propose;
    const read = h('button', {
      class: 'primary',
      text: t('Continue'),
      dataset: { testid: 'adding-read' },
      onclick: () => void this.#look(),
    });
    this.element = h('div', { class: 'fields' }, this.#field.element, read, this.#found);
    this.#box.addEventListener('paste', (event) => {
      const { length } = event.clipboardData?.getData('text') ?? '';
      if (length <= mostText) return;
      event.preventDefault();
      this.#field.say(tooLong(length));
    });
    this.#box.addEventListener('input', () => this.#field.say(''));
  }

  /** Reads a text as if a person had pasted it. */
  read(text: string) {
    this.#box.value = text.slice(0, mostText + 1);
    void this.#look();
  }

  async #look() {
    const text = this.#box.value;
    const mine = ++this.#asked;
    replace(this.#found);
    const size = new TextEncoder().encode(text).length;
    if (text.trim() === '') {
      this.#field.say(t('Paste a command, a URL or a config first.'));
      this.#box.focus();
    } else if (size > mostText) {
      this.#field.say(tooLong(size));
    } else {
      const line = ofLine(text);
      if (line) this.#propose(line);
      else await this.#ask(text, mine);
    }
  }

  async #ask(text: string, mine: number) {
    const { error, response } = await this.#page.call('ReadConfigText', { text });
    if (mine !== this.#asked) return;
    const { entries = [], problems = [] } = response ?? {};
    const faults = problems.filter((problem) => problem.fatal || entries.length === 0);
    this.#field.say(error?.message ?? faults.map((fault) => withLine(fault, fault.message ?? '')).join('\n'));
    const [first] = entries;
    if (entries.length === 1 && first?.form) this.#propose(proposalOf(first));
    else this.#offer(entries);
  }

  #offer(entries: readonly ConfigEntry[]) {
    const count = entries.length;
    replace(
      this.#found,
      count > 1
        && h('p', {
          class: 'muted',
          text: plural(count, '{0} server found. Choose one.', '{0} servers found. Choose one.'),
        }),
      ...entries.map((entry) => this.#line(entry)),
    );
    show(this.#found, count > 0);
    if (this.#field.wrong()) this.#box.focus();
    else if (count > 0) {
      this.#page.announce(plural(count, '{0} server found.', '{0} servers found.'));
      this.#found.querySelector('button')?.focus();
    }
  }

  #line(entry: ConfigEntry) {
    const faults = entry.problems?.filter((problem) => problem.fatal) ?? [];
    return h(
      'div',
      { class: 'line' },
      h('button', {
        'class': 'secondary',
        'text': shortName(entry.server) || t('the server'),
        'aria-disabled': entry.form ? 'false' : 'true',
        'onclick': () => entry.form && this.#propose(proposalOf(entry)),
      }),
      ...faults.map((fault) =>
        h('span', {
          class: 'problem',
          text: visible(withLine(fault, [fault.key, fault.message].filter(Boolean).join(': '))),
        }),
      ),
    );
  }
}
