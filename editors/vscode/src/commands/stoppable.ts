// Work that the user watches as a notification and can stop there.
import * as vscode from 'vscode';

/** Resolves to undefined when the user has stopped it: that is no trouble to be told. */
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
