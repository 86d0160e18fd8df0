// Pick lists of servers and requests.
import * as vscode from 'vscode';
import { runningRequests } from '@mcphub/host/contract';
import type { Request, Server } from '@mcphub/host/contract';
import type { CommandWorld } from './commandworld.js';
import { inPick } from '../plaintext.js';
import { stateTitle } from '../lens/lenswords.js';

/**
 * Returns the servers as the hub has them now. The extension's window may be behind, and has no servers right after a
 * start. Rejects if there is no hub.
 */
export async function serversOf(world: CommandWorld): Promise<Server[]> {
  return (await world.process.hub.servers.listServers({})).servers;
}

/** Returns the server that a link or a lens names. */
export async function serverNamed(world: CommandWorld, name: unknown): Promise<Server | undefined> {
  return typeof name === 'string' ? (await serversOf(world)).find((s) => s.name === name) : undefined;
}

export async function pickServer(
  world: CommandWorld,
  title: string,
  fits: (server: Server) => boolean = () => true,
): Promise<Server | undefined> {
  const servers = (await serversOf(world)).filter(fits);
  if (servers.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('No MCP server fits this command.'));
    return undefined;
  }
  const items = servers.map((server) => ({
    label: inPick(server.name),
    description: stateTitle(server),
    detail: inPick(server.lastError),
    server,
  }));
  return (await vscode.window.showQuickPick(items, { title }))?.server;
}

/** Describes what was requested, from which server, and by whom, if that is known. */
export function requestItem(request: Request): { label: string; description: string } {
  const { title, tool, subject, method, server, caller } = request;
  const by = caller && vscode.l10n.t('by {0}', caller);
  return {
    label: inPick(title || tool || subject || method),
    // Each part is cut separately, so that a long tool name cannot hide the rest.
    description: [title && tool, server, by]
      .filter(Boolean)
      .map((part) => inPick(part, 80))
      .join(' · '),
  };
}

/** Lets the user pick a running request. A single one is listed, too: the user must see what would be stopped. */
export async function pickRequest(world: CommandWorld, title: string): Promise<Request | undefined> {
  const requests = runningRequests(world.watcher.standing);
  if (requests.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Nothing is running.'));
    return undefined;
  }
  const items = requests.map((request) => ({
    ...requestItem(request),
    detail: inPick([request.argumentsPreview, request.progress?.message].filter(Boolean).join(' · ')),
    request,
  }));
  return (await vscode.window.showQuickPick(items, { title }))?.request;
}
