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
        message: vscode.l10n.t('Allow {0} ({1}) to call MCP tools without a question of McpHub?', name, id),
        detail: vscode.l10n.t(
          'It says that it asks you itself before each call. What the config denies stays denied. "McpHub: Permissions of Extensions..." takes this back.',
        ),
      };
    case 'write':
      return {
        message: vscode.l10n.t('Allow {0} ({1}) to add, change and remove MCP servers in your config files?', name, id),
        detail: vscode.l10n.t(
          'What it writes starts only after you have agreed to its exact command or address. "McpHub: Permissions of Extensions..." takes this back.',
        ),
      };
    case 'alwaysAllow':
      return {
        message: vscode.l10n.t(
          'Allow {0} ({1}) to say in your config files which MCP tools are called without a question?',
          name,
          id,
        ),
        detail: vscode.l10n.t(
          'Such a tool is called unasked, whoever calls it, once you have agreed to the entry. "McpHub: Permissions of Extensions..." takes this back.',
        ),
      };
  }
}

/** Lets the user withdraw permissions. */
export async function manageGrants(grants: Grants): Promise<void> {
  const what: Readonly<Record<Permission, string>> = {
    preapproved: vscode.l10n.t('asks you itself before it calls MCP tools'),
    write: vscode.l10n.t('adds, changes and removes MCP servers'),
    alwaysAllow: vscode.l10n.t('says which MCP tools are called without a question'),
  };
  const all = (Object.keys(what) as Permission[]).flatMap((permission) =>
    grants.granted(permission).map((id) => ({ label: inPick(id), description: what[permission], id, permission })),
  );
  if (all.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('No extension has a permission of McpHub.'));
    return;
  }
  const chosen = await vscode.window.showQuickPick(all, {
    title: vscode.l10n.t('Permissions of Extensions'),
    placeHolder: vscode.l10n.t('Choose a permission to take back'),
  });
  if (chosen !== undefined) {
    await grants.revoke(chosen.id, chosen.permission);
    void vscode.window.showInformationMessage(
      vscode.l10n.t('Taken back: {0}, {1}. McpHub asks before it happens again.', chosen.label, chosen.description),
    );
  }
}
