// The view of the servers: a tree with what each server offers in groups below it. A server is asked for its lists when
// it is unfolded, and again when it says that they have changed.
import * as vscode from 'vscode';
import type { ConfigProblemJson, Hub, McpPrompt, Resource, ResourceTemplate, Tool } from '@mcphub/host/contract';
import { hubNow } from '../../../page/src/hub/state.js';
import { serverStateWords, unusualState } from '../../../page/src/words/serverstate.js';
import type { Known } from '../hub/known.js';
import { describe } from '../hub/hubprocess.js';
import { faultOf, nameLine, oneLine, serverContext, serverIcon, tooltip } from './serverwords.js';
import type { Thing } from './thing.js';

type Asked = Pick<Hub['servers'], 'listTools' | 'listResources' | 'listResourceTemplates' | 'listMcpPrompts'>;

interface Row {
  readonly kind: 'server' | 'group' | 'offer' | 'note' | 'problem';
  /** the server that it is, or is below */
  readonly server: string;
}

/** One row of what a server offers. */
interface Offer extends Row {
  readonly kind: 'offer';
  readonly thing: Thing;
  readonly title: string;
  /** what is said beside the title */
  readonly beside: string;
  readonly name: string;
  readonly description: string;
  readonly icon: string;
}

interface Group extends Row {
  readonly kind: 'group';
  readonly title: string;
  readonly offers: readonly Offer[];
  /** how many more there are */
  readonly more: number;
}

/** A line that says something about what is above it. A click on it may do something. */
interface Note extends Row {
  readonly kind: 'note';
  readonly text: string;
  readonly icon: string;
  readonly command?: vscode.Command;
}

interface Problem extends Row {
  readonly kind: 'problem';
  readonly problem: ConfigProblemJson;
}

export type ServerRow = (Row & { readonly kind: 'server' }) | Group | Offer | Note | Problem;

/** Maximum number of entries of one list. The page searches the others. */
const mostListed = 1000;

export class ServerTree implements vscode.TreeDataProvider<ServerRow>, vscode.Disposable {
  readonly #known: Known;
  readonly #servers: () => Asked;
  readonly #changed = new vscode.EventEmitter<ServerRow | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #subscription: vscode.Disposable;
  /** One row for each server: the editor knows rows by their identity. */
  readonly #rows = new Map<string, ServerRow & { readonly kind: 'server' }>();
  /** What the servers that were unfolded offer. */
  readonly #lists = new Map<string, Promise<ServerRow[]>>();

