// Finds the config files that the editor reads itself, so that it also starts their servers.
import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Server } from '@mcphub/host/contract';

type Entry = Pick<Server, 'configFile' | 'configDialect'>;

/**
 * Reports whether the editor reads this file itself: its own mcp.json, those of the folders, and recently (seen in
 * 1.139) the .mcp.json of the folders.
 */
export function editorReads({ configFile, configDialect }: Entry): boolean {
  return (
    configDialect === 'vscode' || (path.basename(configFile) === '.mcp.json' && inFolder(path.dirname(configFile)))
  );
}

/**
 * Reports whether the editor takes this file over from another application. Its setting chat.mcp.discovery.enabled
 * decides: true means all applications, an object lists them.
 */
export function editorDiscovers({ configFile }: Entry): boolean {
  const enabled = vscode.workspace.getConfiguration('chat').get<unknown>('mcp.discovery.enabled');
  const named = typeof enabled === 'object' && enabled !== null ? (enabled as Readonly<Record<string, unknown>>) : {};
  return discoveries(configFile).some((one) => enabled === true || named[one] === true);
}

/** Returns the names that the editor's setting has for the location of a file. */
function discoveries(file: string): string[] {
  const [base = '', folder = '', above = ''] = file.split(/[\\/]/u).reverse();
  switch (`${folder}/${base}`) {
    case 'Claude/claude_desktop_config.json':
      return ['claude-desktop'];
    case 'windsurf/mcp_config.json':
      return above === '.codeium' ? ['windsurf'] : [];
    case '.cursor/mcp.json': {
      const place = path.dirname(path.dirname(file));
      return [
        ...(same(place, homedir()) ? ['cursor-global'] : []),
        ...(inFolder(place) ? ['cursor-workspace'] : []), // a folder may be the home directory
      ];
    }
    default:
      return [];
  }
}

function inFolder(directory: string): boolean {
  return (vscode.workspace.workspaceFolders ?? []).some(
    ({ uri }) => uri.scheme === 'file' && same(uri.fsPath, directory),
  );
}

/** Reports whether two paths are equal. path.relative ignores case on Windows. */
function same(one: string, other: string): boolean {
  return path.relative(one, other) === '';
}
