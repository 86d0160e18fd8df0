// The dialog that asks whether a server may be started. It shows everything that would run. If a dialog has no room for
// that, it offers no consent, but only the way to the card.
import * as vscode from 'vscode';
import { ApprovalScope } from '@mcphub/host';
import type { LaunchVariable, ServerLaunch } from '@mcphub/host';
import { brief, quoted, visible } from '../plaintext.js';
import type { ChoiceItem } from './choice.js';

/**
 * The size that certainly fits into a dialog with its buttons. A dialog that the system draws (window.dialogStyle)
 * cannot scroll, and the smallest screen has about 30 lines.
 */
const mostCharacters = 1_200;
const mostLines = 16;
const lineLength = 80;

export interface LaunchQuestion {
  readonly title: string;
  readonly detail: string;
  /** The choices that consent, with the hash of what was in view. Empty if the dialog does not show everything. */
  readonly accepts: readonly ChoiceItem[];
}

export function launchQuestion(launch: ServerLaunch, server: string): LaunchQuestion {
  const text = launchText(launch);
  const fits = rows(text) <= mostLines && text.length <= mostCharacters;
  // Allow lists, other files and differences need more than lines of text. For variables that load code, a person must
  // see the warning on the card.
  const plain =
    !launch.changed
    && launch.allowedTools.length === 0
    && launch.files.length === 0
    && !launch.environment.some((v) => v.loadsCode);
  return {
    title: title(launch, server),
    detail: fits ? text : `${vscode.l10n.t('More than a dialog can show: see all of it in McpHub.')}\n${cut(text)}`,
    accepts: fits && plain ? acceptsOf(launch) : [],
  };
}

/** Returns the choices that consent. For an entry that a program wrote, the hub requires the hash of what was shown. */
function acceptsOf({ writtenBy, launchHash }: ServerLaunch): ChoiceItem[] {
  const shown = writtenBy === undefined ? {} : { launchHash };
  return [
    {
      label: vscode.l10n.t('Start This Time'),
      choice: { kind: 'accept', scope: ApprovalScope.ONCE, ...shown },
    },
    {
      label: vscode.l10n.t('Start Whenever This Workspace Is Open'),
      choice: { kind: 'accept', scope: ApprovalScope.WORKSPACE, ...shown },
    },
  ];
}

/** The title depends on whose entry it is: the workspace's, or one that a program wrote. */
function title({ url, writtenBy }: ServerLaunch, server: string): string {
  if (writtenBy !== undefined) {
    const writer = quoted(writtenBy.name);
    return url === ''
      ? vscode.l10n.t('May the server {0}, which {1} added, be started?', server, writer)
      : vscode.l10n.t('May the server {0}, which {1} added, be connected to?', server, writer);
  }
  return url === ''
    ? vscode.l10n.t('May the server {0} of this workspace be started?', server)
    : vscode.l10n.t('May the server {0} of this workspace be connected to?', server);
}

/** Returns every fact that the card shows, one on each line. */
function launchText(launch: ServerLaunch): string {
  const path = [launch.resolvedCommand, launch.resolvedTarget].filter((part) => part !== '').join(' -> ');
  const found = launch.resolvedFrom === '' ? '' : ` ${vscode.l10n.t('(found in {0})', oneLine(launch.resolvedFrom))}`;
  const [loading, harmless] = [true, false].map((loads) => launch.environment.filter((v) => v.loadsCode === loads));
  const told = new Set(launch.environment.map((v) => v.name));
  const sets = [
    ...(harmless ?? []).map(setting),
    ...launch.environmentNames.filter((name) => !told.has(name)).map(oneLine),
  ];
  const line = (of: readonly string[], text: (names: string) => string): string[] =>
    of.length === 0 ? [] : [text(of.map(oneLine).join(', '))];
  return [
    launch.url === '' ? visible(commandLine(launch.command, launch.args)) : oneLine(launch.url),
    ...(launch.resolvedCommand === '' ? [] : [`${vscode.l10n.t('Program: {0}', oneLine(path))}${found}`]),
    ...line((loading ?? []).map(setting), (all) =>
      vscode.l10n.t('DANGER: it sets what can make the program load other code: {0}', all),
    ),
    vscode.l10n.t('From: {0}', `${oneLine(launch.configFile)}:${launch.configLine}`),
    ...line(launch.directory === '' ? [] : [launch.directory], (folder) => vscode.l10n.t('Folder: {0}', folder)),
    ...line(sets, (all) => vscode.l10n.t('It sets the variables: {0}', all)),
    ...line(launch.envFile === '' ? [] : [launch.envFile, ...launch.envFileNames], (all) =>
      vscode.l10n.t('It sets the variables of the file: {0}', all),
    ),
    ...line([...launch.environmentReferences, ...launch.inputReferences], (names) =>
      vscode.l10n.t('It would see the values of: {0}', names),
    ),
    ...line(launch.headerNames, (names) => vscode.l10n.t('It sends the headers: {0}', names)),
    ...line(launch.inheritedNames, (names) => vscode.l10n.t('It inherits your settings: {0}', names)),
    ...line(launch.allowedTools, (names) => vscode.l10n.t('It wants to call without asking: {0}', names)),
    ...line(launch.files, (names) => vscode.l10n.t('It reads the files: {0}', names)),
    ...(launch.changed ? [vscode.l10n.t('It has changed since you agreed to it: see the difference in McpHub.')] : []),
  ].join('\n');
}

/** Returns a command line in which every part whose end would not be clear is quoted. */
export function commandLine(command: string, args: readonly string[]): string {
  return [command, ...args].map((one) => word(one, /^[\w@%+=:,./\\${}-]+$/u)).join(' ');
}

const word = (text: string, plain: RegExp): string => (plain.test(text) ? text : JSON.stringify(text));

/** Returns a variable for a list. A value that contains a comma is quoted, since it would look like two variables. */
function setting({ name, value, unset }: LaunchVariable): string {
  return unset ? vscode.l10n.t('{0} (taken away)', name) : `${name}=${word(value, /^[\w@%+=:./\\${}-]*$/u)}`;
}

/** Spells out line breaks, which would look like the dialog's own. */
function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '⟨U+000A⟩');
}

/** Returns the number of rows that the text takes in the narrowest dialog. */
function rows(text: string): number {
  return text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / lineLength)), 0);
}

function cut(text: string): string {
  return text
    .slice(0, 50 * mostCharacters) // before its characters are processed, since it may be long
    .split('\n')
    .slice(0, mostLines)
    .map((line) => brief(line, 2 * lineLength))
    .join('\n');
}
