// The command that calls a tool: the user picks a server and a tool, types arguments, and can watch and stop the call.
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { HubError, ServerState } from '@mcphub/host/contract';
import type { CallToolResponse, Server, Tool } from '@mcphub/host/contract';
import type { CommandWorld } from './commandworld.js';
import { describe } from '../hub/hubprocess.js';
import { pickServer, serverNamed } from './picks.js';
import { inMessage, inPick, quoted } from '../plaintext.js';
import { withStop } from './stoppable.js';
import { argumentsProblem, skeleton, takesArguments } from './toolarguments.js';

/** Calls a tool of the named server, or of one that the user picks. */
export async function callTool(world: CommandWorld, named?: unknown): Promise<void> {
  const usable = (s: Server): boolean => s.state !== ServerState.DISABLED && s.state !== ServerState.BROKEN;
  const server =
    (await serverNamed(world, named)) ?? (await pickServer(world, vscode.l10n.t('Call Tool: Select a Server'), usable));
  if (server === undefined) {
    return;
  }
  const tool = await pickTool(world, server.name);
  const argumentsJson = tool === undefined ? undefined : await typeArguments(tool);
  if (tool === undefined || argumentsJson === undefined) {
    return;
  }
  const requestId = randomUUID();
  const title = vscode.l10n.t('{0} of {1}', quoted(tool.name), quoted(server.name));
  let cancelled = false;
  const call = vscode.window.withProgress<CallToolResponse | undefined>(
    { location: vscode.ProgressLocation.Notification, cancellable: true, title },
    async (progress, token) => {
      const stop = world.watcher.listen({
        event: ({ event }) => {
          if (
            event.case === 'mcpRequestProgressed'
            && event.value.requestId === requestId
            && event.value.progress !== undefined
          ) {
            progress.report({ message: inMessage(event.value.progress.message) });
          }
        },
      });
      token.onCancellationRequested(() => {
        cancelled = true;
        world.cancel(requestId, 'cancelled in the editor').catch((error: unknown) => {
          void vscode.window.showErrorMessage(
            vscode.l10n.t('Unable to cancel {0}: {1}', title, inMessage(describe(error), 300)),
          );
        });
      });
      try {
        // The user has picked the tool and typed the arguments, which is the approval.
        return await world.process.hub.requests.callTool({
          requestId,
          server: server.name,
          tool: tool.name,
          argumentsJson,
          preapproved: true,
        });
      } finally {
        stop();
      }
    },
  );
  try {
    const response = await call;
    if (response !== undefined) {
      await showResponse(world, tool, response);
    }
  } catch (error) {
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- set in a callback
    if (!cancelled || !(error instanceof HubError && error.code === 'cancelled')) {
      void vscode.window.showErrorMessage(`${title}: ${inMessage(describe(error), 300)}`);
    }
  }
}

async function pickTool(world: CommandWorld, server: string): Promise<Tool | undefined> {
  const listed = await withStop(vscode.l10n.t('Listing the tools of {0}…', quoted(server)), (signal) =>
    world.process.hub.servers.listTools({ server }, { signal }),
  );
  if (listed === undefined) {
    return undefined;
  }
  const items = listed.tools.map((tool) => ({
    label: inPick(tool.name),
    description: inPick(tool.title),
    detail: inPick(tool.description),
    tool,
  }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('The server {0} has no tools.', quoted(server)));
    return undefined;
  }
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Call Tool of {0}', inMessage(server)),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.tool;
}

/** Resolves to the JSON text of the arguments as it was typed, or undefined if the user cancelled. */
async function typeArguments(tool: Tool): Promise<string | undefined> {
  if (!takesArguments(tool.definitionJson)) {
    return '{}';
  }
  const start = skeleton(tool.definitionJson);
  const typed = await typeInBox(tool, start);
  return typed === undefined || 'json' in typed ? typed?.json : typeInEditor(tool, typed.edit);
}

function typeInBox(tool: Tool, start: string): Promise<{ json: string } | { edit: string } | undefined> {
  return new Promise((resolve) => {
    const box = vscode.window.createInputBox();
    const edit: vscode.QuickInputButton = {
      iconPath: new vscode.ThemeIcon('edit'),
      tooltip: vscode.l10n.t('Edit in Editor'),
    };
    box.title = vscode.l10n.t('Arguments of {0}', inMessage(tool.name));
    box.prompt = vscode.l10n.t('Enter the arguments as a JSON object');
    box.value = start;
    box.ignoreFocusOut = true;
    box.buttons = [edit];
    const check = (): boolean => {
      box.validationMessage = argumentsProblem(box.value);
      return box.validationMessage === undefined;
    };
    box.onDidChangeValue(check);
    box.onDidTriggerButton(() => {
      resolve({ edit: box.value });
      box.hide();
    });
    box.onDidAccept(() => {
      if (check()) {
        resolve({ json: box.value });
        box.hide();
      }
    });
    box.onDidHide(() => {
      resolve(undefined);
      box.dispose();
    });
    box.show();
  });
}

async function typeInEditor(tool: Tool, start: string): Promise<string | undefined> {
  const pretty =
    argumentsProblem(start) === undefined && start.trim() !== ''
      ? JSON.stringify(JSON.parse(start), undefined, 2)
      : start;
  const document = await vscode.workspace.openTextDocument({ language: 'json', content: `${pretty}\n` });
  await vscode.window.showTextDocument(document);
  for (let problem = ''; ;) {
    const call = vscode.l10n.t('Call Tool');
    const text = problem + vscode.l10n.t('Call {0} with the JSON in the editor?', quoted(tool.name));
    if ((await vscode.window.showInformationMessage(text, call)) !== call) {
      return undefined;
    }
    const wrong = argumentsProblem(document.getText());
    if (wrong === undefined) {
      return document.getText();
    }
    problem = `${inMessage(wrong, 200)}. `;
  }
}

async function showResponse(world: CommandWorld, tool: Tool, response: CallToolResponse): Promise<void> {
  const { outcome } = response;
  if (outcome.case === 'error') {
    void vscode.window.showErrorMessage(
      vscode.l10n.t(
        '{0} failed with error {1}: {2}',
        quoted(tool.name),
        String(outcome.value.code),
        inMessage(outcome.value.message, 300),
      ),
    );
    return;
  }
  await world.documents.show(`${tool.name}-result`, outcome.value ?? '');
  if (response.isError) {
    void vscode.window.showWarningMessage(vscode.l10n.t('{0} failed. Its result is in the editor.', quoted(tool.name)));
  }
}
