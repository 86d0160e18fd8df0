// Pick lists of what there is: servers, requests.
import * as vscode from 'vscode';
import { ServerState } from '@mcphub/host';
import type { Request, Server } from '@mcphub/host';
import type { CommandWorld } from './commandworld.js';
import { inPick } from '../plaintext.js';
import { runningRequests } from '../hub/standing.js';

const stateWords: Readonly<Record<ServerState, string>> = {
  [ServerState.UNSPECIFIED]: '',
  [ServerState.STOPPED]: 'stopped',
  [ServerState.CONNECTING]: 'connecting',
  [ServerState.READY]: 'ready',
  [ServerState.STOPPING]: 'stopping',
  [ServerState.FAILED]: 'failed',
  [ServerState.DISABLED]: 'disabled',
  [ServerState.BROKEN]: 'broken',
  [ServerState.GIVEN_UP]: 'given up',
};

/**
 * As the hub has them now. Its window may lag behind, and behind a start it knows none yet. Rejects when there is no
 * hub.
 */
export async function serversOf(world: CommandWorld): Promise<Server[]> {
  return (await world.process.hub.servers.listServers({})).servers;
}

export async function pickServer(
  world: CommandWorld,
  title: string,
  fits: (server: Server) => boolean = () => true,
): Promise<Server | undefined> {
  const servers = (await serversOf(world)).filter(fits);
  if (servers.length === 0) {
    void vscode.window.showInformationMessage('No MCP server is configured that this could be done with.');
    return undefined;
  }
  const items = servers.map((server) => ({
    label: inPick(server.name),
    description: stateWords[server.state],
    detail: inPick(server.lastError),
    server,
  }));
  return (await vscode.window.showQuickPick(items, { title }))?.server;
}

/** A running request. One alone is no choice, but stopping it should be seen to be meant. */
export async function pickRequest(world: CommandWorld, title: string): Promise<Request | undefined> {
  const requests = runningRequests(world.watcher.standing);
  if (requests.length === 0) {
    void vscode.window.showInformationMessage('Nothing runs.');
    return undefined;
  }
  const items = requests.map((request) => ({
    label: inPick(request.tool || request.subject || request.method),
    description: inPick(request.server),
    detail: inPick([request.argumentsPreview, request.progress?.message].filter(Boolean).join(' · ')),
    request,
  }));
  return (await vscode.window.showQuickPick(items, { title }))?.request;
}
