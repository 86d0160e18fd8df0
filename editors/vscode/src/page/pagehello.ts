// What a page says of itself first, with what the extension knows better: which window it is, and on which folders.
import type { AttachResponse, HelloJson } from '@mcphub/host';
import type { Root } from '../hub/watcherwindow.js';

/** The hellos of one page on one hub process after the other. */
export class PageHello {
  readonly #windowId: string;
  readonly #roots: () => readonly Root[];
  #hubId = ''; // of the last welcome
  #said = false;

  constructor(windowId: string, roots: () => readonly Root[]) {
    this.#windowId = windowId;
    this.#roots = roots;
  }

  /**
   * A page may say hello twice to a new hub, the second time before it has heard the first welcome, and then it still
   * names the hub that has gone. The new hub would take that for a stranger with a used id. Without a place to resume
   * at, the relay names its own stream, which is taken over.
   */
  complete({ resume, ...hello }: HelloJson): HelloJson {
    const stale = this.#said && resume?.hubId !== this.#hubId;
    this.#said = true;
    const roots = this.#roots().map(({ uri, name }) => ({ uri, name }));
    return { ...hello, ...(resume === undefined || stale ? {} : { resume }), windowId: this.#windowId, roots };
  }

  heard({ event }: AttachResponse): void {
    if (event.case === 'welcome') {
      this.#hubId = event.value.hubId;
    }
  }
}
