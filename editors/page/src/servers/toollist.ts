// The tools of one server, as a list. They are requested when the list comes into view, and again when they have
// changed. A row opens its tool.

import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { h, setText, show } from '../elements/dom.js';
import { listRow } from '../elements/listrow.js';
import { roving } from '../elements/roving.js';
import { definitionOf } from '../browse/offerview.js';
import { keyOf } from '../opened/opened.js';
import { objectOf } from '../words/jsontext.js';
import { shortName, startOf, visible } from '../words/text.js';
import { plural, t } from '../words/t.js';
import { toolView } from './toolview.js';
import type { ToolJson as Tool } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Opening } from '../page.js';
import type { Page } from '../page.js';
import type { ToolView } from './toolview.js';

/** A person finds so many tools without a filter. */
const few = 8;
/** How many tools are shown at first. */
const atFirst = 200;

const flags: Record<string, string> = {
  APPROVAL_POLICY_ALLOW: t('Runs without asking'),
  APPROVAL_POLICY_ASK: t('Asks first'),
  APPROVAL_POLICY_DENY: t('Off'),
};
/** What a server's line says of the policy that most of its tools have. */
const usual: Record<string, string> = {
  APPROVAL_POLICY_ALLOW: t('its tools run without asking'),
  APPROVAL_POLICY_ASK: t('its tools ask first'),
  APPROVAL_POLICY_DENY: t('its tools are off'),
};

