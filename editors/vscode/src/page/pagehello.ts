// Completes the hello of a page with what the extension knows better: the window id and the folders.
import type { AttachResponse, HelloJson } from '@mcphub/host';
import type { Root } from '../hub/watcherwindow.js';

/** The hellos of one page to one hub process after the other. */
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
   * Returns the completed hello. A page may say hello twice to a new hub. If it says the second hello before it has
   * received the first welcome, its resume still names the hub that is gone. The new hub would then treat it as another
   * window with an id that is in use. So such a resume is removed; the relay then sets the resume of its own stream,
   * which the new one replaces.
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
