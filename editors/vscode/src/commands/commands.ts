// The commands of the palette and of the links on the page. Every failure is shown to the user. The arguments of a link
// are not trusted.
import path from 'node:path';
import * as vscode from 'vscode';
import { chooseBundle } from '../page/finding.js';
import { beginCommands } from '../begin/begin.js';
import { callTool } from './calltool.js';
import type { CommandWorld } from './commandworld.js';
import { describe } from '../hub/hubprocess.js';
import { withStop } from './stoppable.js';
import { pickRequest, pickServer, requestItem, serversOf } from './picks.js';
import { inMessage, quoted } from '../plaintext.js';
import { forgetRemembered } from './remembered.js';
import { showServer, showServerError, startServer, stopServer } from './servercommands.js';
import { insertPrompt, insertPromptText, promptTextToChat } from './insertprompt.js';
import { insertResource, openResource } from './openresource.js';
import { contentLink, saveContent } from './savecontent.js';
import type { Proposed } from '../page/pageview.js';
import { treeCommands } from './treecommands.js';
import { compareParts, copyPart, openPart, partLink, savePart, saveReport } from './requestparts.js';

export function registerCommands(world: CommandWorld): vscode.Disposable {
  const commands: Readonly<Record<string, (...args: unknown[]) => Promise<void> | void>> = {
    'mcphub.callTool': () => callTool(world),
    'mcphub.openResource': (server, uri) => openResource(world, world.resources, server, uri),
    'mcphub.insertResource': () => insertResource(world),
    'mcphub.insertPrompt': () => insertPrompt(world),
    'mcphub.insertPromptText': (requestId) => insertPromptText(world, requestId),
    'mcphub.promptTextToChat': (requestId) => promptTextToChat(world, requestId),
    'mcphub.saveContent': (...link) => saveContent(world, contentLink(link)),
    'mcphub.cancelRequest': () => cancelRequest(world),
    'mcphub.stopEverything': () => stopEverything(world),
    'mcphub.restartServer': (server) => restartServer(world, server),
    'mcphub.startServer': (server, entry) => startServer(world, server, entry === true),
    'mcphub.stopServer': (server) => stopServer(world, server),
    'mcphub.showTools': (server) => callTool(world, server),
    'mcphub.showServer': (server) => showServer(world, server),
    'mcphub.showServerError': (server) => showServerError(world, server),
    ...beginCommands({ demo: world.demo, configFiles: world.configFiles, show: () => world.sidebar.show() }),
    'mcphub.reloadConfig': () => world.configFiles.reloadNow(),
    'mcphub.addServer': (proposal) => addServer(world, { entryText: textOf(proposal) }),
    'mcphub.addServerFromBundle': async () => {
      const bundle = await chooseBundle();
      if (bundle !== undefined) {
        addServer(world, { bundle });
      }
    },
    'mcphub.openConfig': (what, line) => openConfig(world, what, line),
    'mcphub.showTrace': (requestId) => showTrace(world, requestId),
    'mcphub.openPart': (...link) => openPart(world, partLink(link[0], link[1], link[2])),
    'mcphub.savePart': (...link) => savePart(world, partLink(link[0], link[1], link[2])),
    'mcphub.copyPart': (...link) => copyPart(world, partLink(link[0], link[1], link[2])),
    'mcphub.compareResults': (before, now, name) =>
      compareParts(world, partLink(before, 'REQUEST_PART_RESULT', name), partLink(now, 'REQUEST_PART_RESULT', name)),
    'mcphub.saveReport': (requestId) => saveReport(world, requestId),
    'mcphub.showLogs': (server) => (typeof server === 'string' ? world.output.servers : world.output.hub).show(true),
    'mcphub.openPanel': () => world.panel.open(),
    'mcphub.focusView': () => world.sidebar.show(),
    'mcphub.forgetRemembered': () => forgetRemembered(world),
    'mcphub.restartHub': () => world.process.restart(),
    ...treeCommands(world),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([id, run]) =>
      vscode.commands.registerCommand(id, async (...args: unknown[]) => {
        try {
          if (needsHub(id)) {
            await world.ready();
          }
          await run(...args);
        } catch (error) {
          world.output.hub.warn(`${id}: ${describe(error)}`);
          void vscode.window.showErrorMessage(inMessage(describe(error), 300));
        }
      }),
    ),
  );
}

/** Opens the form in a tab of its own, or on the whole page if that is open. */
function addServer({ panel, tabs }: CommandWorld, proposed: Proposed): void {
  if (panel.visible) {
    panel.addServer(proposed);
  } else {
    tabs.addServer(proposed);
  }
}

