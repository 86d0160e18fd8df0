// The command that forgets answers: those that the hub remembers, and the values of inputs that the editor keeps.
import * as vscode from 'vscode';
import { ApprovalScope, RememberedKind } from '@mcphub/host';
import type { Remembered } from '@mcphub/host';
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
      label: `Value of the input ${inPick(kept.inputId)}`,
      description: 'kept by the editor',
      detail: inPick(kept.file),
      kept,
    })),
  ];
  if (items.length === 0) {
    void vscode.window.showInformationMessage('Nothing is remembered.');
    return;
  }
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Forget Remembered Answers',
    canPickMany: true,
    placeHolder: 'What is forgotten is asked again',
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

const scopeWords: Readonly<Record<ApprovalScope, string>> = {
  [ApprovalScope.UNSPECIFIED]: '',
  [ApprovalScope.ONCE]: 'for this hub',
  [ApprovalScope.WINDOW]: 'for this window',
  [ApprovalScope.ALWAYS]: 'always',
  [ApprovalScope.WORKSPACE]: 'in this workspace',
};

function words(r: Remembered): { label: string; description: string; detail: string } {
  const what =
    r.kind === RememberedKind.TOOL_APPROVAL
      ? `Tool ${inPick(r.tool)} of ${inPick(r.server)} may be called`
      : r.kind === RememberedKind.SERVER_LAUNCH
        ? `Server ${inPick(r.server)} may be started`
        : `Value of the input ${inPick(r.inputId)}`;
  return { label: what, description: scopeWords[r.scope], detail: r.folders.map((f) => inPick(f)).join(', ') };
}
