// The notice of the last write into a config file, with a button that undoes it.

import { t } from '../words/t.js';
import { h, replace, setText, show } from '../elements/dom.js';
import { placeLink } from '../surface.js';
import { shortName, visible } from '../words/text.js';
import { closeButton } from './frame.js';
import { writer } from './writing.js';
import type { ConfigWriteJson as ConfigWrite } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page } from '../page.js';

/** How long the last write can be undone by a click, in milliseconds. */
const undoTime = 300_000;

export class WriteNotice {
  readonly element = h('div', {
    'class': 'banner',
    'role': 'region',
    'hidden': true,
    'aria-label': t('Last change of a config file'),
    'dataset': { testid: 'written' },
  });
  readonly #page: Page;
  readonly #back: () => HTMLElement;
  #timer = 0;

  /** @param back returns what takes the focus from a notice that goes */
  constructor(page: Page, back: () => HTMLElement) {
    this.#page = page;
    this.#back = back;
  }

  /**
   * Shows a write in the place of the one before.
   * @param did a sentence about the write
   * @param again the write can be undone
   */
  wrote(write: ConfigWrite, did: string, again: boolean = true) {
    clearTimeout(this.#timer);
    const said = h('span', { role: 'status' });
    const dismiss = closeButton(t('Dismiss'), () => this.#leave());
    const had = this.element.contains(document.activeElement);
    replace(
      this.element,
      h('div', { class: 'grows-wide' }, said, ' ', placeLink(this.#page.surface, write.configFile, write.configLine)),
      again && write.undoId && this.#undoButton(write.undoId, said, dismiss),
      dismiss,
    );
    show(this.element, true);
    if (had) dismiss.focus();
    setText(said, did);
    this.#page.announce(did);
    this.#timer = window.setTimeout(() => this.#leave(), undoTime);
  }

  #leave() {
    const had = this.element.contains(document.activeElement);
    show(this.element, false);
    if (had) this.#back().focus();
  }

  #undoButton(undoId: string, said: HTMLElement, dismiss: HTMLElement) {
    const undo = h('button', {
      class: 'secondary',
      text: t('Undo'),
      dataset: { testid: 'undo' },
      onclick: () => void act(),
    });
    const act = async () => {
      if (undo.getAttribute('aria-disabled') === 'true') return;
      undo.setAttribute('aria-disabled', 'true');
      const { response, error } = await this.#page.call('UndoConfigWrite', { writtenBy: writer, undoId });
      undo.removeAttribute('aria-disabled');
      if (response?.write) {
        this.#undone(response.write, said.isConnected);
        return;
      }
      setText(said, visible(error?.message));
      if (error?.code !== 'FAILED_PRECONDITION') return; // else it can never be undone
      if (document.activeElement === undo) dismiss.focus();
      undo.remove();
    };
    return undo;
  }

  /** @param shown the notice of the write is still there: no later write has replaced it */
  #undone(write: ConfigWrite, shown: boolean) {
    const text = t('“{0}” is as it was before.', shortName(write.server));
    if (shown) this.wrote(write, text, false);
    else this.#page.announce(text);
  }
}