/** Returns the text that was pasted into the view Now for an entry. The form shows what it reads from it. */
const textOf = (proposal: unknown): string =>
  typeof proposal === 'object' && proposal !== null && 'text' in proposal && typeof proposal.text === 'string'
    ? proposal.text
    : '';

// These commands must not wait for the hub: the user needs them when it does not start.
function needsHub(id: string): boolean {
  return ![
    'mcphub.showLogs',
    'mcphub.openPanel',
    'mcphub.focusView',
    'mcphub.restartHub',
    'mcphub.getStarted',
    'mcphub.createConfig',
  ].includes(id);
}

async function cancelRequest(world: CommandWorld): Promise<void> {
  const request = await pickRequest(world, vscode.l10n.t('Cancel Request'));
  if (request === undefined) {
    return;
  }
  const reason = await vscode.window.showInputBox({
    title: vscode.l10n.t('Cancel {0}', inMessage(request.title || request.tool || request.subject || request.method)),
    prompt: vscode.l10n.t('Reason to tell the server (optional)'),
  });
  if (reason !== undefined) {
    await world.cancel(request.requestId, reason);
  }
}

async function stopEverything(world: CommandWorld): Promise<void> {
  const stopped = await world.stopAll('everything was stopped in the editor');
  vscode.window.setStatusBarMessage(
    stopped === 0
      ? vscode.l10n.t('McpHub: Nothing to cancel')
      : stopped === 1
        ? vscode.l10n.t('McpHub: Cancelling 1 request…')
        : vscode.l10n.t('McpHub: Cancelling {0} requests…', stopped),
    5000,
  );
}

async function restartServer(world: CommandWorld, name: unknown): Promise<void> {
  const server =
    typeof name === 'string'
      ? (await serversOf(world)).find((s) => s.name === name)
      : await pickServer(world, vscode.l10n.t('Restart Server'));
  if (server === undefined) {
    return;
  }
  await withStop(vscode.l10n.t('Restarting {0}…', quoted(server.name)), (signal) =>
    world.process.hub.servers.restartServer({ server: server.name, reason: 'restarted in the editor' }, { signal }),
  );
}

/** Opens the config entry of a server. A link passes the name of a server, or a known config file. */
async function openConfig(world: CommandWorld, what: unknown, line: unknown): Promise<void> {
  const { servers: all, problems } = await world.process.hub.servers.listServers({});
  const named = typeof what === 'string' ? all.find((s) => s.name === what) : undefined;
  if (named === undefined && typeof what === 'string') {
    const known = [
      ...all.flatMap((s) => [s.configFile, ...s.shadows.map((o) => o.file), ...s.problems.map((p) => p.file)]),
      ...problems.map((p) => p.file),
      // The page also shows files that have no servers or cannot be read, and they can be opened, too.
      ...(await world.process.hub.configs.listConfigFiles({})).files.map((f) => f.path),
    ];
    if (!known.includes(what)) {
      throw new Error(vscode.l10n.t('No server or config file is named {0}.', quoted(what)));
    }
    return openFile(what, typeof line === 'number' ? line : 1);
  }
  const server = named ?? (await pickServer(world, vscode.l10n.t('Open Config')));
  if (server !== undefined && !path.isAbsolute(server.configFile)) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('The server {0} is part of McpHub and has no config file.', quoted(server.name)),
    );
  } else if (server !== undefined) {
    await openFile(server.configFile, server.configLine);
  }
}

async function openFile(file: string, line: number): Promise<void> {
  const at = new vscode.Position(Math.max(0, Math.trunc(line) - 1), 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), { selection: new vscode.Range(at, at) });
}

async function showTrace(world: CommandWorld, requestId: unknown): Promise<void> {
  const id = typeof requestId === 'string' ? requestId : await pickTraced(world);
  if (id === undefined) {
    return;
  }
  const { traces, bundleJson } = await world.process.hub.requests.getTrace({ requestId: id, bundle: true });
  if (traces.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('The trace of this request is no longer available.'));
    return;
  }
  await world.documents.show(`trace-${id}`, `${JSON.stringify(JSON.parse(bundleJson), undefined, 2)}\n`);
}

async function pickTraced(world: CommandWorld): Promise<string | undefined> {
  const { traces } = await world.process.hub.requests.getTrace({ maxTraces: 100 });
  const items = traces
    .reverse()
    .flatMap(({ request }) => (request === undefined ? [] : [{ ...requestItem(request), id: request.requestId }]));
  if (items.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('No trace is available yet. Call a tool first.'));
    return undefined;
  }
  return (
    await vscode.window.showQuickPick(items, {
      title: vscode.l10n.t('Show Trace'),
      placeHolder: vscode.l10n.t('Select a request'),
    })
  )?.id;
}
