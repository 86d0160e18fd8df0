// A bundle (.mcpb): its file is chosen in a dialog of the host, the hub reads it, and it is unpacked when its entry is
// added.

import { h, replace } from '../elements/dom.js';
import { bytes, shortName, visible } from '../words/text.js';
import { offers, waiting } from './offer.js';

/** @type {import('./addform.js').Way} */
export const bundleWay = { id: 'bundle', label: 'Bundle file', make: bundleFile };

/**
 * @param {import('../page.js').Page} page
 * @param {(proposal: import('./proposal.js').Proposal) => void} propose
 */
function bundleFile(page, propose) {
  const choose = h('button', {
    type: 'button',
    class: 'primary',
    text: 'Choose a bundle…',
    dataset: { testid: 'bundle-choose' },
    onclick: () => begin(),
  });
  const begin = () => void readBundle(page, wait, { chooseBundle: {} }, one, propose);
  const wait = waiting(page);
  const one = h('div', { class: 'fields' });
  const element = h(
    'div',
    { class: 'fields' },
    h('p', {
      class: 'muted',
      text: 'A file that ends in .mcpb. It is unpacked only when you add it, and nothing of it runs before you agree.',
    }),
    choose,
    wait.element,
    one,
  );
  return { element, focus: () => choose.focus(), begin };
}

/**
 * Has a bundle read, and shows what is in it.
 * @param {import('../page.js').Page} page
 * @param {ReturnType<typeof waiting>} wait
 * @param {import('../hub/stream.js').AttachRequest} message
 * @param {HTMLElement} place
 * @param {(proposal: import('./proposal.js').Proposal) => void} propose
 * @param {() => void} [back]
 */
export async function readBundle(page, wait, message, place, propose, back) {
  const reply = await wait.ask('Reading it…', message);
  const read = reply?.readBundle;
  if (!read?.proposal) return;
  const title = read.title || read.proposal.subject || '';
  const about = {
    title,
    description: read.description ?? '',
    source: `the bundle ${read.proposal.subject ?? ''}, SHA-256 ${read.sha256 ?? ''}`,
  };
  const choice = offers(page, about, [read.proposal], { propose });
  const { tools = [] } = read;
  replace(
    place,
    back && h('button', { type: 'button', class: 'link', text: 'Back to the list', onclick: back }),
    h('h4', { dir: 'auto', text: shortName(title) }),
    h('p', {
      class: 'muted',
      text: `${visible(read.version)}, by ${visible(read.author)}, as it says of itself. ${bytes(Number(read.bundleBytes ?? 0))}, unpacked ${bytes(Number(read.unpackedBytes ?? 0))}.`,
    }),
    h('p', { class: 'prose long', dir: 'auto', text: visible(read.description) }),
    tools.length > 0
      && h('p', { class: 'prose long', dir: 'auto', text: `Tools: ${tools.map((tool) => visible(tool)).join(', ')}` }),
    h('p', { class: 'muted' }, 'It is unpacked into ', h('span', { class: 'code', text: visible(read.folder) })),
    choice.element,
  );
  choice.focus();
}
