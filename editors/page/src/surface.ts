// The surface: where the page is shown, and what its host can do. The host writes it into data-surface of page.html.

import { t } from './words/t.js';
import { announce } from './elements/announce.js';
import { h } from './elements/dom.js';
import { copyButton } from './elements/icon.js';
import { nativeParse } from './words/jsontext.js';
import { visible } from './words/text.js';
import type { Model, Surface } from '../embed/surface.js';

export type { Model, Surface };

export function readSurface(): Surface {
  return nativeParse(document.documentElement.dataset['surface'] ?? '{"kind":"web"}') as Surface;
}

/** Returns a link that runs a command of the host, or undefined if the host has no such command. */
export function commandLink(surface: Surface, command: string, args: readonly unknown[], text: string) {
  if (!surface.commands?.includes(command)) return undefined;
  return h('a', { href: `command:${command}?${encodeURIComponent(JSON.stringify(args))}`, text });
}

/**
 * Returns an element that shows a place in a config file, or undefined without a file. A click opens the place if the
 * host can do that. Otherwise the place can be copied.
 */
export function placeLink(surface: Surface, file: string | undefined, line: number | undefined) {
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

/** Loads the parser of markdown. It is larger than the page, so it is loaded only when it is first needed. */
export const loadMarkdown = () => import('./gen/markdown.js');

/**
 * Loads the colours that an editor would provide.
 * @returns fulfilled when the colours apply, or could not be loaded
 */
export function loadTheme(): Promise<void> {
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
