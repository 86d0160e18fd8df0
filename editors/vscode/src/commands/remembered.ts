// The command that forgets answers: those that the hub remembers, and the values of inputs that the editor stores.
import * as vscode from 'vscode';
import { ApprovalScope, RememberedKind } from '@mcphub/host/contract';
import type { Remembered } from '@mcphub/host/contract';
import type { CommandWorld } from './commandworld.js';
import { inPick } from '../plaintext.js';
import type { InputName } from '../questions/secretkeys.js';

interface Item extends vscode.QuickPickItem {
  readonly rememberedId?: string;
  readonly kept?: InputName;
}

export async function forgetRemembered(world: CommandWorld): Promise<void> {
  const { remembered } = await world.process.hub.servers.listRemembered({});
  const items: Item[] = [
    ...remembered.map((r) => ({ ...words(r), rememberedId: r.rememberedId })),
    ...world.secrets.kept().map((kept) => ({
      label: vscode.l10n.t('Value of the input {0}', inPick(kept.inputId)),
      description: vscode.l10n.t('Stored by the editor'),
      detail: inPick(kept.file),
      kept,
    })),
  ];
  if (items.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('There are no remembered answers.'));
    return;
  }
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Forget Remembered Answers'),
    canPickMany: true,
    placeHolder: vscode.l10n.t('Select the answers that McpHub asks for again'),
  });
  if (chosen === undefined || chosen.length === 0) {
    return;
  }
  const ids = chosen.flatMap((item) => item.rememberedId ?? []);
  if (ids.length > 0) {
    await world.process.hub.servers.forget({ rememberedIds: ids });
  }
  for (const { kept } of chosen) {
    if (kept !== undefined) {
      await world.secrets.forget(kept);
    }
  }
}

const scopeWords = (): Readonly<Record<ApprovalScope, string>> => ({
  [ApprovalScope.UNSPECIFIED]: '',
  [ApprovalScope.ONCE]: vscode.l10n.t('Until McpHub ends'),
  [ApprovalScope.WINDOW]: vscode.l10n.t('For this window'),
  [ApprovalScope.ALWAYS]: vscode.l10n.t('Always'),
  [ApprovalScope.WORKSPACE]: vscode.l10n.t('In this workspace'),
});

function words(r: Remembered): { label: string; description: string; detail: string } {
  const what =
    r.kind === RememberedKind.TOOL_APPROVAL
      ? vscode.l10n.t('Call the tool {0} of {1}', inPick(r.tool), inPick(r.server))
      : r.kind === RememberedKind.SERVER_LAUNCH
        ? vscode.l10n.t('Start the server {0}', inPick(r.server))
        : vscode.l10n.t('Value of the input {0}', inPick(r.inputId));
  return { label: what, description: scopeWords()[r.scope], detail: r.folders.map((f) => inPick(f)).join(', ') };
}
