// Which extensions may say that they have asked the user themselves. The user agrees to that once for each, by name.
import * as vscode from 'vscode';
import { inMessage } from '../plaintext.js';

const key = 'mcphub.preapproving';

/** Who asks. */
export interface Extension {
  readonly id: string;
  /** For people: its own, untrusted name. */
  readonly name: string;
}

export class Preapprovals {
  readonly #memory: vscode.Memento;
  readonly #asking = new Map<string, Promise<boolean>>();

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  /** The ids of the extensions that may. */
  get granted(): readonly string[] {
    return this.#memory.get<string[]>(key, []);
  }

  /** Whether this one may. The user is asked once for calls that come at the same time; a no holds for these alone. */
  allows(extension: Extension): Promise<boolean> {
    if (this.granted.includes(extension.id)) {
      return Promise.resolve(true);
    }
    let asking = this.#asking.get(extension.id);
    if (asking === undefined) {
      asking = this.#ask(extension).finally(() => this.#asking.delete(extension.id));
      this.#asking.set(extension.id, asking);
    }
    return asking;
  }

  async revoke(id: string): Promise<void> {
    await this.#memory.update(
      key,
      this.granted.filter((one) => one !== id),
    );
  }

  async #ask({ id, name }: Extension): Promise<boolean> {
    const allow = vscode.l10n.t('Allow');
    const choice = await vscode.window.showWarningMessage(
      vscode.l10n.t(
        'Allow {0} ({1}) to call MCP tools without a question of McpHub?',
        inMessage(name, 60),
        inMessage(id, 80),
      ),
      {
        modal: true,
        detail: vscode.l10n.t(
          'It says that it asks you itself before each call. What the config denies stays denied. "McpHub: Extensions That Ask You Themselves..." takes this back.',
        ),
      },
      allow,
    );
    if (choice !== allow) {
      return false;
    }
    await this.#memory.update(key, [...this.granted.filter((one) => one !== id), id]);
    return true;
  }
}

/** Lets the user take back what was granted. */
export async function managePreapprovals(preapprovals: Preapprovals): Promise<void> {
  const { granted } = preapprovals;
  if (granted.length === 0) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('No extension may call MCP tools without a question of McpHub.'),
    );
    return;
  }
  const chosen = await vscode.window.showQuickPick(
    granted.map((id) => ({ label: id, description: vscode.l10n.t('asks you itself before it calls MCP tools') })),
    {
      title: vscode.l10n.t('Extensions That Ask You Themselves'),
      placeHolder: vscode.l10n.t('Choose one that is to ask by McpHub from now on'),
    },
  );
  if (chosen !== undefined) {
    await preapprovals.revoke(chosen.label);
    void vscode.window.showInformationMessage(
      vscode.l10n.t('McpHub asks again before {0} calls a tool.', chosen.label),
    );
  }
}
