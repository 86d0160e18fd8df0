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
import { holdsFocus, noneFocused } from '../elements/keepfocus.js';
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
import type { State } from '../hub/state.js';
import type { Page, Section, Thing } from '../page.js';
import type { ServerActs } from './serveracts.js';
import type { ServerPage } from './serverpage.js';

export function serversSection(page: Page): Section & { open: (thing: Thing) => void } {
  const { state, surface } = page;
  const title = byId('servers-title');
  const problems = h('div', { class: 'stack' });
  const dropped = h('p', { class: 'quiet', hidden: true, dataset: { testid: 'dropped' } });
  const { pages, open, openWanted } = serverPages(page);
  const { list, acts, draw, refresh } = serverRows(page, open);
  const guide = demoGuide(page);
  const add = iconButton('add', t('Add server'), {
    hidden: !surface.configWrites,
    dataset: { testid: 'add-server' },
    onclick: () => page.adding?.openAddForm(),
  });
  title.after(add);
  const begin = firstStart(page);
  byId('servers').append(problems, dropped, list);
  if (surface.shows === 'now') byId('now').append(begin.element, guide.element);
  else list.before(begin.element, guide.element);
  let listed = false; // a snapshot has said which servers there are
  /** Returns what takes the focus when what had it is gone. */
  const back = () => (begin.element.hidden ? title : begin.box);
  const ready = (server: string) => pages.get(server)?.focusTools();
  const writes = surface.configWrites
    ? addingLater(page, { shown: (server) => open({ server }), ready, back })
    : undefined;
  if (writes) page.adding = writes;

  return {
    open,
    paint: (changed) => {
      if (changed.problems) problems.replaceChildren(...problemLines(surface, state.problems));
      if (changed.dropped) paintDropped(dropped, state.dropped);
      const held = changed.serverList && holdsFocus(list);
      if (changed.serverList) for (const known of [acts, pages]) forget(page, known);
      const some = changed.serverList || changed.servers.size > 0;
      if (some || changed.opened) draw();
      for (const name of changed.servers) acts.get(name)?.update();
      if (changed.serverList) openWanted();
      if (some) refresh();
      listed ||= changed.serverList;
      if (listed && (changed.serverList || changed.connection)) {
        begin.update();
        guide.update();
      }
      // With the last server the heading goes, too.
      if (held && noneFocused()) back().focus();
      if (changed.serverList || changed.history) guide.ended();
      if (changed.prompts) writes?.promptsChanged();
      openWantedForm(page);
      for (const [name, known] of pages) known.paint(changed, name);
    },
    ticks: () => [...state.servers.values()].some((s) => s.nextStartTime !== undefined),
    tick: () => {
      draw();
      for (const known of pages.values()) known.tick();
    },
  };
}

/** Returns the pages of servers, each made when its server is first opened. */
function serverPages(page: Page) {
  const pages: Map<string, ServerPage> = new Map();
  let wanted: Thing | undefined; // is to be opened as soon as its server is known
  function open(thing: Thing) {
    const { server } = thing;
    wanted = page.state.servers.has(server) ? undefined : thing;
    if (wanted) return;
    const known = pages.get(server) ?? serverPage(page, server);
    pages.set(server, known);
    known.open(thing);
  }
  return { pages, open, openWanted: () => wanted && open(wanted) };
}

/** Returns the list of the servers, with what can be done with each. */
function serverRows(page: Page, open: (thing: Thing) => void) {
  const { state } = page;
  const list = h('ul', { 'aria-labelledby': 'servers-title', 'dataset': { testid: 'servers-list' } });
  const acts: Map<string, ServerActs> = new Map();
  const keys = roving(
    list,
    () => [...list.querySelectorAll<HTMLElement>('.open')],
    (row) => [...(row.parentElement?.querySelectorAll<HTMLElement>('.acts button') ?? [])],
  );
  function actsOf(name: string) {
    let known = acts.get(name);
    if (!known) {
      known = serverActs(page, name, () =>
        list.querySelector<HTMLElement>(`[data-opens="${CSS.escape(keyOf('server', name))}"]`),
      );
      acts.set(name, known);
      known.update();
    }
    return known;
  }
  function row(name: string, server: Server) {
    const { element, said } = actsOf(name);
    const key = keyOf('server', name);
    const failed = hasFailed(server);
    const worst = server.problems?.find((p) => p.fatal);
    const error = failed ? server.lastError || [worst?.key, worst?.message].filter(Boolean).join(': ') : '';
    return listRow({
      testid: `server-${name}`,
      opens: key,
      mark: glyph(failed ? 'error' : 'server', server.state === 'SERVER_STATE_DISABLED' ? 'quiet' : ''),
      name: shortName(name),
      what: unusualState(server, hubNow(state)),
      title: visible(error).slice(0, 1000),
      open: () => open({ server: name }),
      acts: element,
      below: said,
      selected: isWithin(page.openKey, key),
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
  return { list, acts, draw, refresh: keys.refresh };
}

/** Forgets servers that are gone, and closes what is open of them. */
function forget(page: Page, known: Map<string, unknown>) {
  for (const name of known.keys()) {
    if (page.state.servers.has(name)) continue;
    known.delete(name);
    if (isWithin(page.openKey, keyOf('server', name))) page.close();
  }
}

/** Opens the form for a new server that the host has asked for. */
function openWantedForm({ state, adding }: Page) {
  if (!state.openAdd) return;
  const { server, entryText, bundle } = state.openAdd;
  state.openAdd = undefined;
  const given = { ...(server && { name: server }), ...(entryText && { text: entryText }) };
  adding?.openAddForm(bundle ? { way: 'bundle' } : entryText || server ? given : undefined);
}

function paintDropped(line: HTMLElement, { logMessages, notices }: State['dropped']) {
  const parts = [
    logMessages ? plural(logMessages, '{0} log message', '{0} log messages') : '',
    notices ? plural(notices, '{0} notice of a change', '{0} notices of changes') : '',
  ];
  show(line, logMessages + notices > 0);
  setText(line, t('Left out, since there were too many: {0}.', parts.filter(Boolean).join(', ')));
}
