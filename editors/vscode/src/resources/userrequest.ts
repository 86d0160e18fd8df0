// A request of a command: a notification shows it, and the user can cancel it there with origin user.
import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { HubError } from '@mcphub/host/contract';
import type { McpError } from '@mcphub/host/contract';
import { describe } from '../hub/hubprocess.js';
import { inMessage } from '../plaintext.js';

/** A server's answer to such a request. */
export interface Answered {
  readonly outcome:
    | { readonly case: 'resultJson'; readonly value: string }
    | { readonly case: 'error'; readonly value: McpError }
    | { readonly case: undefined; readonly value?: undefined };
}

/** Returns the result as JSON text. For a server's error it throws an Error with a text for people. */
export function resultOf({ outcome }: Answered): string {
  if (outcome.case === 'error') {
    throw new Error(
      vscode.l10n.t(
        'The server returned error {0}: {1}',
        String(outcome.value.code),
        inMessage(outcome.value.message, 300),
      ),
    );
  }
  return outcome.value ?? '{}';
}

/** Resolves to the result as JSON text, or to undefined if the user has cancelled the request. */
export async function userRequest(
  world: { readonly cancel: (requestId: string, reason: string) => Promise<unknown> },
  title: string,
  make: (requestId: string) => Promise<Answered>,
): Promise<string | undefined> {
  const requestId = randomUUID();
  let cancelled = false;
  try {
    return await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, cancellable: true, title },
      async (_, token) => {
        token.onCancellationRequested(() => {
          cancelled = true;
          world.cancel(requestId, 'cancelled in the editor').catch((error: unknown) => {
            void vscode.window.showErrorMessage(
              vscode.l10n.t('Unable to cancel {0}: {1}', title, inMessage(describe(error), 300)),
            );
          });
        });
        return resultOf(await make(requestId));
      },
    );
  } catch (error) {
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- set in a callback
    if (cancelled && error instanceof HubError && error.code === 'cancelled') {
      return undefined;
    }
    throw error;
  }
}