  /** @param servers returns the service of the present hub, and throws without one */
  constructor(known: Known, servers: () => Asked) {
    this.#known = known;
    this.#servers = servers;
    this.#subscription = known.onDidChange(({ serverList, servers: changed, tools, offers, problems }) => {
      for (const server of [...tools, ...offers]) {
        this.#lists.delete(server);
      }
      const rows = serverList || problems ? [''] : new Set([...changed, ...tools, ...offers]);
      for (const server of rows) {
        this.#changed.fire(this.#rows.get(server));
      }
    });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  getChildren(row?: ServerRow): vscode.ProviderResult<ServerRow[]> {
    if (row === undefined) {
      return [...this.#serverRows(), ...this.#problemRows()];
    }
    if (row.kind === 'group') {
      return [...row.offers, ...moreOf(row)];
    }
    if (row.kind !== 'server') {
      return [];
    }
    let list = this.#lists.get(row.server);
    if (list === undefined) {
      list = this.#list(row.server);
      this.#lists.set(row.server, list);
    }
    return list;
  }

  getTreeItem(row: ServerRow): vscode.TreeItem {
    switch (row.kind) {
      case 'server':
        return this.#serverItem(row.server);
      case 'group': {
        const { title, offers, more, server } = row;
        const unfolded = title === groupTitles().tools;
        const item = new vscode.TreeItem(
          title,
          unfolded ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
        );
        return Object.assign(item, { id: JSON.stringify([server, title]), description: String(offers.length + more) });
      }
      case 'offer':
        return offerItem(row);
      case 'problem':
        return problemItem(row.problem);
      default: {
        const item = new vscode.TreeItem(row.text);
        item.iconPath = new vscode.ThemeIcon(row.icon);
        item.tooltip = tooltip(row.text);
        if (row.command !== undefined) {
          item.command = row.command;
        }
        return item;
      }
    }
  }

  #serverRows(): ServerRow[] {
    const { servers } = this.#known.state;
    for (const name of this.#rows.keys()) {
      if (!servers.has(name)) {
        this.#rows.delete(name);
        this.#lists.delete(name);
      }
    }
    return [...servers.keys()].map((server) => {
      const row = this.#rows.get(server) ?? { kind: 'server' as const, server };
      this.#rows.set(server, row);
      return row;
    });
  }

  #problemRows(): Problem[] {
    return this.#known.state.problems.map((problem) => ({ kind: 'problem', server: '', problem }));
  }

  #serverItem(name: string): vscode.TreeItem {
    const server = this.#known.state.servers.get(name) ?? {};
    const item = new vscode.TreeItem(nameLine(name), vscode.TreeItemCollapsibleState.Collapsed);
    const now = hubNow(this.#known.state);
    const state = oneLine(serverStateWords(server, now));
    item.id = JSON.stringify([name]);
    item.description = oneLine(unusualState(server, now));
    item.iconPath = serverIcon(server);
    item.contextValue = serverContext(server);
    item.command = openCommand({ server: name });
    item.tooltip = tooltip(
      [nameLine(name), state, faultOf(server)].filter((text) => text !== '').join(' · '),
      server.url || server.command || server.configFile,
    );
    item.accessibilityInformation = { label: `${nameLine(name)}, ${state}` };
    return item;
  }

  async #list(server: string): Promise<ServerRow[]> {
    const { state } = this.#known;
    const known = state.servers.get(server);
    const runs = known?.state === 'SERVER_STATE_READY';
    const failed = (error: unknown): Note => {
      this.#lists.delete(server); // it is asked again when it is unfolded again
      return { kind: 'note', server, text: oneLine(describe(error)), icon: 'warning' };
    };
    try {
      const declared = runs ? declaredBy(known.capabilitiesJson) : new Set<string>();
      const rows = await listed(this.#servers(), server, declared, failed);
      return rows.length > 0 ? rows : [noteOf(server, runs)];
    } catch (error) {
      return [failed(error)]; // there is no hub
    }
  }
}

/** A function, since the editor's language is known only after the start. */
const groupTitles = () => ({
  tools: vscode.l10n.t('Tools'),
  resources: vscode.l10n.t('Resources'),
  templates: vscode.l10n.t('Resource Templates'),
  prompts: vscode.l10n.t('Prompts'),
});

/** Returns what a server has declared that it offers beside tools. */
function declaredBy(capabilitiesJson = ''): ReadonlySet<string> {
  try {
    const declared: unknown = JSON.parse(capabilitiesJson);
    return new Set(typeof declared === 'object' && declared !== null ? Object.keys(declared) : []);
  } catch {
    return new Set();
  }
}

/**
 * Asks for the lists of a server. One that does not run has the tools that it had, and is not started for this. A list
 * that cannot be had hides none of the others: some servers declare resources and answer only one of their two lists.
 */
async function listed(
  servers: Asked,
  server: string,
  declared: ReadonlySet<string>,
  failed: (error: unknown) => Note,
): Promise<ServerRow[]> {
  const request = { server, limit: mostListed };
  const titles = groupTitles();
  const group = (title: string, offers: readonly Offer[], matched = offers.length): Group[] =>
    offers.length === 0 ? [] : [{ kind: 'group', server, title, offers, more: Math.max(0, matched - offers.length) }];
  const resources = declared.has('resources');
  const lists = await Promise.allSettled<Group[]>([
    servers.listTools({ server, allowCached: true }).then(({ tools }) => group(titles.tools, tools.map(toolRow))),
    resources
      ? servers.listResources(request).then((l) => group(titles.resources, l.resources.map(resourceRow), l.matched))
      : [],
    resources
      ? servers
          .listResourceTemplates(request)
          .then((l) => group(titles.templates, l.resourceTemplates.map(templateRow), l.matched))
      : [],
    declared.has('prompts')
      ? servers.listMcpPrompts(request).then((l) => group(titles.prompts, l.prompts.map(promptRow), l.matched))
      : [],
  ]);
  const groups = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []));
  const problems = lists.flatMap((list) => (list.status === 'rejected' ? [failed(list.reason)] : []));
  return [...groups, ...problems.filter(({ text }, i) => problems.findIndex((one) => one.text === text) === i)];
}

