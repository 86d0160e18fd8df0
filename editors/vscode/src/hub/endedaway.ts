// Shows what the previous hub ended because no host came back in time. It is shown once, for the first snapshot that
// contains it.
import * as vscode from 'vscode';
import { RequestDirection } from '@mcphub/host';
import type { AttachResponse } from '@mcphub/host';
import { endedAwayText } from './troubletext.js';

/** Handles the events of the extension's own window. */
export class EndedAway {
  readonly #showHistory: () => Promise<void>;
  readonly #told = new Set<string>();

  constructor(showHistory: () => Promise<void>) {
    this.#showHistory = showHistory;
  }

  event({ event }: AttachResponse): void {
    if (event.case !== 'snapshot') {
      return;
    }
    const ends = event.value.history.flatMap(({ earlierHub, end }) =>
      earlierHub && end.case === 'cancelled' && !this.#told.has(end.value.requestId) ? [end.value] : [],
    );
    if (ends.length === 0) {
      return;
    }
    for (const { requestId } of ends) {
      this.#told.add(requestId);
    }
    const questions = ends.filter(({ direction }) => direction === RequestDirection.INCOMING).length;
    void this.#tell(endedAwayText(ends.length - questions, questions));
  }

  async #tell(text: string): Promise<void> {
    const show = vscode.l10n.t('Show in McpHub');
    if ((await vscode.window.showWarningMessage(text, show)) === show) {
      await this.#showHistory();
    }
  }
}
