// What can be done with one server: by the palette, which asks which, and by the lenses in config files, which pass its
// name.
import * as vscode from 'vscode';
import { LaunchConsent, ServerState } from '@mcphub/host';
import type { Server } from '@mcphub/host';
import { runningRequests } from '../hub/standing.js';
import { brief, inPick, quoted, visible } from '../plaintext.js';
import { actionsOf, faultOf, stateTitle, type ServerAction } from '../lens/lenswords.js';
import type { CommandWorld } from './commandworld.js';
import { pickServer, serverNamed } from './picks.js';
import { withStop } from './stoppable.js';

/** `entry`: the entry of the workspace, which waits for a yes, in the place of the one that counts. */
export async function startServer(world: CommandWorld, name: unknown, entry: boolean): Promise<void> {
  const stopped = (s: Server): boolean =>
    [ServerState.STOPPED, ServerState.FAILED, ServerState.GIVEN_UP].includes(s.state);
  const server = (await serverNamed(world, name)) ?? (await pickServer(world, vscode.l10n.t('Start Server'), stopped));
  if (server === undefined) {
    return;
  }
  if (entry || ![LaunchConsent.UNSPECIFIED, LaunchConsent.GIVEN].includes(server.launchConsent)) {
    // The question may come: where the page is, its card can be seen.
    await world.sidebar.show();
  }
  await withStop(vscode.l10n.t('Starting {0}', quoted(server.name)), (signal) =>
    world.process.hub.servers.startServer({ server: server.name, workspaceEntry: entry }, { signal }),
  );
}

export async function stopServer(world: CommandWorld, name: unknown): Promise<void> {
  const runs = (s: Server): boolean => [ServerState.READY, ServerState.CONNECTING].includes(s.state);
  const server = (await serverNamed(world, name)) ?? (await pickServer(world, vscode.l10n.t('Stop Server'), runs));
  if (server === undefined || !(await mayLose(world, server))) {
    return;
  }
  await world.process.hub.servers.stopServer({ server: server.name, reason: 'the server was stopped in the editor' });
}

/** Asks, if calls of it run. */
async function mayLose(world: CommandWorld, { name }: Server): Promise<boolean> {
  const calls = runningRequests(world.watcher.standing).filter((request) => request.server === name).length;
  if (calls === 0) {
    return true;
  }
  const stop = vscode.l10n.t('Stop');
  const text =
    calls === 1
      ? vscode.l10n.t('Stop {0}? 1 request that runs is cancelled.', quoted(name))
      : vscode.l10n.t('Stop {0}? {1} requests that run are cancelled.', quoted(name), calls);
  return (await vscode.window.showWarningMessage(text, { modal: true }, stop)) === stop;
}

/** How the server stands, with its error whole, and what can be done about it. */
export async function showServer(world: CommandWorld, name: unknown): Promise<void> {
  const server = (await serverNamed(world, name)) ?? (await pickServer(world, vscode.l10n.t('Show Server')));
  if (server === undefined) {
    return;
  }
  const actions = actionsOf(server).map((action) => ({ label: action.title, action }));
  const chosen = await vscode.window.showQuickPick<vscode.QuickPickItem & { action: ServerAction }>(actions, {
    title: inPick(server.name),
    placeHolder: inPick(`${stateTitle(server)}${server.lastError === '' ? '' : `: ${visible(server.lastError)}`}`, 300),
  });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.action.command, ...chosen.action.args);
  }
}

/** What went wrong, whole: a lens has no room for it. */
export async function showServerError(world: CommandWorld, name: unknown): Promise<void> {
  const server = await serverNamed(world, name);
  if (server === undefined) {
    return;
  }
  const log = vscode.l10n.t('Show Log');
  const text = vscode.l10n.t('{0}: {1}', quoted(server.name), stateTitle(server));
  const detail = brief(visible(faultOf(server)), 4_000);
  if ((await vscode.window.showErrorMessage(text, { modal: true, detail }, log)) === log) {
    world.output.servers.show(true);
  }
}
