// The outer frame of a view: a page of the host from another origin, which contains the view. The addresses of the
// frame are tried one after the other, since the extension of an editor cannot know which of them a window reaches.

import { h, replace } from '../elements/dom.js';
import { t } from '../words/t.js';
import { bucket } from './bucket.js';

export type Looks = { title: string; bordered: boolean };

/** How long a frame may take to load, and after that to send its first message, in milliseconds. */
const loadLimit = 10_000;
const speakLimit = 1500;
/**
 * How many messages may bypass the outer frame: at once, and additionally each second. Nothing reads them, but they
 * cost the page time.
 */
const mostStrays = 100;
const straysPerSecond = 1;
/** The same limits for messages of removed frames, which may have been in any view. */
const mostLost = 2000;
const lostPerSecond = 20;
const mostFrames = 32;

/**
 * Opens the outer frame in place. Throws if the frame sends no message at any address.
 * @param policy of the view
 * @param signal ends the attempt
 */
export async function openOuter(
  place: HTMLElement,
  addresses: readonly string[],
  policy: string,
  looks: Looks,
  signal: AbortSignal,
): Promise<Outer> {
  const all = addresses.map((text) => new URL(text, location.href));
  // The page's own origin is tried last: there the frame gets no origin at all.
  all.sort((a, b) => Number(isOwn(a)) - Number(isOwn(b)));
  for (const address of all) {
    address.searchParams.set('csp', policy);
    const outer = new Outer(address, looks);
    if (await outer.load(place, signal)) return outer;
    signal.throwIfAborted();
  }
  throw new Error(t('The frame of the view could not be loaded.'));
}

const isOwn = (address: URL) => address.origin === location.origin;

/** Reports whether a message comes from a frame inside an outer frame. Returns undefined if its frame was removed. */
function isWithin(source: MessageEventSource | null, outer: Window | null) {
  let at = source as Window | null;
  for (let step = 0; step < mostFrames; step++) {
    const parent = at?.parent as Window | null | undefined;
    if (!at || !parent) return undefined;
    if (parent === outer) return true;
    if (parent === at || at === window) return false;
    at = parent;
  }
  return undefined; // nested deeper than a normal view
}

export class Outer {
  readonly element: HTMLIFrameElement;
  /** Of the frame. At the page's own origin it gets none, and its messages say 'null'. */
  readonly #origin: string;
  readonly #mayStray = bucket(mostStrays, straysPerSecond);
  readonly #mayBeLost = bucket(mostLost, lostPerSecond);
  #limit = 0;
  /** Ends the wait for the first message; undefined: it has ended. */
  #settle: ((spoken: boolean) => void) | undefined;
  #listener: ((data: unknown) => void) | undefined;
  #strayed: (() => void) | undefined;

  /** The browser makes event.data when it is first read, so it is read only after the sender is known. */
  readonly #hear = (event: MessageEvent<unknown>) => {
    const { source } = event;
    if (source === null || source !== this.element.contentWindow) {
      const within = isWithin(source, this.element.contentWindow);
      if (within === undefined ? !this.#mayBeLost() : within && !this.#mayStray()) this.#strayed?.();
      return;
    }
    if (event.origin !== this.#origin) return;
    const data = event.data;
    this.#listener?.(data);
    const { method } = (data ?? {}) as { method?: unknown };
    if (method === 'ui/notifications/sandbox-proxy-ready') this.#settle?.(true);
  };

  constructor(address: URL, { title, bordered }: Looks) {
    const apart = !isOwn(address);
    this.#origin = apart ? address.origin : 'null';
    this.element = h('iframe', {
      title,
      sandbox: apart ? 'allow-scripts allow-same-origin' : 'allow-scripts',
      allow: '',
      referrerpolicy: 'no-referrer',
      class: bordered ? 'bordered' : '',
      src: address.href,
    });
  }

  /** Loads the frame in place. Reports whether it has sent its first message in time; if not, it is removed. */
  load(place: HTMLElement, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      this.#settle = (spoken) => {
        clearTimeout(this.#limit);
        this.#settle = undefined;
        if (!spoken) this.close();
        resolve(spoken);
      };
      this.#wait(loadLimit);
      this.element.addEventListener('load', () => this.#wait(speakLimit));
      window.addEventListener('message', this.#hear);
      signal.addEventListener('abort', () => this.#settle?.(false), { once: true });
      replace(place, this.element);
    });
  }

  send(message: Record<string, unknown>) {
    this.element.contentWindow?.postMessage(message, this.#origin === 'null' ? '*' : this.#origin);
  }

  /** @param strayed is called when frames inside the outer frame send too many messages directly to the page */
  listen(listener: (data: unknown) => void, strayed: () => void) {
    this.#listener = listener;
    this.#strayed = strayed;
  }

  close() {
    window.removeEventListener('message', this.#hear);
    this.element.remove();
  }

  #wait(limit: number) {
    clearTimeout(this.#limit);
    if (this.#settle) this.#limit = window.setTimeout(() => this.#settle?.(false), limit);
  }
}
