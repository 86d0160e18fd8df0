// A bundle (.mcpb). A person chooses its file in a dialog of the host, and the hub reads it. It is unpacked when its
// entry is added.

import { h, replace } from '../elements/dom.js';
import { t } from '../words/t.js';
import { bytes, shortName, visible } from '../words/text.js';
import { offers, waiting } from './offer.js';

/** @typedef {import('../hub/methods.js').Answer<'ReadBundle'>} Read */

/**
 * @param {import('../page.js').Page} page
 * @param {(proposal: import('./proposal.js').Proposal) => void} propose
 */
export function bundleFile(page, propose) {
  const choose = h('button', {
    class: 'primary',
    text: t('Choose a bundle…'),
    dataset: { testid: 'bundle-choose' },
    onclick: () => begin(),
  });
  const chosen = async (/** @type {AbortSignal} */ unwanted) =>
    /** @type {Read} */ (await page.ask({ chooseBundle: {} }, unwanted));
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

/**
 * Lets the hub read a bundle, and shows what is in it.
 * @param {import('../page.js').Page} page
 * @param {ReturnType<typeof waiting>} wait
 * @param {(unwanted: AbortSignal) => Promise<Read>} request
 * @param {HTMLElement} place
 * @param {(proposal: import('./proposal.js').Proposal) => void} propose
 * @param {() => void} [back]
 */
export async function readBundle(page, wait, request, place, propose, back) {
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
    h('h4', { dir: 'auto', text: shortName(title) }),
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
