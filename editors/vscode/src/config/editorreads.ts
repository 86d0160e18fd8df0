// Which config files the editor reads as well, and starts the servers of.
import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Server } from '@mcphub/host';

type Entry = Pick<Server, 'configFile' | 'configDialect'>;

/**
 * The editor has this file itself: its own mcp.json and those of the folders, and lately (seen in 1.139) the .mcp.json
 * of the folders.
 */
export function editorReads({ configFile, configDialect }: Entry): boolean {
  return (
    configDialect === 'vscode' || (path.basename(configFile) === '.mcp.json' && inFolder(path.dirname(configFile)))
  );
}

/**
 * The editor takes over what other applications have, as far as its setting chat.mcp.discovery.enabled says: all with
 * true, or those that an object of theirs names.
 */
export function editorDiscovers({ configFile }: Entry): boolean {
  const enabled = vscode.workspace.getConfiguration('chat').get<unknown>('mcp.discovery.enabled');
  const named = typeof enabled === 'object' && enabled !== null ? (enabled as Readonly<Record<string, unknown>>) : {};
  return discoveries(configFile).some((one) => enabled === true || named[one] === true);
}

/** As the editor's setting calls the places that a file is at. */
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
        ...(inFolder(place) ? ['cursor-workspace'] : []), // a folder may be the home
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

/** On Windows the case of letters does not count, and path knows that. */
function same(one: string, other: string): boolean {
  return path.relative(one, other) === '';
}
