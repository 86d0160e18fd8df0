// Permissions of extensions for actions of the API that are dangerous. The user grants each permission once to each
// extension, by its name.
import * as vscode from 'vscode';
import { inMessage, inPick } from '../plaintext.js';

/** The extension that asks. */
export interface Extension {
  readonly id: string;
  /** The name for people. The extension chooses it: untrusted. */
  readonly name: string;
}

/**
 * preapproved: calls for which the extension says that it has asked the user. write: writing of config files.
 * alwaysAllow: writing into them that tools are called without a question.
 */
export type Permission = 'preapproved' | 'write' | 'alwaysAllow';

const keys: Readonly<Record<Permission, string>> = {
  preapproved: 'mcphub.preapproving',
  write: 'mcphub.writing',
  alwaysAllow: 'mcphub.alwaysAllowing',
};

export class Grants {
  readonly #memory: vscode.Memento;
  readonly #asking = new Map<string, Promise<boolean>>();

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  /** Returns the ids of the extensions that have a permission. */
  granted(permission: Permission): readonly string[] {
    return this.#memory.get<string[]>(keys[permission], []);
  }

  /**
   * Resolves to whether the extension has the permission. For several calls at the same time the user is asked only
   * once. A refusal counts only for these calls.
   */
  allows(extension: Extension, permission: Permission): Promise<boolean> {
    if (this.granted(permission).includes(extension.id)) {
      return Promise.resolve(true);
    }
    const key = `${permission} ${extension.id}`;
    let asking = this.#asking.get(key);
    if (asking === undefined) {
      asking = this.#ask(extension, permission).finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
    }
    return asking;
  }

  async revoke(id: string, permission: Permission): Promise<void> {
    await this.#memory.update(
      keys[permission],
      this.granted(permission).filter((one) => one !== id),
    );
  }

  async #ask({ id, name }: Extension, permission: Permission): Promise<boolean> {
    const allow = vscode.l10n.t('Allow');
    const { message, detail } = question(permission, inMessage(name, 60), inMessage(id, 80));
    const choice = await vscode.window.showWarningMessage(message, { modal: true, detail }, allow);
    if (choice !== allow) {
      return false;
    }
    await this.#memory.update(keys[permission], [...this.granted(permission).filter((one) => one !== id), id]);
    return true;
  }
}

function question(permission: Permission, name: string, id: string): { message: string; detail: string } {
  switch (permission) {
    case 'preapproved':
      return {
        message: vscode.l10n.t('Allow {0} ({1}) to call MCP tools without asking in McpHub?', name, id),
        detail: vscode.l10n.t(
          'It says that it asks you before each call. Tools that the config denies stay denied. To revoke this, run "McpHub: Manage Extension Permissions...".',
        ),
      };
    case 'write':
      return {
        message: vscode.l10n.t('Allow {0} ({1}) to add, change and remove MCP servers in your config files?', name, id),
        detail: vscode.l10n.t(
          'Servers that it adds start only after you agree to their command or address. To revoke this, run "McpHub: Manage Extension Permissions...".',
        ),
      };
    case 'alwaysAllow':
      return {
        message: vscode.l10n.t('Allow {0} ({1}) to choose which MCP tools run without asking?', name, id),
        detail: vscode.l10n.t(
          'Once you agree to the entry, any caller can run these tools without asking. To revoke this, run "McpHub: Manage Extension Permissions...".',
        ),
      };
  }
}

/** Lets the user withdraw permissions. */
export async function manageGrants(grants: Grants): Promise<void> {
  const what: Readonly<Record<Permission, string>> = {
    preapproved: vscode.l10n.t('Calls MCP tools without asking in McpHub'),
    write: vscode.l10n.t('Adds, changes and removes MCP servers'),
    alwaysAllow: vscode.l10n.t('Chooses which MCP tools run without asking'),
  };
  const all = (Object.keys(what) as Permission[]).flatMap((permission) =>
    grants.granted(permission).map((id) => ({ label: inPick(id), description: what[permission], id, permission })),
  );
  if (all.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('No extension has permissions in McpHub.'));
    return;
  }
  const chosen = await vscode.window.showQuickPick(all, {
    title: vscode.l10n.t('Manage Extension Permissions'),
    placeHolder: vscode.l10n.t('Select a permission to revoke'),
  });
  if (chosen !== undefined) {
    await grants.revoke(chosen.id, chosen.permission);
    void vscode.window.showInformationMessage(
      vscode.l10n.t('Revoked for {0}. McpHub asks you the next time.', chosen.label),
    );
  }
}
