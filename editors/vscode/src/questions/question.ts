// The form, texts and choices with which the editor's own messages show a prompt while no page is visible.
import * as vscode from 'vscode';
import { ApprovalScope } from '@mcphub/host';
import type { Prompt } from '@mcphub/host';
import { inPick, quoted, visible } from '../plaintext.js';
import type { ChoiceItem } from './choice.js';
import { launchQuestion } from './launch.js';

export interface Question {
  /**
   * modal: dangerous, a person has to look. notification: a message in a corner of the window. waiting: nothing to
   * decide, something is in progress elsewhere.
   */
  readonly form: 'modal' | 'notification' | 'waiting';
  readonly title: string; // one line, safe in a notification
  readonly detail: string; // full text for a modal or a pick list, with invisible characters spelled out
  /**
   * The answers that need no page, the harmless ones first: the first has the focus. If there is no accept, accepting
   * needs a form that only the page has.
   */
  readonly choices: readonly ChoiceItem[];
}

const showIt = (): ChoiceItem => ({ label: vscode.l10n.t('Show in McpHub'), choice: { kind: 'open' } });

export function question(prompt: Prompt): Question {
  const server = quoted(prompt.server);
  const open = showIt();
  const asked = prompt.question;
  switch (asked.case) {
    case 'toolApproval': {
      const { tool, title, argumentsJson, definitionJson, previousDefinitionJson } = asked.value;
      const name = title === '' || title === tool ? quoted(tool) : `${quoted(title)} (${quoted(tool)})`;
      const changed = previousDefinitionJson !== '';
      // A server's statement about its own tool is only a hint. It may make the form more prominent, but never less
      // than a notification.
      const form = changed || saysDestructive(definitionJson) ? 'modal' : 'notification';
      const change = changed
        ? `\n${vscode.l10n.t('The server has changed this tool since you allowed it: see the difference in McpHub.')}`
        : '';
      return {
        form,
        title: vscode.l10n.t('May the tool {0} of {1} be called?', name, server),
        detail: `${visible(argumentsJson === '' ? vscode.l10n.t('Without arguments.') : vscode.l10n.t('Arguments: {0}', argumentsJson))}${change}`,
        choices: changed
          ? [open, decline(vscode.l10n.t('Deny'))]
          : [
              open,
              decline(vscode.l10n.t('Deny')),
              accept(vscode.l10n.t('Allow Once'), ApprovalScope.ONCE),
              accept(vscode.l10n.t('Allow in This Workspace'), ApprovalScope.WORKSPACE),
              accept(vscode.l10n.t('Always Allow'), ApprovalScope.ALWAYS),
            ],
      };
    }
    case 'serverLaunch': {
      const { title, detail, accepts } = launchQuestion(asked.value, server);
      return {
        form: 'modal',
        title,
        detail,
        choices: [open, decline(vscode.l10n.t('Do Not Start')), ...accepts],
      };
    }
    case 'sampling':
      return {
        form: 'notification',
        title: vscode.l10n.t('The server {0} asks for a completion of your model.', server),
        detail: '',
        choices: [open, decline(vscode.l10n.t('Deny'))],
      };
    case 'elicitationForm':
      return {
        form: 'notification',
        title: vscode.l10n.t('The server {0} asks: {1}', server, quoted(asked.value.message)),
        detail: visible(asked.value.message),
        choices: [open, decline(vscode.l10n.t('Decline'))],
      };
    case 'elicitationUrl': {
      const { waiting, urlHost, url, message } = asked.value;
      if (waiting) {
        return {
          form: 'waiting',
          title: vscode.l10n.t('Have you finished on {0} for the server {1}?', quoted(urlHost), server),
          detail: visible(url),
          choices: [open, decline(vscode.l10n.t('No')), accept(vscode.l10n.t('I Have Finished'), ApprovalScope.ONCE)],
        };
      }
      return {
        form: 'notification',
        title: vscode.l10n.t('The server {0} asks you to visit {1}: {2}', server, quoted(urlHost), quoted(message)),
        detail: visible(url),
        choices: [open, decline(vscode.l10n.t('Decline'))],
      };
    }
    case 'signIn': {
      const { waiting, urlHost, url } = asked.value;
      if (waiting) {
        return {
          form: 'waiting',
          title: vscode.l10n.t(
            'Waiting until you have signed in to {0} on {1}, in the browser.',
            server,
            quoted(urlHost),
          ),
          detail: visible(url),
          choices: [open, decline(vscode.l10n.t('Stop'))],
        };
      }
      return {
        form: 'notification',
        title: vscode.l10n.t('The server {0} wants you to sign in on {1}.', server, quoted(urlHost)),
        detail: visible(url),
        choices: [open, decline(vscode.l10n.t('Decline'))],
      };
    }
    case 'configInput':
      return {
        form: 'notification',
        title: vscode.l10n.t(
          'The config of {0} needs a value: {1}',
          server,
          quoted(asked.value.description === '' ? asked.value.inputId : asked.value.description),
        ),
        detail: vscode.l10n.t('From: {0}', `${visible(asked.value.configFile)}:${asked.value.configLine}`),
        choices: [open, decline(vscode.l10n.t('Decline'))],
      };
    default:
      return {
        form: 'notification',
        title: vscode.l10n.t('The server {0} asks something that this version of the extension does not know.', server),
        detail: '',
        choices: [open, decline(vscode.l10n.t('Decline'))],
      };
  }
}

/** Returns the sentence for a prompt that was answered after it had closed. */
export function goneSentence(prompt: Prompt | undefined): string {
  return prompt === undefined
    ? vscode.l10n.t('This question is no longer open.')
    : vscode.l10n.t('The question of {0} is no longer open.', quoted(prompt.server));
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

function decline(label: string): ChoiceItem {
  return { label, choice: { kind: 'decline' } };
}

function accept(label: string, scope: ApprovalScope): ChoiceItem {
  return { label, choice: { kind: 'accept', scope } };
}

/** Returns the label of a prompt in a pick list. */
export function questionLabel(prompt: Prompt): string {
  return inPick(question(prompt).title);
}
