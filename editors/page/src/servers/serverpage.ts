// One server, opened: its state in a line, what it offers in tabs, and all facts behind one disclosure.

import { h, replace, setText, show } from '../elements/dom.js';
import { tabs } from '../elements/tabs.js';
import { browseLists } from '../browse/browse.js';
import { hubNow } from '../hub/state.js';
import { keyOf } from '../opened/opened.js';
import { byId } from '../page.js';
import { serverStateWords } from '../words/serverstate.js';
import { shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import { serverLog } from './serverlog.js';
import { problemLines, serverFacts } from './serverfacts.js';
import { serverActs } from './serveracts.js';
import { toolList } from './toollist.js';
import type { Changed } from '../hub/state.js';
import type { Opening } from '../page.js';
import type { Page, Thing } from '../page.js';

export interface ServerPage {
  /** opens the server, or what of it is named */
  open: (thing: Thing) => void;
  /** moves the focus to the first tool, once there is one */
  focusTools: () => void;
  paint: (changed: Changed, name: string) => void;
  tick: () => void;
}

export function serverPage(page: Page, name: string): ServerPage {
  const { state, surface } = page;
  const shown = shortName(name);
  const key = keyOf('server', name);
  const acts = serverActs(page, name, () => byId('opened-title'));
  const line = h('p', { class: 'quiet' });
  const trouble = h('p', { class: 'problem', hidden: true });
  const problems = h('div', {});
  const facts = h('div', {});
  const details = h('details', { dataset: { testid: 'server-details' } }, h('summary', { text: t('Details') }), facts);
  const up = { title: shown, open: () => openServer() };
  const tools = toolList(page, name, up, () => update());
  const offers = browseLists(page, name, up);
  const log = serverLog(name);
  const view = tabs(t('What {0} offers', shown), [
    { id: 'tools', label: t('Tools'), panel: tools.element, shown: tools.load },
    { id: 'resources', label: t('Resources'), panel: offers.resources, shown: offers.loadResources },
    { id: 'prompts', label: t('Prompts'), panel: offers.prompts, shown: offers.loadPrompts },
    { id: 'log', label: t('Log'), panel: log.element, shown: () => log.paint(state.logs.get(name)) },
  ]);
  const content = h(
    'div',
    { dataset: { testid: 'server' } },
    line,
    acts.said,
    trouble,
    problems,
    details,
    view.element,
  );
  const opening: Opening = { key, title: shown, acts: [acts.element], content };
  const isOpen = () => page.openKey === key;
  let known = '';

  function openServer() {
    const server = state.servers.get(name);
    // What a person sees first are the tools. Why a server does not run, or what waits for consent, is in the details.
    details.open = server?.state !== 'SERVER_STATE_READY' || (server.waitingForConsent?.length ?? 0) > 0;
    page.open(opening);
    acts.update();
    update();
    view.refresh();
  }

  function update() {
    const server = state.servers.get(name);
    if (!server) return;
    tick();
    const error = server.state === 'SERVER_STATE_READY' ? '' : visible(server.lastError);
    show(trouble, error !== '');
    setText(trouble, error);
    replace(problems, ...problemLines(surface, server.problems ?? []));
    replace(facts, serverFacts(surface, server));
    const [resources, prompts] = offers.declared();
    view.offer('resources', resources);
    view.offer('prompts', prompts);
  }

  function tick() {
    const server = state.servers.get(name);
    if (server)
      setText(line, [serverStateWords(server, hubNow(state)), tools.policyWords()].filter(Boolean).join(' · '));
  }

  view.choose('tools');
  return {
    open: (thing) => {
      if (thing.tool !== undefined) tools.open(thing.tool);
      else if (thing.resource !== undefined) offers.openResource(thing.resource);
      else if (thing.resourceTemplate !== undefined) offers.openTemplate(thing.resourceTemplate);
      else if (thing.mcpPrompt !== undefined) offers.openPrompt(thing.mcpPrompt);
      else openServer();
    },
    focusTools: () => {
      if (isOpen()) tools.focusFirst();
    },
    paint: (changed) => {
      if (changed.servers.has(name) || changed.serverList || changed.connection) {
        acts.update();
        const how = state.servers.get(name)?.state ?? '';
        if (isOpen()) {
          update();
          // A server that was started shows what it offers now.
          if (how !== known && how === 'SERVER_STATE_READY') view.refresh();
        }
        known = how;
      }
      if (changed.logs.has(name) && isOpen() && view.isChosen('log')) log.paint(state.logs.get(name));
      if (changed.tools.has(name)) tools.changed(isOpen() || tools.hasOpen());
      if (changed.offers.has(name)) offers.changed(isOpen());
      if (changed.subscribed) offers.subscribed();
      if (changed.history || changed.requestList || changed.requests.size > 0 || changed.prompts) {
        tools.requestsChanged();
        offers.requestsChanged();
      }
    },
    tick: () => {
      if (isOpen()) tick();
    },
  };
}
