// The outer frame of a view: a page of the host's own from another origin, which holds the view. It is asked for at one
// address after the other, as the extension of an editor cannot know which of them a window reaches.

import { h, replace } from '../elements/dom.js';
import { t } from '../words/t.js';

/**
 * @typedef {object} Outer
 * @property {HTMLIFrameElement} element
 * @property {(message: Record<string, unknown>) => void} send
 * @property {(listener: (data: unknown) => void) => void} listen
 * @property {() => void} close
 */

/** How long a frame may take to load, and to speak once it has, in milliseconds. */
const loadLimit = 10_000;
const speakLimit = 1500;

/**
 * Puts the frame into a place. Fails when it does not speak at any address.
 * @param {HTMLElement} place
 * @param {readonly string[]} addresses
 * @param {string} policy of the view
 * @param {{ title: string, bordered: boolean }} looks
 * @returns {Promise<Outer>}
 */
export async function openOuter(place, addresses, policy, looks) {
  const all = addresses.map((text) => new URL(text, location.href));
  // At this page's own origin last: there the frame gets no origin at all.
  all.sort((a, b) => Number(isOwn(a)) - Number(isOwn(b)));
  for (const address of all) {
    const outer = await openAt(place, address, policy, looks);
    if (outer) return outer;
  }
  throw new Error(t('The frame of the view could not be loaded. Nothing of it is shown.'));
}

/** @param {URL} address */
const isOwn = (address) => address.origin === location.origin;

/**
 * @param {HTMLElement} place
 * @param {URL} address
 * @param {string} policy
 * @param {{ title: string, bordered: boolean }} looks
 * @returns {Promise<Outer | undefined>} undefined: it does not speak
 */
function openAt(place, address, policy, { title, bordered }) {
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
    /** @type {((data: unknown) => void) | undefined} */
    let listener;
    let spoken = false;
    const close = () => {
      clearTimeout(limit);
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
    /** @param {MessageEvent<unknown>} event */
    const hear = ({ source, origin: from, data }) => {
      if (source === null || source !== element.contentWindow || from !== origin) return;
      if (listener) listener(data);
      const { method } = /** @type {{ method?: unknown }} */ (data ?? {});
      if (spoken || method !== 'ui/notifications/sandbox-proxy-ready') return;
      spoken = true;
      clearTimeout(limit);
      resolve({
        element,
        send: (message) => element.contentWindow?.postMessage(message, apart ? origin : '*'),
        listen: (hears) => (listener = hears),
        close,
      });
    };
    window.addEventListener('message', hear);
    element.src = address.href;
    replace(place, element);
  });
}
