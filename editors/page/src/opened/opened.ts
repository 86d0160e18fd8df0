// The one thing that is opened: a server, one of its tools, what came of a request, a form for an entry. On a narrow
// page it stands in the place of the lists, on a wide one beside them.

import { html, render } from 'lit-html';
import { icon } from '../elements/icon.js';
import { byId } from '../page.js';
import { t } from '../words/t.js';
import type { Opening, Pane } from '../page.js';

/** Returns the key of a thing of a server: keyOf('server', 'files'), keyOf('server', 'files', 'tool', 'read_file'). */
export const keyOf = (...names: string[]) => JSON.stringify(names).slice(0, -1);

/** Reports whether what is open is the thing with this key, or a part of it. */
export const isWithin = (open: string, key: string) => open === key || open.startsWith(`${key},`);

/**
 * @param alone the host shows nothing else of the page: there is nothing to go back to
 * @param changed is called after something was opened or closed
 */
export function openedPane(alone: boolean, changed: () => void): Pane {
  const place = byId('opened');
  const main = byId('main');
  let now: Opening | undefined;
  /** What had the focus before the first thing was opened: the row in a list. */
  let from: HTMLElement | undefined;

  function draw() {
    if (!now) return;
    const { title, label, acts, content, up } = now;
    const text = up ? t('Back to {0}', up.title) : t('Back');
    render(
      html`<div class="pane-head">
          ${
            alone && !up
              ? ''
              : html`<button class="icon back ${up ? 'up' : ''}" aria-label=${text} title=${text} @click=${back}>
                  ${icon('back')}
                </button>`
          }
          <h2 id="opened-title" class="grow" tabindex="-1" aria-label=${label ?? title}>
            <span class="one-line">${title}</span>
          </h2>
          ${acts}
        </div>
        ${content}`,
      place,
    );
  }

  function back() {
    if (now?.up) now.up.open();
    else close();
  }

  function open(thing: Opening, focus?: () => void) {
    const before = now;
    const active = document.activeElement;
    if (active instanceof HTMLElement && !place.contains(active) && active !== document.body) from = active;
    now = thing;
    draw();
    place.hidden = false;
    main.dataset['opened'] = '';
    if (before && before.key !== thing.key) before.closed?.();
    changed();
    (focus ?? (() => byId('opened-title').focus({ preventScroll: true })))();
    byId('opened-title').scrollIntoView({ block: 'nearest' });
  }

  function close(key?: string) {
    if (!now || (key !== undefined && now.key !== key)) return;
    const { key: was, closed } = now;
    const held = place.contains(document.activeElement) || document.activeElement === document.body;
    now = undefined;
    place.hidden = true;
    render('', place);
    delete main.dataset['opened'];
    closed?.();
    changed();
    if (held) heir(was)?.focus();
  }

  /** Returns what takes the focus: the row that led here, in a list that may have drawn it anew. */
  function heir(key: string): HTMLElement | undefined {
    const row = document.querySelector(`#lists [data-opens="${CSS.escape(key)}"]`);
    const all = [from, from?.closest('.row')?.querySelector('.open'), row, byId('servers-title')];
    const rest = document.querySelectorAll('#lists :is(textarea, button)');
    return [...all, ...rest].find(
      (one): one is HTMLElement => one instanceof HTMLElement && one.isConnected && one.getClientRects().length > 0,
    );
  }

  place.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
    if (target instanceof HTMLInputElement && target.type === 'search' && target.value !== '') return; // it is cleared
    if (alone && !now?.up) return;
    event.preventDefault();
    back();
  });

  return {
    get key() {
      return now?.key ?? '';
    },
    open,
    close,
  };
}
