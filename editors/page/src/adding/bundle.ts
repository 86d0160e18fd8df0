// A bundle (.mcpb). A person chooses its file in a dialog of the host, and the hub reads it. It is unpacked when its
// entry is added.

import { h, replace } from '../elements/dom.js';
import { t } from '../words/t.js';
import { bytes, shortName, visible } from '../words/text.js';
import { offers, waiting } from './offer.js';
import type { Answer } from '../hub/methods.js';
import type { Page } from '../page.js';
import type { Proposal } from './proposal.js';

export type Read = Answer<'ReadBundle'>;

export function bundleFile(page: Page, propose: (proposal: Proposal) => void) {
  const choose = h('button', {
    class: 'primary',
    text: t('Choose a bundle…'),
    dataset: { testid: 'bundle-choose' },
    onclick: () => begin(),
  });
  const chosen = async (unwanted: AbortSignal) => (await page.ask({ chooseBundle: {} }, unwanted)) as Read;
  const begin = () => void readBundle(page, wait, chosen, one, propose);
  const wait = waiting();
  const one = h('div', { class: 'fields' });
  const element = h(
    'div',
    { class: 'fields' },
    h('p', {
      class: 'muted',
      text: t(
        'A file that ends in .mcpb. It is unpacked only when you add it, and nothing of it runs before you agree.',
      ),
    }),
    choose,
    wait.element,
    one,
  );
  return { element, focus: () => choose.focus(), begin, stop: wait.stop };
}

/** Lets the hub read a bundle, and shows what is in it. */
export async function readBundle(
  page: Page,
  wait: ReturnType<typeof waiting>,
  request: (unwanted: AbortSignal) => Promise<Read>,
  place: HTMLElement,
  propose: (proposal: Proposal) => void,
  back?: () => void,
) {
  const read = (await wait.ask(t('Reading it…'), request))?.response;
  if (!read?.proposal) return;
  const title = read.title || read.proposal.subject || '';
  const about = {
    title,
    description: read.description ?? '',
    source: t('the bundle {0}, SHA-256 {1}', read.proposal.subject ?? '', read.sha256 ?? ''),
  };
  const choice = offers(page, about, [read.proposal], { propose });
  const { tools = [] } = read;
  replace(
    place,
    back && h('button', { class: 'link', text: t('Back to the list'), onclick: back }),
    h('h3', { dir: 'auto', text: shortName(title) }),
    h('p', {
      class: 'muted',
      text: t(
        '{0}, by {1}, as it says of itself. {2}, unpacked {3}.',
        visible(read.version),
        visible(read.author),
        bytes(Number(read.bundleBytes ?? 0)),
        bytes(Number(read.unpackedBytes ?? 0)),
      ),
    }),
    h('p', { class: 'prose long', dir: 'auto', text: visible(read.description) }),
    tools.length > 0
      && h('p', {
        class: 'prose long',
        dir: 'auto',
        text: t('Tools: {0}', tools.map((tool) => visible(tool)).join(', ')),
      }),
    h('p', { class: 'muted' }, t('It is unpacked into {0}', visible(read.folder))),
    choice.element,
  );
  choice.focus();
}
