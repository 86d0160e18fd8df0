// Shows prompts whose card nobody sees. An extension cannot close a notification, unless it shows progress: that one
// closes when its work is done. So a prompt is shown as progress: it disappears when the prompt is answered elsewhere,
// when the server withdraws it, and when its card comes into view. Its one button leads to the card. A dialog cannot be
// closed either; it is used for dangerous prompts while no page is visible.
import * as vscode from 'vscode';
import type { Prompt, PromptEnd, WatcherWindow } from '@mcphub/host/contract';
import type { Answers } from './answers.js';
import { waiting, type Noticed } from './attention.js';
import { describe } from '../hub/hubprocess.js';
import { inMessage } from '../plaintext.js';
import { goneSentence, mostInTitle, question, questionLabel } from './question.js';
import type { Choice, ChoiceItem } from './choice.js';

export interface Pages {
  readonly visible: boolean;
  /** Reports whether the card of this prompt is in view on a visible page. */
  sees(promptId: string): boolean;
  readonly onDidChangeView: vscode.Event<void>;
  /** Shows a page and brings the card of this prompt into view; '' means the oldest open prompt. */
  show(promptId: string): Promise<void>;
}

interface Shown {
  readonly promptId: string;
  readonly since: number; // milliseconds
  readonly told: ReadonlySet<string>; // the prompts that could be shown when this one was
  readonly takeBack: () => void; // does nothing if the message cannot be closed
  // sets the number of other prompts that wait; absent if the text cannot be changed
  readonly beside?: (others: number) => void;
}

/**
 * The editor does not say when the user closes the notification. So a prompt that comes more than these milliseconds
 * later has a new one, instead of a number in a text that perhaps nobody sees.
 */
export const renewMs = 5_000;

