// The texts and choices with which the editor's own messages show a prompt while no page is visible.
import * as vscode from 'vscode';
import { ApprovalScope } from '@mcphub/host/contract';
import type { Prompt, ToolApproval } from '@mcphub/host/contract';
import { inMessage, inPick, quoted, visible } from '../plaintext.js';
import type { ChoiceItem } from './choice.js';
import { launchQuestion } from './launch.js';
import { cutForDialog, fitsDialog } from './dialogsize.js';

export interface Question {
  /** A person has to look: a dialog, while no page is visible. */
  readonly dangerous: boolean;
  /** One line that begins with the server, of at most `mostInTitle` characters, safe in a notification. */
  readonly title: string;
  readonly detail: string; // full text for a dialog or a pick list, with invisible characters spelled out
  /**
   * The answers that need no page, the harmless ones first: the first has the focus. If there is no accept, accepting
   * needs a form that only the page has, or the dialog has no room for everything.
   */
  readonly choices: readonly ChoiceItem[];
}

/** How much of a notification is read at a glance, before its button. */
export const mostInTitle = 60;
const mostOfServer = 20;
/** How much of a name the detail shows. A server may send one that is as long as a message. */
const mostOfName = 200;

/** @param room characters of the title */
export function question(prompt: Prompt, room = mostInTitle): Question {
  const title = (words: (server: string, subject: string) => string, subject = ''): string =>
    titleOf(prompt.server, words, subject, room);
  const open = { label: vscode.l10n.t('Open in McpHub'), choice: { kind: 'open' } } as const;
  const decline = (label = vscode.l10n.t('Decline')): ChoiceItem => ({ label, choice: { kind: 'decline' } });
  const asked = prompt.question;
  switch (asked.case) {
    case 'toolApproval': {
      const { tool, title: named, definitionJson, previousDefinitionJson } = asked.value;
      const changed = previousDefinitionJson !== '';
      const detail = approvalText(asked.value);
      return {
        // A server's statement about its own tool is only a hint. It may make the form more prominent, but never less
        // than a notification.
        dangerous: changed || saysDestructive(definitionJson),
        title: changed
          ? title((server, name) => vscode.l10n.t('{0}: Run {1}, which has changed?', server, name), named || tool)
          : title((server, name) => vscode.l10n.t('{0}: Run {1}?', server, name), named || tool),
        detail: cutForDialog(detail),
        choices: [
          open,
          decline(vscode.l10n.t('Deny')),
          ...(changed || !fitsDialog(detail)
            ? []
            : [
                accept(vscode.l10n.t('Allow Once'), ApprovalScope.ONCE),
                accept(vscode.l10n.t('Allow in This Workspace'), ApprovalScope.WORKSPACE),
                accept(vscode.l10n.t('Always Allow'), ApprovalScope.ALWAYS),
              ]),
        ],
      };
    }
    case 'serverLaunch': {
      const { detail, accepts } = launchQuestion(asked.value);
      return {
        dangerous: true,
        title:
          asked.value.url === ''
            ? title((server) => vscode.l10n.t('{0}: Start this server?', server))
            : title((server) => vscode.l10n.t('{0}: Connect to this server?', server)),
        detail,
        choices: [open, decline(vscode.l10n.t('Don’t Start')), ...accepts],
      };
    }
    case 'sampling':
      return {
        dangerous: false,
        title: title((server) => vscode.l10n.t('{0}: Answer with your model?', server)),
        detail: '',
        choices: [open, decline(vscode.l10n.t('Deny'))],
      };
    case 'elicitationForm':
      return {
        dangerous: false,
        title: title((server, message) => vscode.l10n.t('{0} asks: {1}', server, message), asked.value.message),
        detail: visible(asked.value.message),
        choices: [open, decline()],
      };
    case 'elicitationUrl': {
      const { waiting, urlHost, url, message } = asked.value;
      return {
        dangerous: false,
        title: waiting
          ? title((server, host) => vscode.l10n.t('{0}: Finished on {1}?', server, host), urlHost)
          : title((server, host) => vscode.l10n.t('{0}: Open {1}?', server, host), urlHost),
        detail: visible([url, message].filter(Boolean).join('\n')),
        choices: [open, decline(), ...(waiting ? [accept(vscode.l10n.t('Confirm'), ApprovalScope.ONCE)] : [])],
      };
    }
    case 'signIn': {
      const { waiting, urlHost, url } = asked.value;
      return {
        dangerous: false,
        title: waiting
          ? title((server, host) => vscode.l10n.t('{0}: Waiting for your sign-in on {1}', server, host), urlHost)
          : title((server, host) => vscode.l10n.t('{0}: Sign in on {1}?', server, host), urlHost),
        detail: visible(url),
        choices: [open, waiting ? decline(vscode.l10n.t('Cancel Sign-In')) : decline()],
      };
    }
    case 'configInput': {
      const { description, inputId, configFile, configLine } = asked.value;
      return {
        dangerous: false,
        title: title((server, name) => vscode.l10n.t('{0}: Enter a value: {1}', server, name), description || inputId),
        detail: vscode.l10n.t('Comes from: {0}', `${visible(configFile)}:${configLine}`),
        choices: [open, decline()],
      };
    }
    default:
      return {
        dangerous: false,
        title: title((server) => vscode.l10n.t('{0}: Update McpHub to see this question', server)),
        detail: '',
        choices: [open, decline()],
      };
  }
}

/** Returns the sentence for a prompt that was answered after it had closed. */
export function goneSentence(prompt: Prompt): string {
  return vscode.l10n.t('The question of {0} is no longer open.', quoted(prompt.server));
}

/** Returns the label of a prompt in a pick list. */
export function questionLabel(prompt: Prompt): string {
  return inPick(question(prompt).title);
}

/** Gives the server its part of the line, and the subject what the words of the reader's language leave. */
function titleOf(
  name: string,
  words: (server: string, subject: string) => string,
  subject: string,
  room: number,
): string {
  const server = inMessage(name, mostOfServer);
  const left = room - Array.from(words(server, '')).length;
  return words(server, inMessage(subject, Math.max(1, left)));
}

function approvalText({ tool, title, argumentsJson, previousDefinitionJson }: ToolApproval): string {
  const name =
    title === '' || title === tool
      ? quoted(tool, mostOfName)
      : `${quoted(title, mostOfName)} (${quoted(tool, mostOfName)})`;
  return [
    vscode.l10n.t('Tool: {0}', name),
    argumentsJson === '' ? vscode.l10n.t('No arguments') : vscode.l10n.t('Arguments: {0}', visible(argumentsJson)),
    ...(previousDefinitionJson === ''
      ? []
      : [vscode.l10n.t('The server has changed this tool since you allowed it. McpHub shows the difference.')]),
  ].join('\n');
}

// Reports whether the server itself says that the tool is destructive. The contract's destructive_hint is also true if
// the server says nothing, as MCP defines it; that would mean a dialog for nearly every tool.
function saysDestructive(definitionJson: string): boolean {
  try {
    const definition = JSON.parse(definitionJson) as { annotations?: { destructiveHint?: unknown } } | null;
    return definition?.annotations?.destructiveHint === true;
  } catch {
    return true;
  }
}

function accept(label: string, scope: ApprovalScope): ChoiceItem {
  return { label, choice: { kind: 'accept', scope } };
}
