// Shows prompts whose card nobody sees. An extension cannot close a notification with buttons. A notification with
// progress closes when its work is done, and its text may have links that run commands. So a prompt is shown as one
// with progress: it disappears when the prompt is answered elsewhere, when the server withdraws it, and when its card
// comes into view. A dialog cannot be closed either; it is used for dangerous prompts while no page is visible.
import * as vscode from 'vscode';
import type { Prompt } from '@mcphub/host';
import type { Answers } from './answers.js';
import { waiting, type Noticed } from './attention.js';
import { describe } from '../hub/hubprocess.js';
import { commandLink, inMessage } from '../plaintext.js';
import { goneSentence, question, questionLabel } from './question.js';
import type { Choice, ChoiceItem } from './choice.js';
import type { PromptEnd } from '../hub/standing.js';
import type { WatcherWindow } from '../hub/watcherwindow.js';

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
  readonly takeBack: () => void; // does nothing if the message cannot be closed
  // sets the number of other prompts that wait; absent if the text cannot be changed
  readonly beside?: (others: number) => void;
}

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
      vscode.commands.registerCommand('mcphub.question.open', (id: unknown) =>
        this.#onQuestion(id, (prompt) => this.#choose(prompt, { kind: 'open' })),
      ),
      vscode.commands.registerCommand('mcphub.question.choose', (id: unknown) =>
        this.#onQuestion(id, (prompt) => this.#pick(prompt)),
      ),
      vscode.commands.registerCommand('mcphub.question.decline', (id: unknown) =>
        this.#onQuestion(id, (prompt) => this.#choose(prompt, { kind: 'decline' })),
      ),
      vscode.commands.registerCommand('mcphub.question.later', (id: unknown) =>
        this.#onQuestion(id, (prompt) => this.#choose(prompt, { kind: 'later' })),
      ),
      vscode.commands.registerCommand('mcphub.answerQuestion', () => this.#pickQuestion()),
      vscode.commands.registerCommand('mcphub.showQuestion', () => pages.show('')),
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
    const { due, lookAgainInMs } = waiting(
      this.#noticed.values(),
      { seen: (p) => this.#seen(p), pageVisible: this.#pages.visible, now: Date.now() },
      (p) => this.#answers.looksFor(p),
    );
    if (lookAgainInMs !== undefined) {
      this.#timer = setTimeout(() => this.#look(), lookAgainInMs);
    }
    if (shown !== undefined) {
      shown.beside?.(due.filter(({ promptId }) => promptId !== shown.promptId).length);
    } else if (due[0] !== undefined) {
      this.#show(due[0], due.length - 1);
    }
  }

  #seen(prompt: Prompt): boolean {
    return vscode.window.state.focused && this.#pages.sees(prompt.promptId);
  }

  #show(prompt: Prompt, others: number): void {
    // Next to a page, a dialog would repeat what the page's strip shows, and would stay when the card has come into
    // view.
    const modal = question(prompt).form === 'modal' && !this.#pages.visible;
    const gone = modal
      ? this.#showModal(prompt)
      : readAloud()
        ? this.#showButtons(prompt, others)
        : this.#showNotification(prompt, others);
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

  async #showModal(prompt: Prompt): Promise<void> {
    this.#shown = { promptId: prompt.promptId, takeBack: () => undefined };
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

  async #showNotification(prompt: Prompt, others: number): Promise<void> {
    let text = this.#text(prompt, others);
    let report: ((text: string) => void) | undefined; // set once the editor has shown the notification
    const over = new Promise<void>((takeBack) => {
      const beside = (more: number): void => {
        const now = this.#text(prompt, more);
        if (now !== text) {
          text = now;
          report?.(text);
        }
      };
      this.#shown = { promptId: prompt.promptId, takeBack, beside };
    });
    // No title, since it could not be changed later. The editor shows the text that was reported last.
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification }, (progress) => {
      report = (message) => progress.report({ message });
      report(text);
      return over;
    });
  }

  /**
   * For users of a screen reader, which would read the commands of links letter by letter. It reads buttons by their
   * names. But this message stays when its prompt has closed; a click on a button then says so.
   */
  async #showButtons(prompt: Prompt, others: number): Promise<void> {
    const over = new Promise<void>((resolve) => {
      this.#shown = { promptId: prompt.promptId, takeBack: resolve };
    });
    const { title, choices } = question(prompt);
    const decline = choices.find((c) => c.choice.kind === 'decline');
    type Button = vscode.MessageItem & { readonly choice: Choice | { readonly kind: 'pick' } };
    const buttons: Button[] = [
      { title: vscode.l10n.t('Show'), choice: { kind: 'open' } },
      ...(choices.some((c) => c.choice.kind === 'accept')
        ? [{ title: vscode.l10n.t('Answer...'), choice: { kind: 'pick' } } as const]
        : []),
      ...(decline === undefined ? [] : [{ title: decline.label, choice: decline.choice }]),
      { title: vscode.l10n.t('Later'), choice: { kind: 'later' } },
    ];
    const answered = vscode.window
      .showInformationMessage<Button>(`${title} ${besideText(others)}`.trim(), ...buttons)
      .then(async (chosen) => {
        const choice = chosen?.choice ?? { kind: 'later' };
        if (!this.#noticed.has(prompt.promptId)) {
          if (choice.kind !== 'later') {
            void vscode.window.showInformationMessage(goneSentence(prompt));
          }
        } else {
          await (choice.kind === 'pick' ? this.#pick(prompt) : this.#choose(prompt, choice));
        }
      });
    await Promise.race([over, answered]);
  }

  #text(prompt: Prompt, others: number): string {
    const { title, choices } = question(prompt);
    const link = (label: string, command: string): string =>
      commandLink(label, `mcphub.question.${command}`, prompt.promptId);
    const decline = choices.find((c) => c.choice.kind === 'decline');
    const links = [
      link(vscode.l10n.t('Show'), 'open'),
      ...(choices.some((c) => c.choice.kind === 'accept') ? [link(vscode.l10n.t('Answer...'), 'choose')] : []),
      ...(decline === undefined ? [] : [link(decline.label, 'decline')]),
      link(vscode.l10n.t('Later'), 'later'),
    ];
    // The links come first, since the editor cuts a long text at the end of the line.
    return [...links, besideText(others), title].filter(Boolean).join('  ');
  }

  // Any code can run a command with any arguments, so the prompt must be open.
  async #onQuestion(id: unknown, act: (prompt: Prompt) => Promise<void>): Promise<void> {
    const prompt = typeof id === 'string' ? this.#watcher.standing.prompts.get(id) : undefined;
    if (prompt === undefined) {
      void vscode.window.showInformationMessage(goneSentence(undefined));
      return;
    }
    await act(prompt);
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

  async #answer(prompt: Prompt, choice: Extract<Choice, { kind: 'accept' | 'decline' | 'dismiss' }>): Promise<void> {
    const action =
      choice.kind === 'accept'
        ? ({ case: 'accept', value: { scope: choice.scope, ...launchShown(choice) } } as const)
        : choice.kind === 'decline'
          ? ({ case: 'decline', value: {} } as const)
          : ({ case: 'dismiss', value: {} } as const);
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

/** Returns the text for the number of other prompts that would be shown without this one; '' for 0. */
function besideText(others: number): string {
  switch (others) {
    case 0:
      return '';
    case 1:
      return vscode.l10n.t('(1 more question waits)');
    default:
      return vscode.l10n.t('({0} more questions wait)', others);
  }
}

/** Returns the hash that states that the whole command was in view. */
function launchShown({ launchHash }: Extract<Choice, { kind: 'accept' }>): { readonly launchHash?: string } {
  return launchHash === undefined ? {} : { launchHash };
}

/** Reports whether the user has set the editor to support a screen reader. */
function readAloud(): boolean {
  return vscode.workspace.getConfiguration('editor').get('accessibilitySupport') === 'on';
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
