// Asks the user for a text, with proposals of a server. The user may type any text or pick a proposal.
import * as vscode from 'vscode';
import { describe } from '../hub/hubprocess.js';
import { inMessage, inPick } from '../plaintext.js';

/** The server is asked when the user has not typed for this time in milliseconds. */
const pauseMs = 200;

export interface TextPick {
  readonly title: string;
  readonly placeholder: string;
  readonly required: boolean;
  /** undefined: the server makes no proposals. */
  readonly propose: ((typed: string, signal: AbortSignal) => Promise<readonly string[]>) | undefined;
}

interface Item extends vscode.QuickPickItem {
  readonly value: string;
}

/** Resolves to the text, '' if the user leaves it out, or undefined if the user cancelled. */
export function pickText({ title, placeholder, required, propose }: TextPick): Promise<string | undefined> {
  return new Promise((resolve) => {
    const pick = vscode.window.createQuickPick<Item>();
    let proposed: readonly string[] = [];
    let asking: AbortController | undefined;
    let timer: NodeJS.Timeout | undefined;
    pick.title = title;
    pick.placeholder = placeholder;
    pick.ignoreFocusOut = true;

    const draw = (): void => {
      const typed = pick.value;
      const own: Item[] =
        typed === '' && required
          ? []
          : [{ label: typed === '' ? vscode.l10n.t('Leave It Out') : inPick(typed), value: typed, alwaysShow: true }];
      const active = pick.activeItems[0]?.value;
      pick.items = [
        ...own,
        ...proposed
          .filter((value) => value !== typed)
          .map((value) => ({ label: inPick(value), value, alwaysShow: true })),
      ];
      // Proposals that arrive while the user moves through the list must not put another row under the Enter key.
      const same = active === undefined ? undefined : pick.items.find(({ value }) => value === active);
      if (same !== undefined) {
        pick.activeItems = [same];
      }
    };
    const ask = async (): Promise<void> => {
      if (propose === undefined) {
        return;
      }
      asking?.abort();
      const mine = (asking = new AbortController());
      pick.busy = true;
      try {
        const found = await propose(pick.value, mine.signal);
        if (!mine.signal.aborted && found.join('\0') !== proposed.join('\0')) {
          proposed = found;
          draw(); // only for a change, since it moves the focus to the row that the editor last reported as active
        }
      } catch (error) {
        if (!mine.signal.aborted) {
          pick.title = `${title} (${inMessage(describe(error), 120)})`;
        }
      } finally {
        if (asking === mine) {
          pick.busy = false;
        }
      }
    };
    pick.onDidChangeValue(() => {
      draw();
      clearTimeout(timer);
      asking?.abort(); // its proposals are no longer needed
      timer = setTimeout(() => void ask(), pauseMs);
    });
    pick.onDidAccept(() => {
      const chosen = pick.activeItems[0] ?? pick.items[0];
      if (chosen !== undefined) {
        resolve(chosen.value);
        pick.hide();
      }
    });
    pick.onDidHide(() => {
      clearTimeout(timer);
      asking?.abort();
      resolve(undefined);
      pick.dispose();
    });
    draw();
    pick.show();
    void ask();
  });
}
