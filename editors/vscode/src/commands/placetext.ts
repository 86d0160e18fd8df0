// Puts a text of a server where the user wants it. The text is never sent anywhere.
import * as vscode from 'vscode';

const chatCommand = 'workbench.action.chat.open';

/** Asks where a text is to be put, and puts it there. */
export async function placeText(text: string, title: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const chat = (await vscode.commands.getCommands(true)).includes(chatCommand);
  const places = [
    ...(editor === undefined
      ? []
      : [{ label: vscode.l10n.t('Insert into the active editor'), put: () => insertText(text) }]),
    { label: vscode.l10n.t('Open in a new editor'), put: () => openText(text) },
    ...(chat ? [{ label: vscode.l10n.t('Insert into the chat input'), put: () => toChat(text) }] : []),
    { label: vscode.l10n.t('Copy to the clipboard'), put: () => vscode.env.clipboard.writeText(text) },
  ];
  const chosen = await vscode.window.showQuickPick(places, { title });
  await chosen?.put();
}

/** Replaces the selection in the active editor. If there is no active editor, it opens a new one. */
export async function insertText(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    await openText(text);
    return;
  }
  const done = await editor.edit((edit) => editor.selections.forEach((selection) => edit.replace(selection, text)));
  if (!done) {
    throw new Error(vscode.l10n.t('Unable to insert into the active editor. Open a new editor instead.'));
  }
}

async function openText(content: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ language: 'markdown', content });
  await vscode.window.showTextDocument(document);
}

/** Puts the text into the chat's input. Whether it is sent, the user decides. */
export async function toChat(query: string): Promise<void> {
  if (!(await vscode.commands.getCommands(true)).includes(chatCommand)) {
    throw new Error(vscode.l10n.t('Chat is not available in this editor.'));
  }
  await vscode.commands.executeCommand(chatCommand, { query, isPartialQuery: true });
}
