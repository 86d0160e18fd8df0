// How the page stands with the hub: a banner while it does not, or while the hub does not answer. Without a hub there
// is nothing to click; one that does not answer hears of what was clicked when it goes on.

import { replace, h, show } from './elements/dom.js';
import { byId } from './page.js';
import { commandLink } from './surface.js';
import { t } from './words/t.js';

/** @param {import('./page.js').Page} page @returns {() => void} */
export function bannerPainter({ surface, state, announce }) {
  const banner = byId('connection');
  const parts = /** @type {HTMLElement[]} */ ([byId('stop-all'), ...byId('main').children]);
  /** @type {Element | null} */
  let focused = null;
  let lost = false;
  let unanswered = false;

  return () => {
    const { state: how, message } = state.connection;
    const ready = how === 'ready' || how === 'unresponsive';
    const silent = how === 'unresponsive';
    show(banner, how !== 'ready');
    banner.dataset['state'] = how;
    if (how !== 'ready') {
      const text = message || (how === 'failed' ? t('McpHub does not run.') : t('McpHub is starting…'));
      replace(
        banner,
        h('span', { 'class': 'icon', 'aria-hidden': 'true', 'text': silent ? '!' : how === 'failed' ? '✕' : '…' }),
        h('span', { text }),
        how === 'failed' && commandLink(surface, 'mcphub.showLogs', [], t('Show the logs')),
        silent && commandLink(surface, 'mcphub.restartHub', [], t('Restart McpHub and end all that runs')),
      );
    }
    // What is shown is what was known last: it can be read by eye, and neither clicked nor focused. Focus comes back
    // with the hub.
    if (parts.some((part) => part.inert === ready)) {
      if (!ready) focused = document.activeElement;
      for (const part of parts) part.inert = !ready;
      if (ready && focused instanceof HTMLElement && document.activeElement === document.body) focused.focus();
    }
    if (ready && lost) announce(t('Connected to McpHub again.'));
    if (how === 'ready' && unanswered) announce(t('McpHub answers again.'));
    unanswered = silent;
    lost = !ready && state.hubId !== '';
  };
}
