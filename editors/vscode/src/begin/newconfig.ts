// Opens or creates a config file, for users who write their servers by hand. It also shows which files of other
// applications are read.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { ConfigFiles } from '../config/configfiles.js';
import { setting } from '../hub/hubprocess.js';
import { inPick } from '../plaintext.js';

interface FileItem extends vscode.QuickPickItem {
  readonly file?: string;
  readonly discovers?: true;
}

export async function openOrCreateConfig(configFiles: ConfigFiles): Promise<void> {
  const { ours, others } = await configFiles.files();
  const items: FileItem[] = [
    ...ours.map(({ file, exists }) => ({
      label: inPick(path.basename(file)),
      description: exists ? '' : vscode.l10n.t('New'),
      detail: inPick(file),
      file,
    })),
    { label: vscode.l10n.t('Other applications'), kind: vscode.QuickPickItemKind.Separator },
    ...others.map(({ file, dialect }) => ({
      label: inPick(path.basename(file)),
      description: dialect,
      detail: inPick(file),
      file,
    })),
  ];
  if (setting<string>('discover', 'all') !== 'all') {
    items.push({
      label: vscode.l10n.t('Use the servers of other applications'),
      detail: vscode.l10n.t('Changes the setting mcphub.discover, so that McpHub also reads their config files.'),
      discovers: true,
    });
  }
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Open or Create Config File'),
    placeHolder: vscode.l10n.t('Select a file with MCP servers'),
    matchOnDetail: true,
  });
  if (chosen?.discovers === true) {
    await vscode.workspace.getConfiguration('mcphub').update('discover', 'all', vscode.ConfigurationTarget.Global);
  } else if (chosen?.file !== undefined) {
    await begin(chosen.file);
    await vscode.window.showTextDocument(vscode.Uri.file(chosen.file));
  }
}

/** Writes the first lines of a file if it does not exist. */
async function begin(file: string): Promise<void> {
  const key = path.basename(file) === '.mcp.json' ? 'mcpServers' : 'servers';
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ [key]: {} }, undefined, 2)}\n`, { flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      throw error;
    }
  });
}
