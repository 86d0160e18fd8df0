// The banner that shows the state of the connection to the hub. It is visible while there is no connection, and while
// the hub does not answer. Without a connection nothing can be clicked. While the hub does not answer, clicks are
// possible: the hub gets their messages when it goes on.

import { replace, h, show } from './elements/dom.js';
import { byId } from './page.js';
import { commandLink } from './surface.js';
import { t } from './words/t.js';
import type { Page } from './page.js';

export function bannerPainter({ surface, state, announce }: Page): () => void {
  const banner = byId('connection');
  const parts = [byId('stop-all'), ...byId('main').children] as HTMLElement[];
  let focused: Element | null = null;
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
    // Without a connection the page still shows the last known state. It can be read, but neither clicked nor focused.
    // When the connection is back, the element that had the focus gets it again.
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
