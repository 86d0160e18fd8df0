// Pick lists of the resources and prompt templates that servers offer. Of a long list the hub returns the first
// entries, and searches all entries for the typed text.
import * as vscode from 'vscode';
import { ServerState } from '@mcphub/host/contract';
import type { McpPrompt, Resource, ResourceTemplate, Server } from '@mcphub/host/contract';
import type { CommandWorld } from './commandworld.js';
import { pickServer } from './picks.js';
import { withStop } from './stoppable.js';
import { describe } from '../hub/hubprocess.js';
import { inMessage, inPick, quoted } from '../plaintext.js';
import { completionValues } from '../resources/content.js';
import { pickText } from '../resources/textpick.js';
import { resultOf } from '../resources/userrequest.js';

const mostListed = 1000;
const pauseMs = 300;

export type Offered =
  { readonly resource: Resource } | { readonly template: ResourceTemplate } | { readonly prompt: McpPrompt };

interface Item extends vscode.QuickPickItem {
  readonly offered: Offered;
}

/** Reports whether a server has declared a capability. A server that was never connected may have any. */
function declares(server: Server, what: string): boolean {
  try {
    return server.capabilitiesJson === '' || what in (JSON.parse(server.capabilitiesJson) as object);
  } catch {
    return true;
  }
}

export function pickOfferer(world: CommandWorld, title: string, what: string): Promise<Server | undefined> {
  return pickServer(
    world,
    title,
    (s) => s.state !== ServerState.DISABLED && s.state !== ServerState.BROKEN && declares(s, what),
  );
}

interface Listed {
  readonly items: Item[];
  readonly all: boolean; // the list is complete
}

async function listResources(world: CommandWorld, server: string, query: string, signal: AbortSignal): Promise<Listed> {
  const asked = { server, query, limit: mostListed };
  const [listed, templates] = await Promise.all([
    world.process.hub.servers.listResources(asked, { signal }),
    world.process.hub.servers.listResourceTemplates(asked, { signal }),
  ]);
  return {
    all: listed.matched <= listed.resources.length && templates.matched <= templates.resourceTemplates.length,
    items: [
      ...listed.resources.map((resource) => ({
        label: inPick(resource.title || resource.name || resource.uri),
        description: inPick(resource.uri),
        detail: inPick(resource.description),
        offered: { resource },
      })),
      ...templates.resourceTemplates
        .filter(({ problem }) => problem === '')
        .map((template) => ({
          label: `$(symbol-parameter) ${inPick(template.title || template.name || template.uriTemplate)}`,
          description: inPick(template.uriTemplate),
          detail: inPick(template.description),
          offered: { template },
        })),
    ],
  };
}

async function listPrompts(world: CommandWorld, server: string, query: string, signal: AbortSignal): Promise<Listed> {
  const { prompts, matched } = await world.process.hub.servers.listMcpPrompts(
    { server, query, limit: mostListed },
    { signal },
  );
  return {
    all: matched <= prompts.length,
    items: prompts.map((prompt) => ({
      label: inPick(prompt.title || prompt.name),
      description: prompt.title === '' ? '' : inPick(prompt.name),
      detail: inPick(prompt.description),
      offered: { prompt },
    })),
  };
}

export const pickResource = (world: CommandWorld, server: string): Promise<Offered | undefined> =>
  pickOffered(vscode.l10n.t('Select a Resource of {0}', inMessage(server)), server, (query, signal) =>
    listResources(world, server, query, signal),
  );

export const pickPrompt = (world: CommandWorld, server: string): Promise<Offered | undefined> =>
  pickOffered(vscode.l10n.t('Select a Prompt of {0}', inMessage(server)), server, (query, signal) =>
    listPrompts(world, server, query, signal),
  );

async function pickOffered(
  title: string,
  server: string,
  list: (query: string, signal: AbortSignal) => Promise<Listed>,
): Promise<Offered | undefined> {
  const first = await withStop(vscode.l10n.t('Listing what {0} offers…', quoted(server)), (signal) => list('', signal));
  if (first === undefined) {
    return undefined;
  }
  if (first.items.length === 0) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('The server {0} offers nothing to select.', quoted(server)),
    );
    return undefined;
  }
  const { all } = first;
  return new Promise((resolve) => {
    const pick = vscode.window.createQuickPick<Item>();
    let asking: AbortController | undefined;
    let timer: NodeJS.Timeout | undefined;
    pick.title = title;
    pick.matchOnDescription = true;
    pick.matchOnDetail = true;
    pick.items = first.items;
    const search = async (): Promise<void> => {
      const mine = (asking = new AbortController());
      pick.busy = true;
      try {
        const { items } = await list(pick.value, mine.signal);
        if (!mine.signal.aborted) {
          pick.items = items.map((item) => ({ ...item, alwaysShow: true })); // the hub has matched them already
        }
      } catch (error) {
        if (!mine.signal.aborted) {
          pick.title = `${title} (${inMessage(describe(error), 120)})`;
        }
      } finally {
        if (asking === mine) {
          pick.busy = false;
        }
      }
    };
    pick.onDidChangeValue(() => {
      if (all) {
        return; // the editor filters the complete list itself
      }
      clearTimeout(timer);
      asking?.abort();
      timer = setTimeout(() => void search(), pauseMs);
    });
    pick.onDidAccept(() => {
      const [chosen] = pick.activeItems;
      if (chosen !== undefined) {
        resolve(chosen.offered);
        pick.hide();
      }
    });
    pick.onDidHide(() => {
      clearTimeout(timer);
      asking?.abort();
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

/** The prompt or template to which an argument belongs. */
type Reference =
  { readonly case: 'mcpPrompt'; readonly value: string } | { readonly case: 'uriTemplate'; readonly value: string };

/**
 * Asks for the values of arguments, one after the other. Resolves to undefined if the user cancelled. An argument that
 * was left out has no value in the result.
 */
export async function pickArguments(
  world: CommandWorld,
  server: string,
  reference: Reference,
  args: readonly { readonly name: string; readonly description: string; readonly required: boolean }[],
): Promise<Record<string, string> | undefined> {
  const given: Record<string, string> = {};
  const known = (await world.process.hub.servers.listServers({})).servers.find(({ name }) => name === server);
  const completes = known !== undefined && known.capabilitiesJson !== '' && declares(known, 'completions');
  for (const [index, { name, description, required }] of args.entries()) {
    const value = await pickText({
      title: vscode.l10n.t('{0} ({1} of {2})', inMessage(name), index + 1, args.length),
      placeholder: inMessage(description) || vscode.l10n.t('Enter or select a value'),
      required,
      propose: completes
        ? async (typed, signal) =>
            completionValues(
              resultOf(
                await world.process.hub.servers.complete(
                  { server, reference, argument: name, value: typed, context: given },
                  { signal },
                ),
              ),
            )
        : undefined,
    });
    if (value === undefined) {
      return undefined;
    }
    if (value !== '') {
      given[name] = value;
    }
  }
  return given;
}
