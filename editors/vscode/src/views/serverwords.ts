// What the tree says of a server: its fault, its icon, and what can be done with it.
import * as vscode from 'vscode';
import type { ServerJson, ServerStateJson } from '@mcphub/host/contract';
import { hasFailed } from '../../../page/src/words/serverstate.js';
import { shortName, visible } from '../../../page/src/words/text.js';
import { brief } from '../plaintext.js';

/** Maximum length of a line in a tree. A longer one is cut by the editor anyway, but costs it time. */
export const longestLine = 200;

/** Returns a foreign text for one line of a tree: visible, without line breaks, and cut. */
export const oneLine = (text: string | undefined, most = longestLine): string =>
  brief(visible((text ?? '').slice(0, 4 * most).replace(/\s+/gu, ' ')).trim(), most);

/** Returns a name that a server or a file has chosen, for one line. */
export const nameLine = (name: string | undefined): string => oneLine(shortName(name));

/**
 * Returns a tooltip of several lines. Its texts are shown as they are, whatever marks of markdown they have, and a link
 * in them can run nothing.
 */
export function tooltip(...lines: readonly (string | undefined)[]): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  lines
    .map((line) => oneLine(line, 400))
    .filter((line) => line !== '')
    .forEach((line, index) => (index === 0 ? markdown : markdown.appendMarkdown('\n\n')).appendText(line));
  return markdown;
}

/** Returns what is wrong with a server that does not work, or ''. */
export function faultOf(server: ServerJson): string {
  const fatal = server.problems?.find((problem) => problem.fatal === true);
  return hasFailed(server)
    ? server.lastError || [fatal?.key, fatal?.message].filter((text) => text !== undefined && text !== '').join(': ')
    : '';
}

const icons: Partial<Record<ServerStateJson, string>> = {
  SERVER_STATE_CONNECTING: 'loading~spin',
  SERVER_STATE_STOPPING: 'loading~spin',
  SERVER_STATE_DISABLED: 'circle-slash',
};

export function serverIcon(server: ServerJson): vscode.ThemeIcon {
  const { state, signIn } = server;
  if (hasFailed(server)) {
    return new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
  }
  if (signIn === 'SIGN_IN_STATE_NEEDED') {
    return new vscode.ThemeIcon('key', new vscode.ThemeColor('list.warningForeground'));
  }
  if (state === 'SERVER_STATE_READY') {
    return new vscode.ThemeIcon('server', new vscode.ThemeColor('testing.iconPassed'));
  }
  return new vscode.ThemeIcon(icons[state ?? 'SERVER_STATE_UNSPECIFIED'] ?? 'server');
}

/** Returns what can be done with a server now, in the form in which menus ask for it: " start stop ". */
export function serverContext({ state = 'SERVER_STATE_UNSPECIFIED', signIn, ...server }: ServerJson): string {
  const runs = state === 'SERVER_STATE_READY' || state === 'SERVER_STATE_CONNECTING';
  const off = state === 'SERVER_STATE_DISABLED';
  const can: Readonly<Record<string, boolean>> = {
    start: ['SERVER_STATE_STOPPED', 'SERVER_STATE_FAILED', 'SERVER_STATE_GIVEN_UP'].includes(state),
    stop: runs,
    restart: runs,
    signIn: signIn === 'SIGN_IN_STATE_NEEDED',
    signOut: signIn === 'SIGN_IN_STATE_SIGNED_IN',
    enable: off,
    disable: !off && state !== 'SERVER_STATE_BROKEN',
    unmute: server.questionsMuted === true,
    review: (server.waitingForConsent ?? []).length > 0,
    config: (server.configLine ?? 0) > 0,
  };
  const names = Object.keys(can).filter((name) => can[name]);
  return ` ${['server', ...names].join(' ')} `;
}
