// The form that removes an entry from its file. It shows what is lost before a person presses its button.

import { h, replace, show } from '../elements/dom.js';
import { placeLink } from '../surface.js';
import { plural, t } from '../words/t.js';
import { shortName, visible } from '../words/text.js';
import { frame, written } from './frame.js';
import type { ConfigWriteJson as ConfigWrite } from '../../../host/src/gen/mcphub/v1/config_pb.js';
import type { Page, Reply } from '../page.js';

/** Returns what a removal does to an entry, and to whatever depends on it. */
function effects({ surface, state }: Page, server: string): HTMLElement[] {
  const known = state.servers.get(server);
  const shadowed = known?.shadows?.[0];
  const calls = [...state.requests.values()].filter(
    (request) => request.server === server && request.method !== 'initialize',
  ).length;
  const cancels = () =>
    plural(calls, '{0} running request will be cancelled.', '{0} running requests will be cancelled.');
  return [
    h(
      'p',
      {},
      t('The entry is removed from '),
      placeLink(surface, known?.configFile, known?.configLine),
      t('. You can undo that.'),
    ),
    ...(calls > 0 ? [h('p', { class: 'warning', text: cancels() })] : []),
    ...(shadowed
      ? [
          h(
            'p',
            { class: 'warning' },
            t('Another entry with this name then takes effect: '),
            placeLink(surface, shadowed.file, shadowed.line),
          ),
        ]
      : []),
  ];
}

export class Removal {
  readonly element: HTMLElement;
  readonly title: string;
  readonly #page: Page;
  readonly #server: string;
  readonly #configFile: string;
  readonly #done: (write: ConfigWrite) => void;
  readonly #lines = h('div', { class: 'fields' });
  readonly #problem = h('p', { class: 'problem', role: 'alert', tabindex: -1, hidden: true });
  readonly #remove = h('button', {
    class: 'primary',
    text: t('Remove'),
    dataset: { testid: 'remove-now' },
    onclick: () => void this.#act(),
  });

  constructor(page: Page, server: string, done: (write: ConfigWrite) => void, close: () => void) {
    this.#page = page;
    this.#server = server;
    this.#configFile = page.state.servers.get(server)?.configFile ?? '';
    this.#done = done;
    const parts = [...effects(page, server), this.#lines, this.#problem];
    ({ element: this.element, title: this.title } = frame(
      t('Remove {0}?', shortName(server)),
      parts,
      [this.#remove],
      close,
    ));
    void this.#showLines();
  }

  #order(preview: boolean) {
    const { call } = this.#page;
    return call('RemoveServer', { server: this.#server, configFile: this.#configFile, preview });
  }

  async #showLines() {
    const reply = await this.#order(true);
    this.#tell(reply);
    if (reply.response?.write) replace(this.#lines, written(reply.response.write));
  }

  async #act() {
    this.#remove.setAttribute('aria-disabled', 'true');
    const reply = await this.#order(false);
    this.#remove.removeAttribute('aria-disabled');
    this.#tell(reply);
    if (reply.response?.write) this.#done(reply.response.write);
    else this.#problem.focus();
  }

  #tell({ error, errorPlace: place }: Reply) {
    const link = place?.line ? placeLink(this.#page.surface, place.file, place.line) : '';
    replace(this.#problem, visible(error?.message), ' ', link);
    show(this.#problem, error !== undefined);
  }
}
