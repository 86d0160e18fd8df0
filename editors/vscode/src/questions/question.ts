// A prompt as the editor's own messages show it while no page can be seen: in which form, in which words, with which
// choices.
import * as vscode from 'vscode';
import { ApprovalScope } from '@mcphub/host';
import type { Prompt } from '@mcphub/host';
import { inPick, quoted, visible } from '../plaintext.js';
import type { ChoiceItem } from './choice.js';
import { launchQuestion } from './launch.js';

export interface Question {
  /**
   * modal: dangerous, somebody must look. notification: a corner of the window. waiting: nothing to decide, something
   * goes on elsewhere.
   */
  readonly form: 'modal' | 'notification' | 'waiting';
  readonly title: string; // one line, safe in a notification
  readonly detail: string; // whole, for a modal or a pick list; visible text
  /**
   * The answers that need no page, the harmless ones first: the first has the focus. Without accept, it takes a form
   * that only the page has.
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
      // What a server says of its own tool is a hint. It may make a question louder, never quieter than a notification.
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

/** The one sentence that tells how a question ended that was answered too late. */
export function goneSentence(prompt: Prompt | undefined): string {
  return prompt === undefined
    ? vscode.l10n.t('This question is no longer open.')
    : vscode.l10n.t('The question of {0} is no longer open.', quoted(prompt.server));
}

// The contract's destructive_hint is true too when the server says nothing, as the protocol has it; that would be a
// dialog for nearly every tool.
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

/** The name of a prompt in a pick list. */
export function questionLabel(prompt: Prompt): string {
  return inPick(question(prompt).title);
}
