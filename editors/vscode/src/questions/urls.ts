// Opens pages of servers in an external browser: only after the hub has accepted the consent, and only http and https.
import * as vscode from 'vscode';
import { webUrl } from './weburl.js';

export async function openOutside(url: string): Promise<void> {
  const checked = webUrl(url);
  if (checked === undefined) {
    void vscode.window.showErrorMessage(vscode.l10n.t('McpHub opens only http and https addresses.'));
    return;
  }
  // A string, not a Uri: the editor accepts both, but only a string keeps the escapes of the query unchanged, on which
  // sign-ins depend.
  const opened = await vscode.env.openExternal(checked as unknown as vscode.Uri);
  if (!opened) {
    const copy = vscode.l10n.t('Copy Address');
    if (
      (await vscode.window.showWarningMessage(vscode.l10n.t('Unable to open the page in a browser.'), copy)) === copy
    ) {
      await vscode.env.clipboard.writeText(checked);
    }
  }
}
