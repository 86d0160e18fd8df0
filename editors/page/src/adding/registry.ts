// A search in the registry that the host has chosen. Nothing is sent before a person asks for it.

import { h, replace, show } from '../elements/dom.js';
import { roving } from '../elements/roving.js';
import { plural, t } from '../words/t.js';
import { shortName, visible } from '../words/text.js';
import { labelled, textBox } from './field.js';
import { kindWord, offers, waiting } from './offer.js';
import { readBundle } from './bundle.js';
import type { RegistryServerJson as RegistryServer } from '../../../host/src/gen/mcphub/v1/registry_pb.js';
import type { Page } from '../page.js';
import type { Proposal } from './proposal.js';

/** Longest text to search for, in characters. */
const mostQuery = 200;

export function registrySearch(page: Page, propose: (proposal: Proposal) => void) {
  let query = '';
  let cursor = '';
  let opener: HTMLElement | undefined;
  const box = textBox({
    type: 'search',
    maxlength: mostQuery,
    dataset: { testid: 'registry-query' },
    onkeydown: (event: KeyboardEvent) => {
      if (event.key === 'Enter' && !event.isComposing) {
        event.preventDefault();
        void search();
      } else if (event.key === 'ArrowDown' && results.firstElementChild) {
        event.preventDefault();
        results.querySelector('button')?.focus();
      }
    },
  });
  const field = labelled(t('Search for'), box, {
    hint: t('A part of the name. It is sent to the registry when you press Enter.'),
    body: h(
      'div',
      { class: 'inline' },
      box,
      h('button', {
        class: 'secondary',
        text: t('Search'),
        dataset: { testid: 'registry-search' },
        onclick: () => void search(),
      }),
    ),
  });
  const wait = waiting();
  const results = h('ul', { class: 'lines found', role: 'list', dataset: { testid: 'registry-results' } });
  results.setAttribute('aria-label', t('Servers of the registry'));
  const rows = roving(results, () => [...results.querySelectorAll('button')]);
  const more = h('button', {
    class: 'link',
    hidden: true,
    text: t('Show more'),
    dataset: { testid: 'registry-more' },
    onclick: () => void nextPage(),
  });
  const list = h('div', { class: 'fields' }, results, more);
  const one = h('div', { class: 'fields' });
  const element = h('div', { class: 'fields' }, field.element, wait.element, list, one);

  async function search() {
    query = box.value.trim();
    replace(results);
    replace(one);
    show(list, true);
    show(more, false);
    cursor = '';
    const found = await takePage();
    if (!found) return;
    const count = results.childElementCount;
    const text =
      count === 0
        ? t('The registry has no server of this name.')
        : plural(count, '{0} server found.', '{0} servers found.');
    wait.say(text);
  }
  async function nextPage() {
    const last = results.lastElementChild;
    if (!(await takePage())) return;
    const next = last?.nextElementSibling?.querySelector('button');
    if (next) next.focus();
  }

  async function takePage() {
    const reply = await wait.ask(t('Searching…'), (unwanted) =>
      page.call('SearchRegistry', { query, cursor }, unwanted),
    );
    const found = reply?.response;
    if (!found) return false;
    results.append(...(found.servers ?? []).map(row));
    rows.refresh();
    cursor = found.nextCursor ?? '';
    show(more, cursor !== '');
    return true;
  }

  function row(server: RegistryServer) {
    const button = h(
      'button',
      {
        class: 'found-server',
        dataset: { testid: `registry-${server.name ?? ''}` },
        onclick: () => {
          opener = button;
          void look(server);
        },
      },
      h(
        'span',
        { class: 'line' },
        h('span', { class: 'name', dir: 'auto', text: shortName(server.title || server.name) }),
        h('span', { class: 'muted', text: visible(server.version) }),
        server.status === 'REGISTRY_STATUS_DEPRECATED' && h('span', { class: 'badge', text: t('deprecated') }),
        ...(server.kinds ?? []).map((kind) => h('span', { class: 'badge', text: kindWord(kind) })),
      ),
      h('span', { class: 'of', dir: 'auto', text: visible(server.description) }),
      h('span', { class: 'muted code', text: visible(server.name) }),
    );
    return h('li', {}, button);
  }

  async function look(known: RegistryServer) {
    const reply = await wait.ask(t('Asking for it…'), (unwanted) =>
      page.call('GetRegistryServer', { name: known.name ?? '', version: known.version ?? '' }, unwanted),
    );
    const found = reply?.response;
    if (!found) return;
    const server = found.server ?? {};
    const back = () => {
      wait.stop();
      replace(one);
      show(list, true);
      (opener?.isConnected ? opener : box).focus();
    };
    const about = {
      title: server.title || server.name || '',
      description: server.description ?? '',
      source: t('the registry: {0} {1}', server.name ?? '', server.version ?? ''),
    };
    const choice = offers(page, about, found.proposals ?? [], {
      propose,
      download: (proposalId) =>
        void readBundle(
          page,
          wait,
          (unwanted) => page.call('ReadBundle', { proposalId }, unwanted),
          one,
          propose,
          back,
        ),
    });
    replace(
      one,
      h('button', { class: 'link', text: t('Back to the list'), onclick: back }),
      h('h3', { dir: 'auto', text: shortName(about.title) }),
      h('p', {
        class: 'muted',
        text: t(
          '{0} {1}, published by {2}. A registry shows who published it, not what it does.',
          visible(server.name),
          visible(server.version),
          visible(server.publisher),
        ),
      }),
      server.status === 'REGISTRY_STATUS_DEPRECATED'
        && h('p', { class: 'warning', text: t('Deprecated. {0}', visible(server.statusMessage)) }),
      h('p', { class: 'prose long', dir: 'auto', text: visible(server.description) }),
      ...[server.repositoryUrl, server.websiteUrl].map((url) => url && h('p', { class: 'code', text: visible(url) })),
      choice.element,
    );
    show(list, false);
    choice.focus();
  }

  return { element, focus: () => box.focus(), stop: wait.stop };
}
