// Runs work with a notification in which the user can stop it.
import * as vscode from 'vscode';

/** Resolves to undefined if the user has stopped the work: that is not an error to show. */
export async function withStop<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const abort = new AbortController();
  try {
    return await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, cancellable: true, title },
      (_, token) => {
        token.onCancellationRequested(() => abort.abort(new Error('the user has stopped it in the editor')));
        return work(abort.signal);
      },
    );
  } catch (error) {
    if (abort.signal.aborted) {
      return undefined;
    }
    throw error;
  }
}
