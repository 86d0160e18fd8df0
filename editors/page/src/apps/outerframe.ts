// The outer frame of a view: a page of the host from another origin, which contains the view. The addresses of the
// frame are tried one after the other, since the extension of an editor cannot know which of them a window reaches.

import { h, replace } from '../elements/dom.js';
import { t } from '../words/t.js';
import { bucket } from './bucket.js';

export interface Outer {
  element: HTMLIFrameElement;
  send: (message: Record<string, unknown>) => void;
  /** strayed: is called when frames inside the outer frame send too many messages directly to the page */
  listen: (listener: (data: unknown) => void, strayed: () => void) => void;
  close: () => void;
}

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
  looks: { title: string; bordered: boolean },
  signal: AbortSignal,
): Promise<Outer> {
  const all = addresses.map((text) => new URL(text, location.href));
  // The page's own origin is tried last: there the frame gets no origin at all.
  all.sort((a, b) => Number(isOwn(a)) - Number(isOwn(b)));
  for (const address of all) {
    const outer = await openAt(place, address, policy, looks, signal);
    if (outer) return outer;
    signal.throwIfAborted();
  }
  throw new Error(t('The frame of the view could not be loaded. Nothing of it is shown.'));
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

/** @returns undefined: the frame sends no message */
function openAt(
  place: HTMLElement,
  address: URL,
  policy: string,
  { title, bordered }: { title: string; bordered: boolean },
  signal: AbortSignal,
): Promise<Outer | undefined> {
  address.searchParams.set('csp', policy);
  const apart = !isOwn(address);
  const origin = apart ? address.origin : 'null';
  const element = h('iframe', {
    title,
    sandbox: apart ? 'allow-scripts allow-same-origin' : 'allow-scripts',
    allow: '',
    referrerpolicy: 'no-referrer',
    class: bordered ? 'bordered' : '',
  });
  return new Promise((resolve) => {
    let listener: ((data: unknown) => void) | undefined;
    let stray: (() => void) | undefined;
    const mayStray = bucket(mostStrays, straysPerSecond);
    const mayBeLost = bucket(mostLost, lostPerSecond);
    let spoken = false;
    const close = () => {
      clearTimeout(limit);
      signal.removeEventListener('abort', none);
      window.removeEventListener('message', hear);
      element.remove();
    };
    const none = () => {
      if (spoken) return;
      close();
      resolve(undefined);
    };
    let limit = setTimeout(none, loadLimit);
    element.addEventListener('load', () => {
      if (spoken) return;
      clearTimeout(limit);
      limit = setTimeout(none, speakLimit);
    });
    /** The browser makes event.data when it is first read, so it is read only after the sender is known. */
    const hear = (event: MessageEvent<unknown>) => {
      const { source } = event;
      if (source === null || source !== element.contentWindow) {
        const within = isWithin(source, element.contentWindow);
        if (within === undefined ? !mayBeLost() : within && !mayStray()) stray?.();
        return;
      }
      if (event.origin !== origin) return;
      const data = event.data;
      if (listener) listener(data);
      const { method } = (data ?? {}) as { method?: unknown };
      if (spoken || method !== 'ui/notifications/sandbox-proxy-ready') return;
      spoken = true;
      clearTimeout(limit);
      resolve({
        element,
        send: (message) => element.contentWindow?.postMessage(message, apart ? origin : '*'),
        listen: (hears, strayed) => {
          listener = hears;
          stray = strayed;
        },
        close,
      });
    };
    window.addEventListener('message', hear);
    signal.addEventListener('abort', none);
    element.src = address.href;
    replace(place, element);
  });
}
