// The section of the configured servers, in config order, with the problems of the config as a whole.

import { adding } from '../adding/adding.js';
import { demoGuide } from '../begin/demoguide.js';
import { firstStart } from '../begin/firststart.js';
import { h, patchList, setText, show } from '../elements/dom.js';
import { byId, setCount } from '../page.js';
import { problemLines } from './serverfacts.js';
import { roving } from '../elements/roving.js';
import { serverView } from './serverview.js';
import { plural, t } from '../words/t.js';
import type { Page, Section } from '../page.js';
import type { ServerView } from './serverview.js';

export function serversSection(page: Page): Section {
  const { state } = page;
  const title = byId('servers-title');
  const problems = h('div', {});
  const dropped = h('p', { class: 'muted', hidden: true, dataset: { testid: 'dropped' } });
  const list = h('ol', {
    'class': 'servers',
    'aria-labelledby': 'servers-title',
    'dataset': { testid: 'servers-list' },
  });
  const guide = demoGuide(page);
  const add = (testid: string) =>
    h('button', {
      class: 'secondary',
      text: t('Add a server…'),
      dataset: { testid },
      onclick: () => page.adding?.openAddForm(),
    });
  const toolbar = h('div', { class: 'actions', hidden: !page.surface.configWrites }, add('add-server'));
  const begin = firstStart(page, toolbar);
  const forms = h('div', {});
  byId('servers').append(toolbar, forms, problems, dropped, begin.element, guide.element, list);
  const views: Map<string, ServerView> = new Map();
  const keys = roving(list, () => [...views.values()].map((view) => view.head));
  let writes: ReturnType<typeof adding> | undefined;
  let toOpen = ''; // a server that was added, but has no view yet
  const open = (name: string) => {
    const view = views.get(name);
    toOpen = view ? '' : name;
    view?.open();
  };
  if (page.surface.configWrites) {
    writes = page.adding = adding(page, forms, { shown: open, back: () => title });
  }
  const waits = () => [...state.servers.values()].some((s) => s.nextStartTime !== undefined);

  return {
    paint: (changed) => {
      if (changed.problems) problems.replaceChildren(...problemLines(page.surface, state.problems));
      if (changed.dropped) {
        const { logMessages, notices } = state.dropped;
        const parts = [
          logMessages ? plural(logMessages, '{0} log message', '{0} log messages') : '',
          notices ? plural(notices, '{0} notice of a change', '{0} notices of changes') : '',
        ];
        show(dropped, logMessages + notices > 0);
        setText(dropped, t('Left out, since there were too many: {0}.', parts.filter(Boolean).join(', ')));
      }
      if (changed.serverList) {
        const held = list.contains(document.activeElement);
        for (const name of views.keys()) if (!state.servers.has(name)) views.delete(name);
        patchList(
          list,
          state.servers.keys(),
          (name) => name,
          (name) => {
            const view = serverView(page, name);
            views.set(name, view);
            return view.element;
          },
        );
        if (held && document.activeElement === document.body) title.focus();
        keys.refresh();
        if (toOpen) open(toOpen);
        setCount('servers', state.servers.size);
      }
      if (changed.serverList || changed.connection) {
        begin.update();
        guide.update();
      }
      if (changed.serverList || changed.history) guide.ended();
      if (changed.prompts) writes?.promptsChanged();
      if (state.openAdd) {
        const { server, entryText, bundle } = state.openAdd;
        state.openAdd = undefined;
        page.adding?.openAddForm(
          bundle
            ? { way: 'bundle' }
            : entryText || server
              ? { ...(server && { name: server }), ...(entryText && { text: entryText }) }
              : undefined,
        );
      }
      for (const name of changed.servers) views.get(name)?.update();
      for (const name of changed.logs) views.get(name)?.updateLogs();
      for (const name of changed.tools) views.get(name)?.toolsChanged();
      for (const name of changed.offers) views.get(name)?.offersChanged();
      if (changed.subscribed) for (const view of views.values()) view.subscribed();
      if (changed.history || changed.requestList) for (const view of views.values()) view.requestsChanged();
    },
    ticks: waits,
    tick: () => {
      for (const view of views.values()) view.tick();
    },
  };
}
