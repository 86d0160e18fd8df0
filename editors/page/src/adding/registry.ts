// A search in the registry that the host has chosen. Nothing is sent before a person asks for it.

import { h, replace, show } from '../elements/dom.js';
import { roving } from '../elements/roving.js';
import { plural, t } from '../words/t.js';
import { shortName, visible } from '../words/text.js';
import { labelled, textBox } from './field.js';
import { kindWord, Offers } from './offer.js';
import { readBundle, showBundle } from './bundle.js';
import { Waiting } from './waiting.js';
import type { RegistryServerJson as RegistryServer } from '../../../host/src/gen/mcphub/v1/registry_pb.js';
import type { ResponseOf } from '../hub/methods.js';
import type { Page } from '../page.js';
import type { Proposal } from './proposal.js';

/** Longest text to search for, in characters. */
const mostQuery = 200;

const isDeprecated = ({ status }: RegistryServer) => status === 'REGISTRY_STATUS_DEPRECATED';

export class RegistrySearch {
  readonly element: HTMLElement;
  readonly #page: Page;
  readonly #propose: (proposal: Proposal) => void;
  readonly #box = textBox({
    type: 'search',
    maxlength: mostQuery,
    dataset: { testid: 'registry-query' },
    onkeydown: (event: KeyboardEvent) => this.#key(event),
  });
  readonly #wait = new Waiting();
  readonly #results = h('ul', {
    'class': 'lines found',
    'role': 'list',
    'aria-label': t('Servers of the registry'),
    'dataset': { testid: 'registry-results' },
  });
  readonly #rows = roving(this.#results, () => [...this.#results.querySelectorAll('button')]);
  readonly #more = h('button', {
    class: 'link',
    hidden: true,
    text: t('Show more'),
    dataset: { testid: 'registry-more' },
    onclick: () => void this.#nextPage(),
  });
  readonly #list = h('div', { class: 'fields' }, this.#results, this.#more);
  /** Shows one server in the place of the list. */
  readonly #one = h('div', { class: 'fields' });
  #query = '';
  #cursor = '';
  /** The row of the server that is shown. */
  #opener: HTMLElement | undefined;

  constructor(page: Page, propose: (proposal: Proposal) => void) {
    this.#page = page;
    this.#propose = propose;
    const search = h('button', {
      class: 'secondary',
      text: t('Search'),
      dataset: { testid: 'registry-search' },
      onclick: () => void this.#search(),
    });
    const field = labelled(t('Search for'), this.#box, {
      hint: t('A part of the name. It is sent to the registry when you press Enter.'),
      body: h('div', { class: 'inline' }, this.#box, search),
    });
    this.element = h('div', { class: 'fields' }, field.element, this.#wait.element, this.#list, this.#one);
  }

  stop() {
    this.#wait.stop();
  }

  #key(event: KeyboardEvent) {
    if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      void this.#search();
    } else if (event.key === 'ArrowDown' && this.#results.firstElementChild) {
      event.preventDefault();
      this.#results.querySelector('button')?.focus();
    }
  }

  async #search() {
    this.#query = this.#box.value.trim();
    replace(this.#results);
    replace(this.#one);
    show(this.#list, true);
    show(this.#more, false);
    this.#cursor = '';
    if (!(await this.#takePage())) return;
    const count = this.#results.childElementCount;
    this.#wait.say(count === 0 ? t('No servers found.') : plural(count, '{0} server found.', '{0} servers found.'));
  }

  async #nextPage() {
    const last = this.#results.lastElementChild;
    if (!(await this.#takePage())) return;
    last?.nextElementSibling?.querySelector('button')?.focus();
  }

  /** Adds the next page to the list. Reports whether there is one. */
  async #takePage() {
    const request = { query: this.#query, cursor: this.#cursor };
    const reply = await this.#wait.ask(t('Searching…'), (unwanted) =>
      this.#page.call('SearchRegistry', request, unwanted),
    );
    const found = reply?.response;
    if (!found) return false;
    this.#results.append(...(found.servers ?? []).map((server) => this.#row(server)));
    this.#rows.refresh();
    this.#cursor = found.nextCursor ?? '';
    show(this.#more, this.#cursor !== '');
    return true;
  }

  #row(server: RegistryServer) {
    const button = h(
      'button',
      {
        class: 'found-server',
        dataset: { testid: `registry-${server.name ?? ''}` },
        onclick: () => {
          this.#opener = button;
          void this.#look(server);
        },
      },
      h(
        'span',
        { class: 'line' },
        h('span', { class: 'name', dir: 'auto', text: shortName(server.title || server.name) }),
        h('span', { class: 'muted', text: visible(server.version) }),
        isDeprecated(server) && h('span', { class: 'badge', text: t('deprecated') }),
        ...(server.kinds ?? []).map((kind) => h('span', { class: 'badge', text: kindWord(kind) })),
      ),
      h('span', { class: 'of', dir: 'auto', text: visible(server.description) }),
      h('span', { class: 'muted code', text: visible(server.name) }),
    );
    return h('li', {}, button);
  }

  /** Asks for a server of the list, and shows it. */
  async #look({ name = '', version = '' }: RegistryServer) {
    const reply = await this.#wait.ask(t('Loading the details…'), (unwanted) =>
      this.#page.call('GetRegistryServer', { name, version }, unwanted),
    );
    if (reply?.response) this.#show(reply.response);
  }

  #show({ server = {}, proposals = [] }: ResponseOf<'GetRegistryServer'>) {
    const { name = '', version = '', description = '' } = server;
    const title = server.title || name;
    const source = t('the registry: {0} {1}', name, version);
    const offers = new Offers(this.#page, { title, description, source }, proposals, {
      propose: this.#propose,
      download: (proposalId) => void this.#download(proposalId),
    });
    replace(
      this.#one,
      h('button', { class: 'link', text: t('Back to the list'), onclick: () => this.#back() }),
      h('h3', { dir: 'auto', text: shortName(title) }),
      h('p', {
        class: 'muted',
        text: t(
          '{0} {1}, published by {2}. A registry shows who published it, not what it does.',
          visible(name),
          visible(version),
          visible(server.publisher),
        ),
      }),
      isDeprecated(server) && h('p', { class: 'warning', text: t('Deprecated. {0}', visible(server.statusMessage)) }),
      h('p', { class: 'prose long', dir: 'auto', text: visible(description) }),
      ...[server.repositoryUrl, server.websiteUrl].map((url) => url && h('p', { class: 'code', text: visible(url) })),
      offers.element,
    );
    show(this.#list, false);
    offers.focus();
  }

  async #download(proposalId: string) {
    const read = await readBundle(this.#wait, (unwanted) => this.#page.call('ReadBundle', { proposalId }, unwanted));
    if (read) showBundle(this.#page, read, this.#one, this.#propose, () => this.#back());
  }

  #back() {
    this.#wait.stop();
    replace(this.#one);
    show(this.#list, true);
    (this.#opener?.isConnected ? this.#opener : this.#box).focus();
  }
}
