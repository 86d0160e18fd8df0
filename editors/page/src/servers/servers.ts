// The section of the configured servers, in config order, with the problems of the config as a whole. A row opens its
// server.

import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { addingLater } from '../adding/later.js';
import { demoGuide } from '../begin/demoguide.js';
import { firstStart } from '../begin/firststart.js';
import { h, setText, show } from '../elements/dom.js';
import { glyph, iconButton } from '../elements/icon.js';
import { listRow } from '../elements/listrow.js';
import { roving } from '../elements/roving.js';
import { hubNow } from '../hub/state.js';
import { isWithin, keyOf } from '../opened/opened.js';
import { byId } from '../page.js';
import { hasFailed, unusualState } from '../words/serverstate.js';
import { shortName, visible } from '../words/text.js';
import { plural, t } from '../words/t.js';
import { problemLines } from './serverfacts.js';
import { serverActs } from './serveracts.js';
import { serverPage } from './serverpage.js';
import type { ServerJson as Server } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page, Section, Thing } from '../page.js';
import type { ServerActs } from './serveracts.js';
import type { ServerPage } from './serverpage.js';

export function serversSection(page: Page): Section & { open: (thing: Thing) => void } {
  const { state } = page;
  const title = byId('servers-title');
  const problems = h('div', { class: 'stack' });
  const dropped = h('p', { class: 'quiet', hidden: true, dataset: { testid: 'dropped' } });
  const list = h('ul', { 'aria-labelledby': 'servers-title', 'dataset': { testid: 'servers-list' } });
  const guide = demoGuide(page);
  const add = iconButton('add', t('Add server'), {
    hidden: !page.surface.configWrites,
    dataset: { testid: 'add-server' },
    onclick: () => page.adding?.openAddForm(),
  });
  title.after(add);
  const begin = firstStart(page);
  byId('servers').append(problems, dropped, list);
  if (page.surface.shows === 'now') byId('now').append(begin.element, guide.element);
  else list.before(begin.element, guide.element);
  const acts: Map<string, ServerActs> = new Map();
  /** A page is made when its server is first opened. */
  const pages: Map<string, ServerPage> = new Map();
  let listed = false; // a snapshot has said which servers there are
  let wanted: Thing | undefined; // is to be opened as soon as its server is known
  const rowOf = (name: string): HTMLElement | null =>
    list.querySelector(`[data-opens="${CSS.escape(keyOf('server', name))}"]`);
  const keys = roving(
    list,
    () => [...list.querySelectorAll<HTMLElement>('.open')],
    (row) => [...(row.parentElement?.querySelectorAll<HTMLElement>('.acts button') ?? [])],
  );

  function pageOf(name: string) {
    const known = pages.get(name) ?? serverPage(page, name);
    pages.set(name, known);
    return known;
  }
  function open(thing: Thing) {
    wanted = state.servers.has(thing.server) ? undefined : thing;
    if (!wanted) pageOf(thing.server).open(thing);
  }
  /** Returns what takes the focus when what had it is gone. */
  const back = () => (begin.element.hidden ? title : begin.box);
  const writes = page.surface.configWrites
    ? addingLater(page, {
        shown: (server) => open({ server }),
        ready: (server) => pages.get(server)?.focusTools(),
        back,
      })
    : undefined;
  if (writes) page.adding = writes;

  function row(name: string, server: Server) {
    let known = acts.get(name);
    if (!known) {
      known = serverActs(page, name, () => rowOf(name));
      acts.set(name, known);
      known.update();
    }
    const worst = server.problems?.find((p) => p.fatal);
    const error = hasFailed(server) ? server.lastError || [worst?.key, worst?.message].filter(Boolean).join(': ') : '';
    const off = server.state === 'SERVER_STATE_DISABLED';
    return listRow({
      testid: `server-${name}`,
      opens: keyOf('server', name),
      mark: glyph(hasFailed(server) ? 'error' : 'server', off ? 'quiet' : ''),
      name: shortName(name),
      what: unusualState(server, hubNow(state)),
      title: visible(error).slice(0, 1000),
      open: () => open({ server: name }),
      acts: known.element,
      below: known.said,
      selected: isWithin(page.openKey, keyOf('server', name)),
    });
  }
  const draw = () =>
    render(
      html`${repeat(
        state.servers,
        ([name]) => name,
        ([name, server]) => row(name, server),
      )}`,
      list,
    );

  function paintDropped() {
    const { logMessages, notices } = state.dropped;
    const parts = [
      logMessages ? plural(logMessages, '{0} log message', '{0} log messages') : '',
      notices ? plural(notices, '{0} notice of a change', '{0} notices of changes') : '',
    ];
    show(dropped, logMessages + notices > 0);
    setText(dropped, t('Left out, since there were too many: {0}.', parts.filter(Boolean).join(', ')));
  }

  /** Closes what is open of a server that is gone. */
  function forget() {
    const held = list.contains(document.activeElement);
    for (const known of [acts, pages])
      for (const name of known.keys()) {
        if (state.servers.has(name)) continue;
        known.delete(name);
        if (isWithin(page.openKey, keyOf('server', name))) page.close();
      }
    return held;
  }

  return {
    open,
    paint: (changed) => {
      if (changed.problems) problems.replaceChildren(...problemLines(page.surface, state.problems));
      if (changed.dropped) paintDropped();
      const held = changed.serverList && forget();
      if (changed.serverList || changed.opened || changed.servers.size > 0) draw();
      for (const name of changed.servers) acts.get(name)?.update();
      if (changed.serverList && wanted) open(wanted);
      if (changed.serverList || changed.servers.size > 0) keys.refresh();
      listed ||= changed.serverList;
      if (listed && (changed.serverList || changed.connection)) {
        begin.update();
        guide.update();
      }
      // With the last server the heading goes, too.
      if (held && document.activeElement === document.body) back().focus();
      if (changed.serverList || changed.history) guide.ended();
      if (changed.prompts) writes?.promptsChanged();
      if (state.openAdd) {
        const { server, entryText, bundle } = state.openAdd;
        state.openAdd = undefined;
        const given = { ...(server && { name: server }), ...(entryText && { text: entryText }) };
        page.adding?.openAddForm(bundle ? { way: 'bundle' } : entryText || server ? given : undefined);
      }
      for (const [name, known] of pages) known.paint(changed, name);
    },
    ticks: () => [...state.servers.values()].some((s) => s.nextStartTime !== undefined),
    tick: () => {
      draw();
      for (const known of pages.values()) known.tick();
    },
  };
}