export class Notifier implements vscode.Disposable {
  readonly #watcher: WatcherWindow;
  readonly #answers: Answers;
  readonly #pages: Pages;
  readonly #noticed = new Map<string, Noticed>();
  readonly #disposables: vscode.Disposable[];
  #shown: Shown | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(watcher: WatcherWindow, answers: Answers, pages: Pages) {
    this.#watcher = watcher;
    this.#answers = answers;
    this.#pages = pages;
    const stop = watcher.listen({ changed: ({ opened = [], closed = [] }) => this.#changed(opened, closed) });
    this.#disposables = [
      new vscode.Disposable(stop),
      pages.onDidChangeView(() => this.#look()),
      vscode.window.onDidChangeWindowState(() => this.#look()),
      vscode.commands.registerCommand('mcphub.answerQuestion', () => this.#pickQuestion()),
      vscode.commands.registerCommand('mcphub.showQuestion', (id: unknown) =>
        pages.show(typeof id === 'string' ? id : ''),
      ),
    ];
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#noticed.clear(); // so that no other prompt is shown after the current one closes
    this.#shown?.takeBack();
    vscode.Disposable.from(...this.#disposables).dispose();
  }

  #changed(opened: readonly Prompt[], closed: readonly PromptEnd[]): void {
    for (const prompt of opened) {
      this.#noticed.set(prompt.promptId, { prompt, since: Date.now(), later: false });
      this.#answers.lookFor(prompt, () => this.#look());
    }
    for (const { prompt } of closed) {
      this.#noticed.delete(prompt.promptId);
    }
    if (opened.length + closed.length > 0) {
      this.#look();
    }
  }

  // Updates what is shown after every change.
  #look(): void {
    clearTimeout(this.#timer);
    const shown = this.#shown;
    const noticed = shown && this.#noticed.get(shown.promptId);
    if (shown !== undefined && (noticed === undefined || noticed.later || this.#seen(noticed.prompt))) {
      shown.takeBack();
      return; // the next one is shown when this one has closed
    }
    const now = Date.now();
    const { due, lookAgainInMs } = waiting(
      this.#noticed.values(),
      { seen: (p) => this.#seen(p), pageVisible: this.#pages.visible, now },
      (p) => this.#answers.looksFor(p),
    );
    const renewIn =
      shown?.beside !== undefined && due.some(({ promptId }) => !shown.told.has(promptId))
        ? shown.since + renewMs - now
        : Infinity;
    const lookAgain = Math.min(lookAgainInMs ?? Infinity, renewIn);
    if (renewIn <= 0) {
      shown?.takeBack();
      return;
    }
    if (lookAgain !== Infinity) {
      this.#timer = setTimeout(() => this.#look(), lookAgain);
    }
    if (shown !== undefined) {
      shown.beside?.(due.filter(({ promptId }) => promptId !== shown.promptId).length);
    } else {
      this.#show(due);
    }
  }

  #seen(prompt: Prompt): boolean {
    return vscode.window.state.focused && this.#pages.sees(prompt.promptId);
  }

  /** Shows the latest of the prompts: the others were told before it. */
  #show(due: readonly Prompt[]): void {
    const prompt = due.at(-1);
    if (prompt === undefined) {
      return;
    }
    const told = new Set(due.map(({ promptId }) => promptId));
    // Next to a page, a dialog would repeat what the page's strip shows, and would stay when the card has come into
    // view.
    const modal = question(prompt).dangerous && !this.#pages.visible;
    const gone = modal ? this.#showModal(prompt, told) : this.#showNotification(prompt, told);
    const over = (): void => {
      this.#shown = undefined;
      this.#look();
    };
    gone.then(over, (error: unknown) => {
      void vscode.window.showErrorMessage(inMessage(describe(error), 300));
      this.#putOff(prompt); // otherwise it would be shown again at once, and fail again
      over();
    });
  }

  async #showModal(prompt: Prompt, told: ReadonlySet<string>): Promise<void> {
    this.#shown = { promptId: prompt.promptId, since: Date.now(), told, takeBack: () => undefined };
    await this.#dialog(prompt);
  }

  async #dialog(prompt: Prompt): Promise<void> {
    const { title, detail, choices } = question(prompt);
    const items = choices.map((c) => ({ title: c.label, choice: c.choice }));
    const later = { title: vscode.l10n.t('Decide Later'), isCloseAffordance: true, choice: { kind: 'later' } as const };
    const chosen = await vscode.window.showWarningMessage<vscode.MessageItem & { choice: Choice }>(
      title,
      { modal: true, detail },
      ...items,
      later,
    );
    if (!this.#noticed.has(prompt.promptId)) {
      if (chosen !== undefined && chosen.choice.kind !== 'later') {
        void vscode.window.showInformationMessage(goneSentence(prompt));
      }
      return;
    }
    await this.#choose(prompt, chosen?.choice ?? { kind: 'later' });
  }

  async #showNotification(prompt: Prompt, told: ReadonlySet<string>): Promise<void> {
    let text = notificationText(prompt, told.size - 1);
    let report: ((text: string) => void) | undefined; // set once the editor has shown the notification
    let end: (opens: boolean) => void = () => undefined;
    const over = new Promise<boolean>((resolve) => {
      end = resolve;
    });
    const beside = (others: number): void => {
      const now = notificationText(prompt, others);
      if (now !== text) {
        text = now;
        report?.(text);
      }
    };
    this.#shown = { promptId: prompt.promptId, since: Date.now(), told, takeBack: () => end(false), beside };
    // The editor takes a text for its one button, too, though its API says only boolean. No title, since it could not
    // be changed later: the editor shows the text that was reported last.
    const cancellable = vscode.l10n.t('Open') as unknown as boolean;
    const opens = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, cancellable },
      (progress, token) => {
        token.onCancellationRequested(() => end(true));
        report = (message) => progress.report({ message });
        report(text);
        return over;
      },
    );
    if (opens && this.#noticed.has(prompt.promptId)) {
      await this.#choose(prompt, { kind: 'open' });
    }
  }

  async #choose(prompt: Prompt, choice: Choice): Promise<void> {
    switch (choice.kind) {
      case 'later':
        this.#putOff(prompt);
        return;
      case 'open':
        this.#putOff(prompt); // the page shows it; if the page is closed again, the status bar still counts the prompt
        await this.#pages.show(prompt.promptId);
        return;
      default:
        await this.#answer(prompt, choice);
    }
  }

  async #answer(prompt: Prompt, choice: Extract<Choice, { kind: 'accept' | 'decline' }>): Promise<void> {
    const action =
      choice.kind === 'accept'
        ? ({ case: 'accept', value: { scope: choice.scope, ...launchShown(choice) } } as const)
        : ({ case: 'decline', value: {} } as const);
    try {
      await this.#watcher.answer({ promptId: prompt.promptId, action });
    } catch (error) {
      void vscode.window.showErrorMessage(inMessage(describe(error), 300));
    }
  }

  #putOff(prompt: Prompt): void {
    const noticed = this.#noticed.get(prompt.promptId);
    if (noticed !== undefined) {
      this.#noticed.set(prompt.promptId, { ...noticed, later: true });
      this.#look();
    }
  }

  /** Shows the answers as a pick list, the harmless ones first. The list closes when the prompt closes. */
  async #pick(prompt: Prompt): Promise<void> {
    if (prompt.question.case === 'serverLaunch') {
      // a list has only one line for the command, but a person must see all of it to consent
      await this.#dialog(prompt);
      return;
    }
    const { title, detail, choices } = question(prompt);
    const item = await pickWhile<ChoiceItem & vscode.QuickPickItem>(
      this.#watcher,
      prompt,
      choices.map((c) => ({ ...c })),
      title,
      detail,
    );
    if (item !== undefined) {
      await this.#choose(prompt, item.choice);
    }
  }

  async #pickQuestion(): Promise<void> {
    const prompts = [...this.#watcher.standing.prompts.values()];
    if (prompts.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('No question is open.'));
      return;
    }
    const items = prompts.map((prompt) => ({ label: questionLabel(prompt), prompt }));
    const chosen =
      items.length === 1
        ? items[0]
        : await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Answer Question') });
    if (chosen !== undefined) {
      await this.#pick(chosen.prompt);
    }
  }
}

/** Returns the text of a notification: the prompt, and how many others wait, in what is read at a glance. */
function notificationText(prompt: Prompt, others: number): string {
  const more = others === 0 ? '' : ` ${vscode.l10n.t('({0} more)', others)}`;
  return `${question(prompt, mostInTitle - more.length).title}${more}`;
}

/** Returns the hash that states that the whole command was in view. */
function launchShown({ launchHash }: Extract<Choice, { kind: 'accept' }>): { readonly launchHash?: string } {
  return launchHash === undefined ? {} : { launchHash };
}

function pickWhile<T extends vscode.QuickPickItem>(
  watcher: WatcherWindow,
  prompt: Prompt,
  items: readonly T[],
  title: string,
  detail: string,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    const pick = vscode.window.createQuickPick<T>();
    pick.title = title;
    pick.placeholder = inMessage(detail, 200);
    pick.items = items;
    pick.ignoreFocusOut = true;
    const stop = watcher.listen({
      changed: ({ closed }) => closed?.some((c) => c.prompt.promptId === prompt.promptId) === true && pick.hide(),
    });
    pick.onDidAccept(() => {
      resolve(pick.selectedItems[0]);
      pick.hide();
    });
    pick.onDidHide(() => {
      stop();
      pick.dispose();
      resolve(undefined);
    });
    pick.show();
  });
}
