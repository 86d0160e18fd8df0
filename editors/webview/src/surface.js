// Where the page is shown, as its host wrote it into data-surface.

import { t } from './words/t.js';
import { announce } from './elements/announce.js';
import { h } from './elements/dom.js';
import { copyButton } from './elements/icon.js';
import { nativeParse } from './words/jsontext.js';
import { visible } from './words/text.js';

/** @typedef {{ id: string, name: string, family: string }} Model */
/**
 * @typedef {object} Surface
 * @property {'vscode' | 'web'} kind
 * @property {boolean} [opensUrls] the page opens URLs itself
 * @property {string} [socket] path of the WebSocket
 * @property {string} [model] name of the model that the host runs for sampling
 * @property {Model[]} [models] the models that the host could run, the one it
 * would choose first
 * @property {string[]} [apps] URLs of the outer frame of views, of origins of its own, which are tried in turn; without
 * any there are no views
 * @property {string[]} [commands] commands that links may run
 * @property {boolean} [configWrites] the page may change config files
 * @property {string} [language] of the host (BCP 47); without it the browser says
 * @property {import('./begin/demo.js').Demo} [demo] the demo server that this host can add
 */

/** @returns {Surface} */
export function readSurface() {
  return /** @type {Surface} */ (nativeParse(document.documentElement.dataset['surface'] ?? '{"kind":"web"}'));
}

/**
 * A link that runs a command of the host; undefined where the host has no such command.
 * @param {Surface} surface
 * @param {string} command
 * @param {readonly unknown[]} args
 * @param {string} text
 */
export function commandLink(surface, command, args, text) {
  if (!surface.commands?.includes(command)) return undefined;
  return h('a', { href: `command:${command}?${encodeURIComponent(JSON.stringify(args))}`, text });
}

/**
 * A place in a config file, which the host opens at a click; without such a host, to be copied.
 * @param {Surface} surface
 * @param {string | undefined} file
 * @param {number | undefined} line
 */
export function placeLink(surface, file, line) {
  if (!file) return undefined;
  const text = line ? `${file}:${line}` : file;
  const link = commandLink(surface, 'mcphub.openConfig', [file, line ?? 1], visible(text));
  if (link) return link;
  return h(
    'span',
    { class: 'place' },
    h('span', { text: visible(text) }),
    copyButton(t('Copy {0}', visible(text)), () => text, announce),
  );
}

/**
 * The parser of markdown, which is larger than the page and is loaded when it is needed first.
 */
export const loadMarkdown = () => import('./gen/markdown.js');

/**
 * Loads the colours that an editor would have brought.
 * @returns {Promise<void>} when they apply, or could not be loaded
 */
export function loadTheme() {
  const contrast = matchMedia('(prefers-contrast: more)');
  const light = matchMedia('(prefers-color-scheme: light)');
  const follow = () => {
    document.body.classList.toggle('vscode-high-contrast', contrast.matches);
    document.body.classList.toggle('vscode-high-contrast-light', contrast.matches && light.matches);
  };
  if (contrast.matches) follow();
  for (const query of [contrast, light]) query.addEventListener('change', follow);
  const nonce = document.querySelector('script')?.nonce ?? '';
  return new Promise((done) => {
    const finished = () => done();
    document.head.append(
      h('link', {
        rel: 'stylesheet',
        href: new URL('theme.css', import.meta.url).href,
        nonce,
        onload: finished,
        onerror: finished,
      }),
    );
  });
}
