// The tools of one server. They are requested when the server is opened, and again when they have changed.

import { h, patchList, setText, show } from '../elements/dom.js';
import { roving } from '../elements/roving.js';
import { shortName, visible } from '../words/text.js';
import { toolView } from './toolview.js';
import { plural, t } from '../words/t.js';
import type { ToolJson as Tool } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Page } from '../page.js';

// A person finds so many tools without a filter.
const few = 8;
// How many tools are shown at first: the parts after the list must not be too far away.
const atFirst = 20;

export function toolList(page: Page, server: string) {
  const filter = h('input', {
    'type': 'search',
    'aria-label': t('Filter the tools of {0}', shortName(server)),
    'placeholder': t('Filter'),
    'autocomplete': 'off',
    'hidden': true,
    'oninput': () => paint(),
  });
  const note = h('p', { class: 'muted', role: 'status' });
  const list = h('ul', { 'class': 'tools', 'aria-label': t('Tools of {0}', shortName(server)) });
  const connect = h('button', {
    class: 'secondary',
    text: t('Connect and list its tools'),
    hidden: true,
    onclick: () => void listTools(false),
  });
  const more = h('button', {
    class: 'link',
    hidden: true,
    dataset: { testid: 'all-tools' },
    onclick: () => {
      all = true;
      paint();
      shownViews()[atFirst]?.focus();
    },
  });
  let all = false;
  const count = h('span', { class: 'count' });
  const heading = h('h4', { tabindex: -1 }, `${t('Tools')} `, count);
  const element = h('div', {}, heading, filter, note, connect, list, more);
  let tools: Tool[] = [];
  const views: Map<string, ReturnType<typeof toolView>> = new Map();
  let shown: Tool[] = [];
  const keyOf = (tool: Tool) => `${tool.name} ${tool.definitionHash}`;
  const shownViews = () => shown.flatMap((tool) => views.get(keyOf(tool)) ?? []);
  const keys = roving(list, () => shownViews().map((view) => view.head));
  let stale = true;
  let asked = 0;

  async function listTools(allowCached: boolean) {
    stale = false;
    const mine = ++asked;
    setText(note, tools.length === 0 ? t('Listing…') : '');
    const { error: refusal, response } = await page.call('ListTools', { server, allowCached });
    if (mine !== asked) return; // a later list was requested
    const error = refusal ?? response?.troubles?.[0]?.error;
    stale = error?.code === 'UNAVAILABLE';
    if (!refusal) tools = response?.tools ?? [];
    const cached = tools.some((tool) => tool.cached);
    setText(
      note,
      error
        ? visible(error.message)
        : cached
          ? t('As they were when the server was connected last.')
          : tools.length === 0
            ? t('None are known.')
            : '',
    );
    const had = document.activeElement === connect;
    show(connect, cached || (tools.length === 0 && page.state.servers.get(server)?.state !== 'SERVER_STATE_READY'));
    setText(count, tools.length ? String(tools.length) : '');
    paint();
    if (had && connect.hidden) (shownViews()[0] ?? heading).focus();
  }

  function paint() {
    show(filter, tools.length > few);
    const words = filter.value.trim().toLowerCase();
    const found = tools.filter((tool) =>
      `${tool.name} ${tool.title} ${tool.description}`.toLowerCase().includes(words),
    );
    shown = all || found.length <= atFirst + few ? found : found.slice(0, atFirst);
    show(more, shown.length < found.length);
    setText(more, plural(found.length, 'Show {0} tool', 'Show all {0} tools'));
    // A form that is being filled in stays as long as the definition of its tool is the same. If the definition
    // changes, what was typed goes into the new form.
    const held = list.contains(document.activeElement);
    let heir: ReturnType<typeof toolView> | undefined;
    patchList(list, shown, keyOf, (tool) => {
      const view = views.get(keyOf(tool)) ?? toolView(page, tool);
      const before = [...views].find(
        ([key, other]) => other !== view && other.name === tool.name && !tools.some((one) => keyOf(one) === key),
      )?.[1];
      views.set(keyOf(tool), view);
      if (before) view.takeOver(before.leave());
      if (before?.element.contains(document.activeElement)) heir = view;
      return view.element;
    });
    for (const tool of shown) views.get(keyOf(tool))?.update(tool);
    keys.refresh();
    if (held && document.activeElement === document.body) (heir ?? { focus: () => heading.focus() }).focus();
    const known = new Set(tools.map(keyOf));
    for (const key of views.keys()) if (!known.has(key)) views.delete(key);
  }

  return {
    element,
    load: () => void (stale && listTools(true)),
    changed: (seen: boolean) => {
      stale = true;
      if (seen) void listTools(true);
    },
    requestsChanged: () => {
      for (const view of views.values()) view.requestsChanged();
    },
  };
}
