// A prompt as the editor's own messages show it while no page can be seen: in which form, in which words, with which
// choices.
import { ApprovalScope } from '@mcphub/host';
import type { Prompt } from '@mcphub/host';
import { inPick, quoted, visible } from '../plaintext.js';

/** What a click chooses. Later: the question stays open, in the view and in the status bar. */
export type Choice =
  | { readonly kind: 'accept'; readonly scope: ApprovalScope }
  | { readonly kind: 'decline' }
  | { readonly kind: 'dismiss' }
  | { readonly kind: 'open' }
  | { readonly kind: 'later' };

export interface ChoiceItem {
  readonly label: string;
  readonly detail?: string;
  readonly choice: Choice;
}

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

const open: ChoiceItem = { label: 'Show in McpHub', choice: { kind: 'open' } };

export function question(prompt: Prompt): Question {
  const server = quoted(prompt.server);
  const asked = prompt.question;
  switch (asked.case) {
    case 'toolApproval': {
      const { tool, argumentsJson, definitionJson, previousDefinitionJson } = asked.value;
      const changed = previousDefinitionJson !== '';
      // What a server says of its own tool is a hint. It may make a question louder, never quieter than a notification.
      const form = changed || saysDestructive(definitionJson) ? 'modal' : 'notification';
      const change = changed
        ? '\nThe server has changed this tool since you allowed it: see the difference in McpHub.'
        : '';
      return {
        form,
        title: `May the tool ${quoted(tool)} of ${server} be called?`,
        detail: `${visible(argumentsJson === '' ? 'Without arguments.' : `Arguments: ${argumentsJson}`)}${change}`,
        choices: changed
          ? [open, decline('Deny')]
          : [
              open,
              decline('Deny'),
              accept('Allow Once', ApprovalScope.ONCE),
              accept('Allow in This Workspace', ApprovalScope.WORKSPACE),
              accept('Always Allow', ApprovalScope.ALWAYS),
            ],
      };
    }
    case 'serverLaunch': {
      const launch = asked.value;
      const run = launch.url === '' ? commandLine(launch.command, launch.args) : launch.url;
      const path = [launch.resolvedCommand, launch.resolvedTarget].filter((part) => part !== '').join(' -> ');
      const found = launch.resolvedFrom === '' ? '' : ` (found in ${visible(launch.resolvedFrom)})`;
      const program = launch.resolvedCommand === '' ? '' : `\nProgram: ${visible(path)}${found}`;
      const loading = launch.environment
        .filter((v) => v.loadsCode)
        .map((v) => visible(v.unset ? `${v.name} (taken away)` : `${v.name}=${v.value}`));
      const danger =
        loading.length === 0
          ? ''
          : `\nDANGER: it sets what can make the program load other code: ${loading.join(', ')}`;
      const change = launch.changed ? '\nIt has changed since you agreed to it: see the difference in McpHub.' : '';
      const names = [...launch.environmentReferences, ...launch.inputReferences];
      const sees = names.length === 0 ? '' : `\nIt would see the values of: ${names.map(visible).join(', ')}`;
      const from = `\nFrom: ${visible(launch.configFile)}:${launch.configLine}`;
      const inherits =
        launch.inheritedNames.length === 0
          ? ''
          : `\nIt inherits your settings: ${launch.inheritedNames.map(visible).join(', ')}`;
      return {
        form: 'modal',
        title: `May the server ${server} of this workspace be ${launch.url === '' ? 'started' : 'connected to'}?`,
        detail: `${visible(run)}${program}${danger}${from}${sees}${inherits}${change}`,
        // What a file may want beyond a command line (allow lists, other files, differences) is more than a dialog can
        // show.
        choices:
          launch.changed || loading.length > 0 || launch.allowedTools.length > 0 || launch.files.length > 0
            ? [open, decline('Do Not Start')]
            : [
                open,
                decline('Do Not Start'),
                accept('Start This Time', ApprovalScope.ONCE),
                accept('Start Whenever This Workspace Is Open', ApprovalScope.WORKSPACE),
              ],
      };
    }
    case 'sampling':
      return {
        form: 'notification',
        title: `The server ${server} asks for a completion of your model.`,
        detail: '',
        choices: [open, decline('Deny')],
      };
    case 'elicitationForm':
      return {
        form: 'notification',
        title: `The server ${server} asks: ${quoted(asked.value.message)}`,
        detail: visible(asked.value.message),
        choices: [open, decline('Decline')],
      };
    case 'elicitationUrl': {
      const { waiting, urlHost, url, message } = asked.value;
      if (waiting) {
        return {
          form: 'waiting',
          title: `Have you finished on ${quoted(urlHost)} for the server ${server}?`,
          detail: visible(url),
          choices: [open, decline('No'), accept('I Have Finished', ApprovalScope.ONCE)],
        };
      }
      return {
        form: 'notification',
        title: `The server ${server} asks you to visit ${quoted(urlHost)}: ${quoted(message)}`,
        detail: visible(url),
        choices: [open, decline('Decline')],
      };
    }
    case 'signIn': {
      const { waiting, urlHost, url } = asked.value;
      if (waiting) {
        return {
          form: 'waiting',
          title: `Waiting until you have signed in to ${server} on ${quoted(urlHost)}, in the browser.`,
          detail: visible(url),
          choices: [open, decline('Stop')],
        };
      }
      return {
        form: 'notification',
        title: `The server ${server} wants you to sign in on ${quoted(urlHost)}.`,
        detail: visible(url),
        choices: [open, decline('Decline')],
      };
    }
    case 'configInput':
      return {
        form: 'notification',
        title: `The config of ${server} needs a value: ${quoted(asked.value.description === '' ? asked.value.inputId : asked.value.description)}`,
        detail: `From: ${visible(asked.value.configFile)}:${asked.value.configLine}`,
        choices: [open, decline('Decline')],
      };
    default:
      return {
        form: 'notification',
        title: `The server ${server} asks something that this version of the extension does not know.`,
        detail: '',
        choices: [open, decline('Decline')],
      };
  }
}

/** The one sentence that tells how a question ended that was answered too late. */
export function goneSentence(prompt: Prompt | undefined): string {
  return prompt === undefined
    ? 'This question is no longer open.'
    : `The question of ${quoted(prompt.server)} is no longer open.`;
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

/** A command with arguments, each in quotes where it would otherwise not be seen where it ends. */
export function commandLine(command: string, args: readonly string[]): string {
  return [command, ...args]
    .map((word) => (/^[\w@%+=:,./\\${}-]+$/u.test(word) ? word : JSON.stringify(word)))
    .join(' ');
}

/** The name of a prompt in a pick list. */
export function questionLabel(prompt: Prompt): string {
  return inPick(question(prompt).title);
}
