// Opening pages of servers in the outside browser: only after the hub has taken the yes, and only pages of the web.
import * as vscode from 'vscode';
import { webUrl } from './weburl.js';

export async function openOutside(url: string): Promise<void> {
  const checked = webUrl(url);
  if (checked === undefined) {
    void vscode.window.showErrorMessage(vscode.l10n.t('This address is not opened: it is neither http nor https.'));
    return;
  }
  // The string and not a Uri: the editor takes both, and only the string keeps the escapes of the query as they are,
  // which sign-ins depend on.
  const opened = await vscode.env.openExternal(checked as unknown as vscode.Uri);
  if (!opened) {
    const copy = vscode.l10n.t('Copy Address');
    if (
      (await vscode.window.showWarningMessage(vscode.l10n.t('The page was not opened in a browser.'), copy)) === copy
    ) {
      await vscode.env.clipboard.writeText(checked);
    }
  }
}
