// Dialogs outside the page that searches for servers: for the registry, and for the file of a bundle.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

const official = 'https://registry.modelcontextprotocol.io';

/** The maximum size in bytes of a bundle that is copied from a file system that is not on this computer. */
const mostBytes = 256 * 1024 * 1024;

/** Returns the registry of the setting, or asks a person to choose one and stores it in the setting. */
export async function chooseRegistry(): Promise<string | undefined> {
  const settings = vscode.workspace.getConfiguration('mcphub');
  const known = settings.get<unknown>('registry.url');
  if (typeof known === 'string' && known.trim() !== '') {
    return known.trim();
  }
  const other = vscode.l10n.t('Another registry...');
  const picked = await vscode.window.showQuickPick(
    [
      {
        label: official,
        detail: vscode.l10n.t(
          'The official MCP registry. It is meant for other registries, without guaranteed uptime.',
        ),
      },
      { label: other, detail: vscode.l10n.t('For example, the registry of your company') },
    ],
    {
      title: vscode.l10n.t('Select a Registry'),
      placeHolder: vscode.l10n.t('Your searches are sent to it. The setting mcphub.registry.url stores your choice.'),
      ignoreFocusOut: true,
    },
  );
  let address = picked?.label;
  if (address === other) {
    address = await vscode.window.showInputBox({
      title: vscode.l10n.t('Address of the Registry'),
      prompt: vscode.l10n.t('The part before /v0.1, starting with https://'),
      ignoreFocusOut: true,
      validateInput: (text) =>
        /^(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/|$))[^\s@?#]*$/u.test(text.trim())
          ? undefined
          : vscode.l10n.t('Enter an address that starts with https://.'),
    });
  }
  address = address?.trim();
  if (address === undefined || address === '') {
    return undefined;
  }
  await settings.update('registry.url', address, vscode.ConfigurationTarget.Global);
  return address;
}

/**
 * The folder with the copy of the bundle that was chosen last. The bundle is unpacked from there when its entry is
 * added.
 */
let copied: string | undefined;

/** Removes the copy of the bundle that was chosen last. */
export async function removeCopy(): Promise<void> {
  const folder = copied;
  copied = undefined;
  if (folder !== undefined) {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Lets a person choose a file, and returns its path on this computer. A file of another file system is copied. */
export async function chooseBundle(): Promise<string | undefined> {
  const [chosen] =
    (await vscode.window.showOpenDialog({
      canSelectMany: false,
      filters: { [vscode.l10n.t('MCP bundles')]: ['mcpb', 'dxt'] },
      openLabel: vscode.l10n.t('Select Bundle'),
      title: vscode.l10n.t('Add Server from Bundle'),
    })) ?? [];
  if (chosen === undefined) {
    return undefined;
  }
  if (chosen.scheme === 'file') {
    return chosen.fsPath;
  }
  const { size } = await vscode.workspace.fs.stat(chosen);
  if (size > mostBytes) {
    throw new Error(vscode.l10n.t('This bundle is larger than 256 MiB.'));
  }
  const bytes = await vscode.workspace.fs.readFile(chosen);
  await removeCopy();
  copied = await mkdtemp(path.join(tmpdir(), 'mcphub-bundle-'));
  const file = path.join(copied, 'bundle.mcpb');
  await writeFile(file, bytes, { mode: 0o600 });
  return file;
}
