// The open views, and the buttons that open one. A view keeps its place in the document while its call runs, ends and
// leaves the lists: the browser reloads a frame that is moved.

import { cover } from '../elements/cover.js';
import { h, setText, show } from '../elements/dom.js';
import { forgetMoves, watchMoves } from '../elements/moves.js';
import { byId } from '../page.js';
import { shortName } from '../words/text.js';
import { t } from '../words/t.js';
import type { Page, Section, ViewOf, Views } from '../page.js';
import type { ToolJson as Tool } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { RequestJson } from '../../../host/src/gen/mcphub/v1/request_pb.js';
import type { Changed, State } from '../hub/state.js';
import type { AppView } from './appview.js';

export type Call = Pick<RequestJson, 'requestId' | 'server' | 'tool' | 'method'>;

const mostOpen = 4;

export function viewsSection(page: Page): Section & Views {
  const views = openViews(page);
  const { offer, paint } = viewOffers(page, views.open);
  return {
    offer,
    paint: (changed) => {
      paint(changed);
      views.paint(changed);
    },
  };
}

function openViews(page: Page) {
  const section = byId('views');
  const list = h('div', { class: 'views' });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const { fill, ends } = fullPage(page.state);
  /** The open views by request id; undefined: the view is being loaded. */
  const all: Map<string, AppView | undefined> = new Map();
  section.append(list, problem);

  function say(text: string) {
    setText(problem, text);
    show(section, all.size > 0 || text !== '');
  }

  function gone(id: string, message = problem.textContent) {
    all.get(id)?.element.remove();
    all.delete(id);
    say(message);
  }

  /** Makes the rest of the page visible again. */
  const shrink = () => all.forEach((view) => view?.shrink());

  async function load(of: ViewOf) {
    const { requestId: id, tool } = of;
    all.set(id, undefined);
    say('');
    try {
      const { AppView } = await import('./appview.js');
      const around = { gone: (message?: string) => gone(id, message), fill, moves: { watchMoves, forgetMoves } };
      const view = new AppView(page, of, around);
      shrink();
      all.set(id, view);
      list.append(view.element);
      view.focus();
      page.announce(t('The view of {0} is open.', shortName(tool)));
    } catch {
      gone(id, t('The view could not be loaded.'));
    }
  }

  say('');
  return {
    open: (of: ViewOf) => {
      say('');
      if (all.has(of.requestId)) all.get(of.requestId)?.focus();
      else if (all.size < mostOpen) void load(of);
      else say(t('At most {0} views can be open. Close one first.', mostOpen));
    },
    paint: (changed: Changed) => {
      if (ends(changed)) shrink();
      for (const view of all.values()) view?.painted(changed);
    },
  };
}

/** A view may fill the page, where it hides the questions that are open, but none that comes later. */
function fullPage(state: State) {
  /** The questions that were open when a view began to fill the page. */
  let asked: Set<string> | undefined;
  return {
    /** @param whole the view that fills the page from now on */
    fill: (whole?: HTMLElement) => {
      asked = whole && new Set(state.prompts.keys());
      cover(whole);
    },
    /** Reports whether the rest of the page must be seen again. */
    ends: (changed: Changed) => {
      const { prompts, reveal, openAdd, connection } = state;
      const asks = changed.prompts && (reveal !== undefined || [...prompts.keys()].some((id) => !asked?.has(id)));
      return asks || openAdd || connection.state !== 'ready';
    },
  };
}

const viewButton = (tool: string) =>
  h('button', {
    'class': 'link',
    'text': t('Show the view'),
    'aria-label': t('Show the view of {0}', shortName(tool)),
    'dataset': { testid: 'show-view' },
    'hidden': true,
  });

/** Offers the views of calls, as soon as their tools are known to have one. */
function viewOffers(page: Page, open: (of: ViewOf) => void) {
  /** The tools of a server that have a view, by name. */
  const known: Map<string, Promise<Map<string, Tool>>> = new Map();
  /** How often the tools of a server have changed. */
  const changes: Map<string, number> = new Map();
  /**
   * The calls whose tool is not known to have a view, by request id: the server, the state in which the call was, and
   * the function that looks again.
   */
  const waiting: Map<string, { server: string; was: unknown; look: () => Promise<void> }> = new Map();

  function drawn(server: string) {
    let tools = known.get(server);
    if (!tools) {
      const asking = page.call('ListTools', { server, allowCached: true }).then(({ response, error }) => {
        if (error && known.get(server) === asking) known.delete(server);
        return new Map((response?.tools ?? []).filter((t) => t.uiResourceUri).map((t) => [t.name ?? '', t]));
      });
      known.set(server, (tools = asking));
    }
    return tools;
  }

  return {
    /** Returns a button that appears as soon as the tool of the call is known to have a view. */
    offer: ({ requestId = '', server = '', tool = '', method = '' }: Call) => {
      const button = viewButton(tool);
      const look = async () => {
        const before = changes.get(server);
        const found = (await drawn(server)).get(tool);
        if (found) {
          const { title = '', uiResourceUri: uri = '', definitionJson = '{}' } = found;
          button.onclick = () => open({ requestId, server, tool, title, uri, definitionJson });
          show(button, true);
          return;
        }
        const now = page.state.requests.get(requestId);
        if (before !== changes.get(server)) void look();
        else if (now) waiting.set(requestId, { server, was: now.state, look });
      };
      if (page.surface.apps !== undefined && method === 'tools/call' && tool !== '') void look();
      return button;
    },
    paint: ({ tools, requests }: Changed) => {
      for (const server of tools) {
        known.delete(server);
        changes.set(server, (changes.get(server) ?? 0) + 1);
      }
      if (tools.size + requests.size === 0) return;
      for (const [id, { server, was, look }] of waiting) {
        // A progress message says nothing new about the tool.
        if (!tools.has(server) && page.state.requests.get(id)?.state === was) continue;
        waiting.delete(id);
        void look();
      }
    },
  };
}
