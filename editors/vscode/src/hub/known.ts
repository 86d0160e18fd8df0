// What there is, as the page knows it: the page's own state, changed by the page's own transitions. The trees and the
// tabs read it. Logs and results are left out, since nothing here shows them.
import * as vscode from 'vscode';
import { pageJson } from '@mcphub/host/contract';
import type { AttachResponse, WatcherWindow } from '@mcphub/host/contract';
import { createState, takeChanged, transition, type Changed, type State } from '../../../page/src/hub/state.js';

export class Known implements vscode.Disposable {
  readonly state: State = createState();
  readonly #changed = new vscode.EventEmitter<Changed>();
  readonly onDidChange = this.#changed.event;
  readonly #stop: () => void;
  #ready = false;

  constructor(watcher: Pick<WatcherWindow, 'listen'>) {
    this.#stop = watcher.listen({ read: (message) => this.#read(message) });
  }

  /** Whether a snapshot has come: before that, nothing is known to be missing. */
  get ready(): boolean {
    return this.#ready;
  }

  dispose(): void {
    this.#stop();
    this.#changed.dispose();
  }

  #read(message: AttachResponse): void {
    if (['reply', 'logMessage', 'mcpRequestProgressed'].includes(message.event.case ?? '')) {
      return;
    }
    this.#ready ||= message.event.case === 'snapshot';
    if (transition(this.state, pageJson(withoutResults(message)))) {
      this.state.endedNow.length = 0; // these three are for the page, which paints them once
      this.state.closed.clear();
      this.#changed.fire(takeChanged(this.state));
    }
  }
}

/** Results may have 256 KiB each, and a snapshot a thousand of them. Who wants one reads it from the hub. */
function withoutResults(message: AttachResponse): AttachResponse {
  const { event } = message;
  if (event.case === 'mcpRequestFinished') {
    return { ...message, event: { ...event, value: { ...event.value, resultJson: '' } } };
  }
  if (event.case !== 'snapshot') {
    return message;
  }
  const history = event.value.history.map((ended) =>
    ended.end.case === 'finished'
      ? { ...ended, end: { ...ended.end, value: { ...ended.end.value, resultJson: '' } } }
      : ended,
  );
  return { ...message, event: { ...event, value: { ...event.value, history } } };
}
