// The commands for one server. In the palette the user picks the server; lenses in config files pass its name.
import * as vscode from 'vscode';
import { LaunchConsent, ServerState, runningRequests } from '@mcphub/host/contract';
import type { Server } from '@mcphub/host/contract';
import { brief, inPick, quoted, visible } from '../plaintext.js';
import { actionsOf, faultOf, stateTitle, type ServerAction } from '../lens/lenswords.js';
import type { CommandWorld } from './commandworld.js';
import { pickServer, serverNamed } from './picks.js';
import { withStop } from './stoppable.js';

/** Starts a server. `entry` selects the entry of the workspace that waits for consent, instead of the current one. */
export async function startServer(world: CommandWorld, name: unknown, entry: boolean): Promise<void> {
  const stopped = (s: Server): boolean =>
    [ServerState.STOPPED, ServerState.FAILED, ServerState.GIVEN_UP].includes(s.state);
  const server = (await serverNamed(world, name)) ?? (await pickServer(world, vscode.l10n.t('Start Server'), stopped));
  if (server === undefined) {
    return;
  }
  if (entry || ![LaunchConsent.UNSPECIFIED, LaunchConsent.GIVEN].includes(server.launchConsent)) {
    // The consent question may come; its card is visible on the page.
    await world.sidebar.show();
  }
  await withStop(vscode.l10n.t('Starting {0}…', quoted(server.name)), (signal) =>
    world.process.hub.servers.startServer({ server: server.name, workspaceEntry: entry }, { signal }),
  );
}

export async function stopServer(world: CommandWorld, name: unknown): Promise<void> {
  const runs = (s: Server): boolean => [ServerState.READY, ServerState.CONNECTING].includes(s.state);
  const server = (await serverNamed(world, name)) ?? (await pickServer(world, vscode.l10n.t('Stop Server'), runs));
  if (server === undefined) {
    return;
  }
  const question = vscode.l10n.t('Stop {0}?', quoted(server.name));
  if (!(await mayLose(world, server.name, question, vscode.l10n.t('Stop')))) {
    return;
  }
  await world.process.hub.servers.stopServer({ server: server.name, reason: 'the server was stopped in the editor' });
}

/** Asks the user if calls of the server are running, which end with what is to be done. */
export async function mayLose(world: CommandWorld, name: string, question: string, verb: string): Promise<boolean> {
  const calls = runningRequests(world.watcher.standing).filter((request) => request.server === name).length;
  if (calls === 0) {
    return true;
  }
  const detail =
    calls === 1
      ? vscode.l10n.t('This cancels 1 running request.')
      : vscode.l10n.t('This cancels {0} running requests.', calls);
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, verb)) === verb;
}

/** Shows the state of the server, its full error, and the possible actions. */
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

/** Shows the full error, for which a lens has no room. */
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