/** Returns the policy that most tools have. */
function usualPolicy(tools: readonly Tool[]): string {
  const counts: Map<string, number> = new Map();
  for (const { policy = '' } of tools) counts.set(policy, (counts.get(policy) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}

/** Reports whether the server says that the tool destroys data. Few definitions have to be parsed for that. */
const destroys = ({ definitionJson = '' }: Tool) =>
  definitionJson.includes('"destructiveHint"')
  && objectOf(definitionOf(definitionJson).get('annotations')).get('destructiveHint') === true;

const idOf = (tool: Tool) => `${tool.name} ${tool.definitionHash}`;

/** @param changed is called after the tools were listed */
export function toolList(page: Page, server: string, up: Opening['up'], changed: () => void) {
  const of = t('Tools of {0}', shortName(server));
  const filter = h('input', {
    'type': 'search',
    'aria-label': t('Filter the tools of {0}', shortName(server)),
    'autocomplete': 'off',
    'oninput': () => paint(),
  });
  const search = h('div', { class: 'search', hidden: true }, filter);
  const note = h('p', { class: 'quiet', role: 'status' });
  const list = h('ul', { 'class': 'tools', 'aria-label': of });
  const more = h('button', {
    class: 'plain',
    hidden: true,
    dataset: { testid: 'all-tools' },
    onclick: () => {
      all = true;
      paint();
      rows()[atFirst]?.focus();
    },
  });
  const element = h('div', {}, search, note, list, more);
  const rows = () => [...list.querySelectorAll<HTMLElement>('.open')];
  const keys = roving(list, rows);
  const views: Map<string, ToolView> = new Map();
  let tools: Tool[] = [];
  let flagged: Map<string, string> = new Map();
  let all = false;
  let stale = true;
  let asked = 0;
  let wanted: string | undefined; // a tool that is to be opened once it is listed
  let listing = false;
  let awaited = false; // the first row takes the focus once the tools are listed

  async function listTools() {
    stale = false;
    listing = true;
    const mine = ++asked;
    setText(note, tools.length === 0 ? t('Listing…') : '');
    const { error: refusal, response } = await page.call('ListTools', { server, allowCached: true });
    if (mine !== asked) return; // a later list was requested
    listing = false;
    const error = refusal ?? response?.troubles?.[0]?.error;
    stale = error?.code === 'UNAVAILABLE';
    if (!refusal) tools = response?.tools ?? [];
    const cached = tools.some((tool) => tool.cached) ? t('As they were when the server was connected last.') : '';
    setText(note, error ? visible(error.message) : tools.length === 0 ? t('No tools are known.') : cached);
    const policy = usualPolicy(tools);
    flagged = new Map(
      tools.map((tool) => [
        idOf(tool),
        [tool.policy === policy ? '' : flags[tool.policy ?? ''], destroys(tool) ? t('Destructive') : '']
          .filter(Boolean)
          .join(' · '),
      ]),
    );
    renew();
    paint();
    focusAwaited();
    changed();
  }

  const viewOf = (tool: Tool) => {
    const view = views.get(idOf(tool)) ?? toolView(page, tool);
    views.set(idOf(tool), view);
    view.update(tool);
    return view;
  };

  function openTool(tool: Tool) {
    const view = viewOf(tool);
    const { name = '', title = '' } = tool;
    const key = keyOf('server', server, 'tool', name);
    page.open({ key, title: shortName(title || name), content: view.element, ...(up && { up }) });
  }

  /**
   * A form that is being filled in stays as long as the definition of its tool is the same. If the definition changes,
   * what was typed goes into the new form.
   */
  function renew() {
    const known = new Map(tools.map((tool) => [idOf(tool), tool]));
    for (const [id, view] of views) {
      const tool = known.get(id);
      if (tool) {
        view.update(tool);
        continue;
      }
      views.delete(id);
      const next = tools.find(({ name }) => name === view.name);
      const isOpen = page.openKey === keyOf('server', server, 'tool', view.name);
      if (next) {
        viewOf(next).takeOver(view.leave());
        if (isOpen) openTool(next);
      } else if (isOpen) {
        page.announce(t('The server no longer has the tool {0}.', shortName(view.name)));
        up?.open();
      }
    }
    if (wanted === undefined) return;
    const tool = tools.find(({ name }) => name === wanted);
    if (tool) openTool(tool);
    wanted = undefined;
  }

  function paint() {
    show(search, tools.length > few);
    filter.placeholder = plural(tools.length, 'Filter {0} tool', 'Filter {0} tools');
    const words = filter.value.trim().toLowerCase();
    const found = tools.filter((tool) =>
      `${tool.name} ${tool.title} ${tool.description}`.toLowerCase().includes(words),
    );
    const shown = all ? found : found.slice(0, atFirst);
    show(more, shown.length < found.length);
    setText(more, plural(found.length, 'Show {0} tool', 'Show all {0} tools'));
    const held = list.contains(document.activeElement);
    render(
      html`${repeat(shown, idOf, (tool) =>
        listRow({
          testid: `tool-${tool.name}`,
          opens: keyOf('server', server, 'tool', tool.name ?? ''),
          name: shortName(tool.title || tool.name),
          what: visible(startOf(tool.description ?? '', 300).replace(/\s+/g, ' ')),
          flag: flagged.get(idOf(tool)) ?? '',
          open: () => openTool(tool),
        }),
      )}`,
      list,
    );
    keys.refresh();
    if (held && document.activeElement === document.body) rows()[0]?.focus();
  }

  /** Somebody who types elsewhere by now goes on typing. A note or a heading has the focus because nobody moved it. */
  function focusAwaited() {
    const at = document.activeElement;
    if (awaited && (at === document.body || at?.matches('[tabindex="-1"]') || at?.closest('#opened'))) {
      rows()[0]?.focus();
    }
    awaited = false;
  }

  return {
    element,
    policyWords: () => usual[usualPolicy(tools)] ?? '',
    load: () => void (stale && listTools()),
    changed: (seen: boolean) => {
      stale = true;
      if (seen) void listTools();
    },
    /** Opens a tool, as soon as it is listed. */
    open: (name: string) => {
      const tool = tools.find((one) => one.name === name);
      if (tool && !stale) openTool(tool);
      else {
        wanted = name;
        void listTools();
      }
    },
    hasOpen: () => page.openKey.startsWith(`${keyOf('server', server, 'tool')},`),
    focusFirst: () => {
      awaited = true;
      if (!stale && !listing) focusAwaited();
    },
    requestsChanged: () => {
      for (const view of views.values()) view.requestsChanged();
    },
  };
}