/** The parts of an offer that all kinds have. */
const offer = (
  { server, title, name, description }: Pick<Tool, 'server' | 'title' | 'name' | 'description'>,
  thing: Thing,
  icon: string,
): Offer => ({
  kind: 'offer',
  server,
  thing: { server, ...thing },
  title: title || name,
  name,
  beside: description,
  description,
  icon,
});

const toolRow = (tool: Tool): Offer => offer(tool, { tool: tool.name }, 'tools');

const promptRow = (prompt: McpPrompt): Offer => offer(prompt, { mcpPrompt: prompt.name }, 'comment-discussion');

const resourceRow = (resource: Resource): Offer => ({
  ...offer({ ...resource, name: resource.name || resource.uri }, { resource: resource.uri }, 'file'),
  beside: resource.uri,
});

const templateRow = (template: ResourceTemplate): Offer => ({
  ...offer(
    { ...template, name: template.name || template.uriTemplate },
    { resourceTemplate: template.uriTemplate },
    'file-symlink-file',
  ),
  beside: template.uriTemplate,
});

function offerItem({ thing, title, name, beside, description, icon, server }: Offer): vscode.TreeItem {
  const item = new vscode.TreeItem(nameLine(title));
  item.id = JSON.stringify([server, thing]);
  item.description = oneLine(beside);
  item.iconPath = new vscode.ThemeIcon(icon);
  item.contextValue = thing.tool === undefined ? ' offer ' : ' offer tool ';
  item.command = openCommand(thing);
  const names = name === title ? [title] : [title, name];
  item.accessibilityInformation = { label: [...names.map(nameLine), oneLine(beside)].filter(Boolean).join(', ') };
  item.tooltip = tooltip(name === title ? nameLine(name) : `${nameLine(title)} · ${nameLine(name)}`, description);
  return item;
}

function problemItem({ key, message, file, line, fatal }: ConfigProblemJson): vscode.TreeItem {
  const item = new vscode.TreeItem(oneLine([key, message].filter(Boolean).join(': ')));
  item.description = oneLine(file?.split(/[\\/]/u).at(-1));
  item.iconPath = new vscode.ThemeIcon(fatal === true ? 'error' : 'warning');
  item.tooltip = tooltip(message, [file, line].filter(Boolean).join(':'));
  item.command = { command: 'mcphub.openConfig', title: '', arguments: [file ?? '', line ?? 1] };
  return item;
}

/** Says why nothing is below a server. */
function noteOf(server: string, runs: boolean): Note {
  if (runs) {
    return { kind: 'note', server, text: vscode.l10n.t('Offers nothing'), icon: 'info' };
  }
  const text = vscode.l10n.t('Start to List Tools');
  return { kind: 'note', server, text, icon: 'play', command: startCommand(server) };
}

/** Leads to the page of the server, which searches what there was no room for. */
function moreOf({ more, server }: Group): Note[] {
  const text = vscode.l10n.t('Open the Server to Find {0} More', more);
  return more === 0 ? [] : [{ kind: 'note', server, text, icon: 'ellipsis', command: openCommand({ server }) }];
}

const openCommand = (thing: Thing): vscode.Command => ({ command: 'mcphub.open', title: '', arguments: [thing] });

const startCommand = (server: string): vscode.Command => ({
  command: 'mcphub.startServer',
  title: '',
  arguments: [server],
});
