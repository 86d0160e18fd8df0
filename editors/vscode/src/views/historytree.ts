// The view of what has ended: newest first, each in one line, with how it ended where that was not the normal end.
import * as vscode from 'vscode';
import { endWords, isListed, moreWords } from '../../../page/src/history/endwords.js';
import type { Ended, Outcome } from '../../../page/src/hub/ended.js';
import { hubNow } from '../../../page/src/hub/state.js';
import { ofWords, titleOf } from '../../../page/src/hub/requestwords.js';
import { ago, exactTime } from '../../../page/src/words/ago.js';
import type { Known } from '../hub/known.js';
import { oneLine, tooltip } from './serverwords.js';

/** The codicons that look like the page's own icons. */
const codicons: Readonly<Record<Outcome, string>> = {
  'done': 'check',
  'tool-error': 'warning',
  'failed': 'error',
  'denied': 'circle-slash',
  'cancelled': 'circle-slash',
  'withdrawn': 'discard',
  'timed-out': 'watch',
  'lost': 'question',
};
const colours: Partial<Record<Outcome, string>> = {
  'failed': 'list.errorForeground',
  'tool-error': 'list.errorForeground',
  'denied': 'list.errorForeground',
};

/** The tree shows so many. The page as an editor tab has all. */
const mostShown = 1000;
/** How long changes are gathered, in milliseconds: hundreds of calls may end at once. */
const pause = 250;
/** How long the times of the rows may be wrong, in milliseconds. */
const timesHold = 30_000;

export class HistoryTree implements vscode.TreeDataProvider<Ended>, vscode.Disposable {
  readonly #known: Known;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #subscription: vscode.Disposable;
  #due: NodeJS.Timeout | undefined;
  #clock: NodeJS.Timeout | undefined;

  constructor(known: Known) {
    this.#known = known;
    this.#subscription = known.onDidChange(({ history }) => {
      if (history) {
        this.#due ??= setTimeout(() => this.refresh(), pause);
      }
    });
  }

  dispose(): void {
    clearTimeout(this.#due);
    clearTimeout(this.#clock);
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  /** Draws the rows anew, since they have changed or their times have. */
  refresh(): void {
    clearTimeout(this.#due);
    this.#due = undefined;
    this.#changed.fire(undefined);
  }

  getChildren(entry?: Ended): Ended[] {
    if (entry !== undefined) {
      return [];
    }
    const shown = this.#known.state.history.filter(isListed).slice(-mostShown).reverse();
    clearTimeout(this.#clock);
    if (shown.length > 0) {
      this.#clock = setTimeout(() => this.refresh(), timesHold).unref(); // the editor asks only while the tree is seen
    }
    return shown;
  }

  getTreeItem(entry: Ended): vscode.TreeItem {
    const { about, outcome, endTime, key } = entry;
    const item = new vscode.TreeItem(oneLine(titleOf(about)));
    const end = oneLine(endWords(entry));
    const when = ago(new Date(endTime), hubNow(this.#known.state)).text;
    item.id = key;
    item.iconPath = iconOf(outcome);
    item.description = [ofWords(about), outcome === 'done' ? '' : end, when].filter((text) => text !== '').join(' · ');
    item.tooltip = tooltip(
      [end, moreWords(entry)].filter((text) => text !== '').join('. '),
      [ofWords(about), exactTime(endTime), about.argumentsPreview].filter(Boolean).join(' · '),
    );
    item.accessibilityInformation = { label: [titleOf(about), end, ofWords(about), when].filter(Boolean).join(', ') };
    item.contextValue = ` ended ${canRepeat(entry) ? 'again ' : ''}`;
    item.command = { command: 'mcphub.open', title: '', arguments: [{ requestId: entry.requestId }] };
    return item;
  }
}

function iconOf(outcome: Outcome): vscode.ThemeIcon {
  const colour = colours[outcome];
  return new vscode.ThemeIcon(codicons[outcome], colour === undefined ? undefined : new vscode.ThemeColor(colour));
}

/** Reports whether a request can be made once more: the present hub has its arguments. */
export const canRepeat = ({ earlier, about: { direction, method } }: Ended): boolean =>
  !earlier
  && direction !== 'REQUEST_DIRECTION_INCOMING'
  && ['tools/call', 'resources/read', 'prompts/get'].includes(method ?? '');
