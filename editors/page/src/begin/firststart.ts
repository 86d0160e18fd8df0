// What a new user sees while there are no servers: what McpHub is, and three ways to begin. It depends only on the
// present state and disappears with the first server. Nothing is stored, and it never asks again.

import { likeliestFile } from '../adding/files.js';
import { h, setText, show } from '../elements/dom.js';
import { copyButton } from '../elements/icon.js';
import { commandLink } from '../surface.js';
import { visible } from '../words/text.js';
import { t } from '../words/t.js';
import type { Child } from '../elements/dom.js';
import type { Page } from '../page.js';
import type { Surface } from '../surface.js';

/** @param add adds a server; it is one of the ways while there are no servers */
export function firstStart(page: Page, add: HTMLElement): { element: HTMLElement; update: () => void } {
  const { surface, state } = page;
  const problem = h('p', { class: 'problem', role: 'alert' });
  const slot = h('div', {});
  const ways = surface.kind === 'vscode' ? waysInEditor(page, slot) : waysInBrowser(page, slot, problem);
  const tour = commandLink(surface, 'mcphub.getStarted', [], t('Open the walkthrough'));
  const element = h(
    'div',
    { class: 'begin', role: 'group', hidden: true, dataset: { testid: 'first-start' } },
    h('h3', { text: t('No servers yet') }),
    h('p', {
      text: t(
        'McpHub connects your editor with MCP servers, whose tools and questions then come together here. You see all that runs, and each call and each question can be stopped at any moment, from either side.',
      ),
    }),
    ways.some(Boolean) && h('ol', { class: 'ways' }, ...ways), // a host may offer none
    problem,
    tour && h('p', {}, tour),
  );
  return {
    element,
    update: () => {
      // Before the welcome of the hub it is not known whether there are servers.
      const empty = state.hubId !== '' && state.servers.size === 0;
      show(element, empty);
      if (empty && add.parentElement !== slot) slot.append(add);
      if (!empty && add.parentElement === slot) element.parentElement?.querySelector('h2')?.after(add);
      if (!empty) setText(problem, '');
    },
  };
}

/** Returns a way to begin, or false if there is nothing to act with. */
const way = (title: string, text: string, ...acts: Child[]) =>
  acts.some(Boolean)
  && h('li', {}, h('h4', { text: title }), h('p', { text }), h('div', { class: 'actions' }, ...acts));

/** Returns a link that looks like a button, or undefined if the host has no such command. */
function act(surface: Surface, command: string, text: string, testid: string) {
  const link = commandLink(surface, command, [], text);
  if (!link) return undefined;
  link.className = 'button';
  link.dataset['testid'] = testid;
  return link;
}

function waysInEditor({ surface }: Page, slot: HTMLElement) {
  return [
    way(
      t('Try the demo server'),
      t('It is part of McpHub. In a minute it shows a call that you stop, and a question that its server takes back.'),
      act(surface, 'mcphub.addDemoServer', t('Try the Demo Server'), 'add-demo'),
    ),
    way(t('Add a server'), t('By its command or its address, as its instructions say.'), surface.configWrites && slot),
    way(
      t('Use the servers that you have'),
      t('McpHub reads mcp.json of this editor and of your folders, and what Claude, Cursor, Codex and others keep.'),
      act(surface, 'mcphub.createConfig', t('Open or Create a Config File'), 'begin-config'),
    ),
  ];
}

/**
 * Returns the ways for a browser. It cannot open a file in an editor, but the user has the terminal where mcphub runs.
 */
function waysInBrowser({ surface, call }: Page, slot: HTMLElement, problem: HTMLElement) {
  const { demo } = surface;
  const add = h('button', {
    class: 'primary',
    text: t('Try the Demo Server'),
    dataset: { testid: 'add-demo' },
    onclick: async () => {
      if (!demo?.entryJson) return;
      setText(problem, '');
      const { response } = await call('ListConfigFiles', {});
      const configFile = likeliestFile(response?.files ?? [])?.path ?? '';
      const { error } = await call('AddServer', { server: demo.server, entryJson: demo.entryJson, configFile });
      const start = error ?? (await call('StartServer', { server: demo.server })).error;
      setText(problem, visible(start?.message));
    },
  });
  return [
    way(
      t('Try the demo server'),
      t('It is part of McpHub. In a minute it shows a call that you stop, and a question that its server takes back.'),
      ...(demo?.entryJson ? [add] : typed('mcphub demo --web')),
    ),
    way(
      t('Add a server'),
      t('By its command or its address, as its instructions say.'),
      ...(surface.configWrites ? [slot] : typed('mcphub config add NAME -- COMMAND')),
    ),
    way(
      t('Use the servers that you have'),
      t(
        'Started without a file, McpHub reads what VS Code, Claude, Cursor, Codex and others keep. This lists where it looks:',
      ),
      ...typed('mcphub config places'),
    ),
  ];
}

/** Returns a command for the terminal, with a button that copies it. */
const typed = (command: string) => [
  h('code', { class: 'code', text: command }),
  copyButton(t('Copy {0}', command), () => command),
];
