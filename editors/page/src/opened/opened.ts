// The one thing that is opened: a server, one of its tools, what came of a request, a form for an entry. On a narrow
// page it stands in the place of the lists, on a wide one beside them.

import { html, render } from 'lit-html';
import { icon } from '../elements/icon.js';
import { holdsFocus, noneFocused } from '../elements/keepfocus.js';
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
  const { dataset } = byId('main');
  let now: Opening | undefined;
  /** What had the focus before the first thing was opened: the row in a list. */
  let from: HTMLElement | undefined;

  function back() {
    if (now?.up) now.up.open();
    else close();
  }

  function open(thing: Opening, focus?: () => void) {
    const before = now;
    const active = document.activeElement;
    if (active instanceof HTMLElement && !place.contains(active) && !noneFocused()) from = active;
    now = thing;
    render(paneView(thing, alone, back), place);
    place.hidden = false;
    dataset['opened'] = '';
    if (before && before.key !== thing.key) before.closed?.();
    changed();
    const title = byId('opened-title');
    if (focus) focus();
    else title.focus({ preventScroll: true });
    title.scrollIntoView({ block: 'nearest' });
  }

  function close(key?: string) {
    if (!now || (key !== undefined && now.key !== key)) return;
    const { key: was, closed } = now;
    const held = holdsFocus(place) || noneFocused();
    now = undefined;
    place.hidden = true;
    render('', place);
    delete dataset['opened'];
    closed?.();
    changed();
    if (held) heirOf(was, from)?.focus();
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

function paneView({ title, label, acts, content, up }: Opening, alone: boolean, back: () => void) {
  const text = up ? t('Back to {0}', up.title) : t('Back');
  return html`<div class="pane-head">
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
    ${content}`;
}

/** Returns what takes the focus: the row that led here, in a list that may have drawn it anew. */
function heirOf(key: string, from: HTMLElement | undefined): HTMLElement | undefined {
  const row = document.querySelector(`#lists [data-opens="${CSS.escape(key)}"]`);
  const all = [from, from?.closest('.row')?.querySelector('.open'), row, byId('servers-title')];
  const rest = document.querySelectorAll('#lists :is(textarea, button)');
  return [...all, ...rest].find(
    (one): one is HTMLElement => one instanceof HTMLElement && one.isConnected && one.getClientRects().length > 0,
  );
}
