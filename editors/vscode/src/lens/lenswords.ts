// The texts of lenses and the actions that they offer. Texts of servers and files are made safe here: a lens draws
// $(name) as an icon, as a pick list does.
import * as vscode from 'vscode';
import { ServerState, serverStateWord } from '@mcphub/host/contract';
import type { Server, ServerStateJson } from '@mcphub/host/contract';
import { inPick } from '../plaintext.js';

export interface ServerAction {
  readonly title: string;
  readonly command: string;
  readonly args: readonly unknown[];
}

/** Returns the state in a few words, as the page says it. */
export function stateTitle({ state }: Server): string {
  return serverStateWord(`SERVER_STATE_${ServerState[state]}` as ServerStateJson, vscode.l10n);
}

/** Returns the text of the lens with the state. `tools` is undefined if the number of tools is not known. */
export function lensTitle(server: Server, tools: number | undefined): string {
  const state = stateTitle(server);
  if (server.state === ServerState.READY) {
    return tools === undefined
      ? `McpHub: ${state}`
      : tools === 1
        ? `McpHub: ${state}, ${vscode.l10n.t('1 tool')}`
        : `McpHub: ${state}, ${vscode.l10n.t('{0} tools', tools)}`;
  }
  const fault = faultOf(server);
  return fault === '' ? `McpHub: ${state}` : `McpHub: ${state}: ${inPick(fault, 60)}`;
}

/** Returns the full error, or ''. */
export function faultOf(server: Server): string {
  switch (server.state) {
    case ServerState.FAILED:
    case ServerState.GIVEN_UP:
      return server.lastError;
    case ServerState.BROKEN: {
      const problem = server.problems.find((p) => p.fatal);
      return problem === undefined ? server.lastError : [problem.key, problem.message].filter(Boolean).join(': ');
    }
    default:
      return '';
  }
}

/** Returns the actions that are possible in the server's present state. */
export function actionsOf(server: Server): ServerAction[] {
  const of = (title: string, command: string, ...more: readonly unknown[]): ServerAction => ({
    title,
    command: `mcphub.${command}`,
    args: [server.name, ...more],
  });
  const start = of(vscode.l10n.t('Start'), 'startServer');
  const stop = of(vscode.l10n.t('Stop'), 'stopServer');
  const restart = of(vscode.l10n.t('Restart'), 'restartServer');
  const tools = of(vscode.l10n.t('Show Tools'), 'showTools');
  const log = of(vscode.l10n.t('Show Log'), 'showLogs');
  const consent =
    server.waitingForConsent.length > 0 ? [of(vscode.l10n.t('Review Workspace Entry'), 'startServer', true)] : [];
  switch (server.state) {
    case ServerState.READY:
      return [...consent, stop, restart, tools, log];
    case ServerState.CONNECTING:
      return [...consent, stop, log];
    case ServerState.STOPPED:
      return [...consent, start];
    case ServerState.FAILED:
    case ServerState.GIVEN_UP:
      return [...consent, start, of(vscode.l10n.t('Show Error'), 'showServerError'), log];
    default:
      return consent;
  }
}
