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
import type { openView } from './appview.js';

export type Call = Pick<RequestJson, 'requestId' | 'server' | 'tool' | 'method'>;

const mostOpen = 4;

export function viewsSection(page: Page): Section & Views {
  const { state, surface, announce } = page;
  const section = byId('views');
  const list = h('div', { class: 'views' });
  const problem = h('p', { class: 'problem', role: 'alert' });
  section.append(list, problem);
  type View = ReturnType<typeof openView>;

  /** The open views by request id; undefined: the view is being loaded. */
  const open: Map<string, View | undefined> = new Map();
  /** The tools of a server that have a view, by name. */
  const known: Map<string, Promise<Map<string, Tool>>> = new Map();
  /** How often the tools of a server have changed. */
  const changes: Map<string, number> = new Map();
  /**
   * The calls whose tool is not known to have a view, by request id: the server, the state in which the call was, and
   * the function that looks again.
   */
  const waiting: Map<string, { server: string; was: unknown; look: () => Promise<void> }> = new Map();
  /** The questions that were open when a view began to fill the page. */
  let asked: Set<string> | undefined;

  /** @param whole the view that fills the page from now on */
  function fill(whole?: HTMLElement) {
    asked = whole && new Set(state.prompts.keys());
    cover(whole);
  }

  /** Makes the rest of the page visible again. */
  function uncover() {
    if (asked) for (const view of open.values()) view?.shrink();
  }

  function count() {
    show(section, open.size > 0 || problem.textContent !== '');
  }

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

  async function openOne(of: ViewOf) {
    setText(problem, '');
    if (open.has(of.requestId)) {
      open.get(of.requestId)?.focus();
      return;
    }
    if (open.size >= mostOpen) {
      say(t('At most {0} views are open at once: close one first.', mostOpen));
      return;
    }
    open.set(of.requestId, undefined);
    count();
    try {
      const { openView } = await import('./appview.js');
      const view = openView(page, of, {
        gone: (message) => {
          view.element.remove();
          open.delete(of.requestId);
          if (message !== undefined) say(message);
          count();
        },
        fill,
        moves: { watchMoves, forgetMoves },
      });
      uncover();
      open.set(of.requestId, view);
      list.append(view.element);
      view.focus();
      announce(t('The view of {0} is open.', shortName(of.tool)));
    } catch {
      open.delete(of.requestId);
      say(t('What shows views could not be loaded.'));
    }
  }

  function say(text: string) {
    setText(problem, text);
    count();
  }

  count();
  return {
    /** Returns a button that appears as soon as the tool of the call is known to have a view. */
    offer: ({ requestId = '', server = '', tool = '', method = '' }: Call) => {
      const button = h('button', {
        'class': 'link',
        'text': t('Show the view'),
        'aria-label': t('Show the view of {0}', shortName(tool)),
        'dataset': { testid: 'show-view' },
        'hidden': true,
      });
      if (surface.apps === undefined || method !== 'tools/call' || tool === '') return button;
      const look = async () => {
        const before = changes.get(server);
        const found = (await drawn(server)).get(tool);
        if (!found) {
          const now = state.requests.get(requestId);
          if (before !== changes.get(server)) void look();
          else if (now) waiting.set(requestId, { server, was: now.state, look });
          return;
        }
        const of = {
          requestId,
          server,
          tool,
          title: found.title ?? '',
          uri: found.uiResourceUri ?? '',
          definitionJson: found.definitionJson ?? '{}',
        };
        button.addEventListener('click', () => void openOne(of));
        show(button, true);
      };
      void look();
      return button;
    },
    paint: (changed) => {
      for (const server of changed.tools) {
        known.delete(server);
        changes.set(server, (changes.get(server) ?? 0) + 1);
      }
      if (changed.tools.size + changed.requests.size > 0)
        for (const [id, { server, was, look }] of waiting) {
          // A progress message says nothing new about the tool.
          if (!changed.tools.has(server) && state.requests.get(id)?.state === was) continue;
          waiting.delete(id);
          void look();
        }
      const { prompts, reveal, openAdd, connection } = state;
      const asks = changed.prompts && (reveal !== undefined || [...prompts.keys()].some((id) => !asked?.has(id)));
      if (asks || openAdd || connection.state !== 'ready') uncover();
      for (const view of open.values()) view?.painted(changed);
    },
  };
}
