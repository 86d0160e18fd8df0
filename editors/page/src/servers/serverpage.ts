// One server, opened: its state in a line, what it offers in tabs, and all facts behind one disclosure.

import { h, replace, setText, show } from '../elements/dom.js';
import { tabs } from '../elements/tabs.js';
import { browseLists } from '../browse/browse.js';
import { hubNow } from '../hub/state.js';
import { keyOf } from '../opened/opened.js';
import { byId } from '../page.js';
import { serverStateWords } from '../words/serverstate.js';
import { dotted, shortName, visible } from '../words/text.js';
import { t } from '../words/t.js';
import { serverLog } from './serverlog.js';
import { problemLines, serverFacts } from './serverfacts.js';
import { serverActs } from './serveracts.js';
import { toolList } from './toollist.js';
import type { ServerJson as Server } from '../../../host/src/gen/mcphub/v1/server_pb.js';
import type { Changed } from '../hub/state.js';
import type { Opening } from '../page.js';
import type { Page, Thing } from '../page.js';
import type { Surface } from '../surface.js';

export interface ServerPage {
  /** opens the server, or what of it is named */
  open: (thing: Thing) => void;
  /** moves the focus to the first tool, once there is one */
  focusTools: () => void;
  paint: (changed: Changed, name: string) => void;
  tick: () => void;
}

export function serverPage(page: Page, name: string): ServerPage {
  const { state } = page;
  const title = shortName(name);
  const key = keyOf('server', name);
  const acts = serverActs(page, name, () => byId('opened-title'));
  const line = h('p', { class: 'quiet' });
  const about = aboutServer(page.surface);
  const offered = serverOffers(page, name, { title, open: openServer }, update);
  const parts = [line, acts.said, ...about.elements, offered.element];
  const content = h('div', { dataset: { testid: 'server' } }, ...parts);
  const isOpen = () => page.openKey === key;
  let known = '';

  function openServer() {
    const server = state.servers.get(name);
    about.unfold(server);
    page.open({ key, title, acts: [acts.element], content });
    acts.update();
    update();
    offered.refresh();
  }

  function update() {
    const server = state.servers.get(name);
    if (!server) return;
    tick();
    about.update(server);
    offered.update();
  }

  function tick() {
    const server = state.servers.get(name);
    if (server) setText(line, dotted(serverStateWords(server, hubNow(state)), offered.policyWords()));
  }

  function paintServer() {
    acts.update();
    const how = state.servers.get(name)?.state ?? '';
    if (isOpen()) update();
    // A server that was started shows what it offers now.
    if (isOpen() && how !== known && how === 'SERVER_STATE_READY') offered.refresh();
    known = how;
  }

  return {
    open: (thing) => {
      if (!offered.open(thing)) openServer();
    },
    focusTools: () => {
      if (isOpen()) offered.focusTools();
    },
    paint: (changed) => {
      if (changed.servers.has(name) || changed.serverList || changed.connection) paintServer();
      offered.paint(changed, isOpen());
    },
    tick: () => {
      if (isOpen()) tick();
    },
  };
}

/** Returns what is wrong with a server, and all facts about it. */
function aboutServer(surface: Surface) {
  const trouble = h('p', { class: 'problem', hidden: true });
  const problems = h('div', {});
  const facts = h('div', {});
  const details = h('details', { dataset: { testid: 'server-details' } }, h('summary', { text: t('Details') }), facts);
  return {
    elements: [trouble, problems, details],
    // What a person sees first are the tools. Why a server does not run, or what waits for consent, is in the details.
    unfold: (server: Server | undefined) => {
      details.open = server?.state !== 'SERVER_STATE_READY' || (server.waitingForConsent?.length ?? 0) > 0;
    },
    update: (server: Server) => {
      const error = server.state === 'SERVER_STATE_READY' ? '' : visible(server.lastError);
      show(trouble, error !== '');
      setText(trouble, error);
      replace(problems, ...problemLines(surface, server.problems ?? []));
      replace(facts, serverFacts(surface, server));
    },
  };
}

/** Returns what a server offers, and what it has written, in tabs. */
function serverOffers(page: Page, name: string, up: NonNullable<Opening['up']>, changed: () => void) {
  const tools = toolList(page, name, up, changed);
  const offers = browseLists(page, name, up);
  const log = serverLog(name);
  const paintLog = () => log.paint(page.state.logs.get(name));
  const { element, choose, refresh, offer, isChosen } = tabs(t('What {0} offers', up.title), [
    { id: 'tools', label: t('Tools'), panel: tools.element, shown: tools.load },
    { id: 'resources', label: t('Resources'), panel: offers.resources, shown: offers.loadResources },
    { id: 'prompts', label: t('Prompts'), panel: offers.prompts, shown: offers.loadPrompts },
    { id: 'log', label: t('Log'), panel: log.element, shown: paintLog },
  ]);
  choose('tools');
  return {
    element,
    refresh,
    policyWords: tools.policyWords,
    focusTools: tools.focusFirst,
    update: () => {
      const [resources, prompts] = offers.declared();
      offer('resources', resources);
      offer('prompts', prompts);
    },
    /** Opens what of the server is named, and reports whether anything is. */
    open: ({ tool, resource, resourceTemplate, mcpPrompt }: Thing) => {
      if (tool !== undefined) tools.open(tool);
      else if (resource !== undefined) offers.openResource(resource);
      else if (resourceTemplate !== undefined) offers.openTemplate(resourceTemplate);
      else if (mcpPrompt !== undefined) offers.openPrompt(mcpPrompt);
      else return false;
      return true;
    },
    paint: (changed: Changed, isOpen: boolean) => {
      if (changed.logs.has(name) && isOpen && isChosen('log')) paintLog();
      if (changed.tools.has(name)) tools.changed(isOpen || tools.hasOpen());
      if (changed.offers.has(name)) offers.changed(isOpen);
      if (changed.subscribed) offers.subscribed();
      if (changed.history || changed.requestList || changed.requests.size > 0 || changed.prompts) {
        tools.requestsChanged();
        offers.requestsChanged();
      }
    },
  };
}
