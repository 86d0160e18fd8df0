// The dialog that asks whether a server may be started. It shows everything that would run. If a dialog has no room for
// that, it offers no consent, but only the way to the card.
import * as vscode from 'vscode';
import { ApprovalScope, launchFacts, launchOrigin, loadsCode } from '@mcphub/host/contract';
import type { ServerLaunch } from '@mcphub/host/contract';
import { visible } from '../plaintext.js';
import type { ChoiceItem } from './choice.js';
import { cutForDialog, fitsDialog } from './dialogsize.js';

export interface LaunchQuestion {
  readonly detail: string;
  /** The choices that consent, with the hash of what was in view. Empty if the dialog does not show everything. */
  readonly accepts: readonly ChoiceItem[];
}

export function launchQuestion(launch: ServerLaunch): LaunchQuestion {
  const text = launchText(launch);
  // Allow lists, other files and differences need more than lines of text. For variables that load code, a person must
  // see the warning on the card.
  const plain =
    !launch.changed
    && launch.allowedTools.length === 0
    && launch.files.length === 0
    && !launch.environment.some((v) => v.loadsCode);
  return { detail: cutForDialog(text), accepts: plain && fitsDialog(text) ? acceptsOf(launch) : [] };
}

/** Returns the choices that consent. For an entry that a program wrote, the hub requires the hash of what was shown. */
function acceptsOf({ writtenBy, launchHash }: ServerLaunch): ChoiceItem[] {
  const shown = writtenBy === undefined ? {} : { launchHash };
  return [
    {
      label: vscode.l10n.t('Start Once'),
      choice: { kind: 'accept', scope: ApprovalScope.ONCE, ...shown },
    },
    {
      label: vscode.l10n.t('Always Start in This Workspace'),
      choice: { kind: 'accept', scope: ApprovalScope.WORKSPACE, ...shown },
    },
  ];
}

/** Returns every fact that the card shows, one on each line. */
function launchText(launch: ServerLaunch): string {
  const dangers = loadsCode(launch, vscode.l10n);
  const from = { label: vscode.l10n.t('Comes from'), values: [`${launch.configFile}:${launch.configLine}`] };
  return [
    oneLine(launchOrigin(launch, vscode.l10n)),
    launch.url === '' ? visible(commandLine(launch.command, launch.args)) : oneLine(launch.url),
    ...(dangers.length === 0
      ? []
      : [vscode.l10n.t('Danger: the file sets what can make the program load other code: {0}', listed(dangers))]),
    ...[from, ...launchFacts(launch, vscode.l10n)].map(({ label, values }) => `${label}: ${listed(values)}`),
    ...(launch.changed ? [vscode.l10n.t('It has changed since you agreed to it. McpHub shows the difference.')] : []),
  ].join('\n');
}

/** Returns a command line in which every part whose end would not be clear is quoted. */
export function commandLine(command: string, args: readonly string[]): string {
  return [command, ...args].map((one) => word(one, /^[\w@%+=:,./\\${}-]+$/u)).join(' ');
}

const word = (text: string, plain: RegExp): string => (plain.test(text) ? text : JSON.stringify(text));

/** Returns values on one line. One that contains a comma is quoted, since it would look like two. */
const listed = (values: readonly string[]): string => values.map((one) => oneLine(word(one, /^[^,"\n]*$/u))).join(', ');

/** Spells out line breaks, which would look like the dialog's own. */
function oneLine(text: string): string {
  return visible(text).replaceAll('\n', '⟨U+000A⟩');
}
