// A bundle (.mcpb). A person chooses its file in a dialog of the host, and the hub reads it. It is unpacked when its
// entry is added.

import { h, replace } from '../elements/dom.js';
import { t } from '../words/t.js';
import { bytes, shortName, visible } from '../words/text.js';
import { Offers } from './offer.js';
import { Waiting } from './waiting.js';
import type { Answer, ResponseOf } from '../hub/methods.js';
import type { Page } from '../page.js';
import type { Proposal } from './proposal.js';

type Read = Answer<'ReadBundle'>;

export class BundleFile {
  readonly element: HTMLElement;
  readonly #page: Page;
  readonly #propose: (proposal: Proposal) => void;
  readonly #wait = new Waiting();
  readonly #found = h('div', { class: 'fields' });

  constructor(page: Page, propose: (proposal: Proposal) => void) {
    this.#page = page;
    this.#propose = propose;
    const hint = t('A file that ends in .mcpb. It is unpacked when you add it. Nothing in it runs before you agree.');
    this.element = h(
      'div',
      { class: 'fields' },
      h('p', { class: 'muted', text: hint }),
      h('button', {
        class: 'primary',
        text: t('Choose a bundle…'),
        dataset: { testid: 'bundle-choose' },
        onclick: () => this.begin(),
      }),
      this.#wait.element,
      this.#found,
    );
  }

  /** Lets a person choose a file, and shows what is in it. */
  begin() {
    const chosen = async (unwanted: AbortSignal) => (await this.#page.ask({ chooseBundle: {} }, unwanted)) as Read;
    void readBundle(this.#wait, chosen).then((read) => {
      if (read) showBundle(this.#page, read, this.#found, this.#propose);
    });
  }

  stop() {
    this.#wait.stop();
  }
}

/** Lets the hub read a bundle. Returns undefined if it did not; then the reason is shown. */
export async function readBundle(wait: Waiting, request: (unwanted: AbortSignal) => Promise<Read>) {
  return (await wait.ask(t('Reading the bundle…'), request))?.response;
}

/**
 * Shows what is in a bundle.
 * @param back leads to where the bundle was found
 */
export function showBundle(
  page: Page,
  read: ResponseOf<'ReadBundle'>,
  place: HTMLElement,
  propose: (proposal: Proposal) => void,
  back?: () => void,
) {
  const { proposal, description = '', tools = [] } = read;
  if (!proposal) return;
  const title = read.title || proposal.subject || '';
  const source = t('the bundle {0}, SHA-256 {1}', proposal.subject ?? '', read.sha256 ?? '');
  const offers = new Offers(page, { title, description, source }, [proposal], { propose });
  replace(
    place,
    back && h('button', { class: 'link', text: t('Back to the list'), onclick: back }),
    h('h3', { dir: 'auto', text: shortName(title) }),
    h('p', {
      class: 'muted',
      text: t(
        'Version {0} by {1}, according to the bundle. {2}, unpacked {3}.',
        visible(read.version),
        visible(read.author),
        bytes(Number(read.bundleBytes ?? 0)),
        bytes(Number(read.unpackedBytes ?? 0)),
      ),
    }),
    h('p', { class: 'prose long', dir: 'auto', text: visible(description) }),
    tools.length > 0
      && h('p', {
        class: 'prose long',
        dir: 'auto',
        text: t('Tools: {0}', tools.map((tool) => visible(tool)).join(', ')),
      }),
    h('p', { class: 'muted' }, t('It is unpacked into {0}', visible(read.folder))),
    offers.element,
  );
  offers.focus();
}
