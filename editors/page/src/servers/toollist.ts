// The tools of one server, as a list. They are requested when the list comes into view, and again when they have
// changed. A row opens its tool.

import { html, render } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { h, setText, show } from '../elements/dom.js';
import { listRow } from '../elements/listrow.js';
import { roving } from '../elements/roving.js';
import { holdsFocus, noneFocused } from '../elements/keepfocus.js';
import { definitionOf } from '../browse/offerview.js';
import { keyOf } from '../opened/opened.js';
import { objectOf } from '../words/jsontext.js';
import { dotted, shortName, startOf, visible } from '../words/text.js';
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

/** Returns what the rows of tools say at their right: what is not as with most tools. */
function flagsOf(tools: readonly Tool[]): Map<string, string> {
  const policy = usualPolicy(tools);
  const words = (tool: Tool) =>
    dotted(tool.policy === policy ? '' : flags[tool.policy ?? ''], destroys(tool) && t('Destructive'));
  return new Map(tools.map((tool) => [idOf(tool), words(tool)]));
}

/** @param changed is called after the tools were listed */
export function toolList(page: Page, server: string, up: Opening['up'], changed: () => void) {
  const views = toolViews(page, server, up);
  const note = h('p', { class: 'quiet', role: 'status' });
  const rows = toolRows(server, note, views.open);
  let tools: Tool[] = [];
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
    setText(note, error ? visible(error.message) : noteOf(tools));
    views.renew(tools, wanted);
    wanted = undefined;
    rows.list(tools);
    focusAwaited();
    changed();
  }

  function focusAwaited() {
    if (awaited) awaited = !rows.takeFocus();
  }

  return {
    element: rows.element,
    policyWords: () => usual[usualPolicy(tools)] ?? '',
    load: () => void (stale && listTools()),
    changed: (seen: boolean) => {
      stale = true;
      if (seen) void listTools();
    },
    /** Opens a tool, as soon as it is listed. */
    open: (name: string) => {
      const tool = tools.find((one) => one.name === name);
      if (tool && !stale) views.open(tool);
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
    requestsChanged: views.requestsChanged,
  };
}

const noteOf = (tools: readonly Tool[]) =>
  tools.length === 0
    ? t('No tools are known.')
    : tools.some((tool) => tool.cached)
      ? t('As they were when the server was connected last.')
      : '';

/**
 * Gives the first row the focus, unless somebody types elsewhere by now: a note or a heading has the focus because
 * nobody moved it. It returns false if there is no row yet: the reply to a start may come before the list of its tools.
 */
function takeFocus(first: HTMLElement | undefined): boolean {
  const free = noneFocused() || document.activeElement?.matches('[tabindex="-1"]');
  if (free) first?.focus();
  return first !== undefined;
}

/** Returns the opened tools of a server, each with what was typed for it. */
function toolViews(page: Page, server: string, up: Opening['up']) {
  const views: Map<string, ToolView> = new Map();
  const keyOfTool = (name: string) => keyOf('server', server, 'tool', name);

  const viewOf = (tool: Tool) => {
    const view = views.get(idOf(tool)) ?? toolView(page, tool);
    views.set(idOf(tool), view);
    view.update(tool);
    return view;
  };

  function open(tool: Tool) {
    const { name = '', title = '' } = tool;
    const content = viewOf(tool).element;
    page.open({ key: keyOfTool(name), title: shortName(title || name), content, ...(up && { up }) });
  }

  /**
   * A form that is being filled in stays as long as the definition of its tool is the same. If the definition changes,
   * what was typed goes into the new form.
   * @param wanted is opened
   */
  function renew(tools: readonly Tool[], wanted: string | undefined) {
    const known = new Map(tools.map((tool) => [idOf(tool), tool]));
    for (const [id, view] of views) {
      const tool = known.get(id);
      if (tool) {
        view.update(tool);
        continue;
      }
      views.delete(id);
      const next = tools.find(({ name }) => name === view.name);
      const isOpen = page.openKey === keyOfTool(view.name);
      if (next) {
        viewOf(next).takeOver(view.leave());
        if (isOpen) open(next);
      } else if (isOpen) {
        page.announce(t('The server no longer has the tool {0}.', shortName(view.name)));
        up?.open();
      }
    }
    const tool = wanted === undefined ? undefined : tools.find(({ name }) => name === wanted);
    if (tool) open(tool);
  }

  return { open, renew, requestsChanged: () => views.forEach((view) => view.requestsChanged()) };
}

/**
 * Returns the rows of the tools, with a filter above many of them.
 * @param note stands above the rows
 */
function toolRows(server: string, note: HTMLElement, openTool: (tool: Tool) => void) {
  const filter = h('input', {
    'type': 'search',
    'aria-label': t('Filter the tools of {0}', shortName(server)),
    'autocomplete': 'off',
    'oninput': () => paint(),
  });
  const search = h('div', { class: 'search', hidden: true }, filter);
  const list = h('ul', { 'class': 'tools', 'aria-label': t('Tools of {0}', shortName(server)) });
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
  const rows = () => [...list.querySelectorAll<HTMLElement>('.open')];
  const keys = roving(list, rows);
  let tools: readonly Tool[] = [];
  let flagged: Map<string, string> = new Map();
  let all = false;

  const row = (tool: Tool) =>
    listRow({
      testid: `tool-${tool.name}`,
      opens: keyOf('server', server, 'tool', tool.name ?? ''),
      name: shortName(tool.title || tool.name),
      what: visible(startOf(tool.description ?? '', 300).replace(/\s+/g, ' ')),
      flag: flagged.get(idOf(tool)) ?? '',
      open: () => openTool(tool),
    });

  function paint() {
    show(search, tools.length > few);
    filter.placeholder = plural(tools.length, 'Filter {0} tool', 'Filter {0} tools');
    const found = tools.filter(matches(filter.value));
    const shown = all ? found : found.slice(0, atFirst);
    show(more, shown.length < found.length);
    setText(more, plural(found.length, 'Show {0} tool', 'Show all {0} tools'));
    const held = holdsFocus(list);
    render(html`${repeat(shown, idOf, row)}`, list);
    keys.refresh();
    if (held && noneFocused()) rows()[0]?.focus();
  }

  return {
    element: h('div', {}, search, note, list, more),
    takeFocus: () => takeFocus(rows()[0]),
    list: (now: readonly Tool[]) => {
      tools = now;
      flagged = flagsOf(now);
      paint();
    },
  };
}

function matches(filter: string) {
  const words = filter.trim().toLowerCase();
  return ({ name, title, description }: Tool) => `${name} ${title} ${description}`.toLowerCase().includes(words);
}
