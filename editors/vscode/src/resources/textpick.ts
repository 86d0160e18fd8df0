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

/** With more proposals than these for one text, the list begins anew. */
const mostKept = 1000;

export interface TextRow extends vscode.QuickPickItem {
  readonly value: string;
}

/**
 * Returns the rows of the list: what was typed, then all proposals that there have been. The editor tells which row is
 * meant by its place alone: a click on a list that has changed meanwhile would choose another text. So every text keeps
 * its place, and proposals that are not made any more are left to the editor's own filter. The first place always means
 * what was typed, also once a proposal shows the same and a separator has taken its place.
 */
export function textRows(
  typed: string,
  required: boolean,
  known: readonly string[],
  proposed: readonly string[],
): readonly TextRow[] {
  const nothing = (typed === '' && required) || known.includes(typed);
  const first: TextRow = nothing
    ? { label: '', value: typed, kind: vscode.QuickPickItemKind.Separator }
    : { label: typed === '' ? vscode.l10n.t('Leave empty') : inPick(typed), value: typed, alwaysShow: true };
  return [
    first,
    ...known.map((value) => ({ label: inPick(value), value, alwaysShow: value === typed || proposed.includes(value) })),
  ];
}

/** Resolves to the text, '' if the user leaves it out, or undefined if the user cancelled. */
export function pickText({ title, placeholder, required, propose }: TextPick): Promise<string | undefined> {
  return new Promise((resolve) => {
    const pick = vscode.window.createQuickPick<TextRow>();
    let proposed: readonly string[] = [];
    let known: readonly string[] = [];
    let asking: AbortController | undefined;
    let timer: NodeJS.Timeout | undefined;
    pick.title = title;
    pick.placeholder = placeholder;
    pick.ignoreFocusOut = true;

    const draw = (): void => {
      const typed = pick.value;
      const active = pick.activeItems[0]?.value;
      pick.items = textRows(typed, required, known, proposed);
      // Proposals that arrive while the user moves through the list must not put another row under the Enter key.
      const wanted = known.includes(typed) ? typed : active;
      const same = pick.items.find(({ value, kind }) => value === wanted && kind === undefined);
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
          const all = [...new Set([...known, ...found])].filter((value) => value !== '');
          known = all.length > mostKept ? found : all;
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
      const chosen =
        pick.selectedItems[0] ?? pick.activeItems[0] ?? pick.items.find(({ value }) => value === pick.value);
      if (chosen !== undefined && (chosen.value !== '' || !required)) {
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
