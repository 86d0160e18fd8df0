// Where the entries of servers stand, by file, as the hub has read them: nothing is read or parsed here. A file that
// does not fit what the hub knows, because somebody is typing in it, is searched around the line that was right before.
import path from 'node:path';
import { ServerState } from '@mcphub/host';
import type { Server } from '@mcphub/host';

export interface Entry {
  readonly server: Server;
  readonly line: number; // from 1, as the hub counts
  /** counts: it is the server. replaced: another entry of its name is. waiting: it is once somebody has agreed. */
  readonly role: 'counts' | 'replaced' | 'waiting';
}

/** What is used of a document of the editor. */
export interface Lines {
  readonly isDirty: boolean;
  readonly lineCount: number;
  lineAt(line: number): { readonly text: string };
}

/** Files are strangers: of one with more entries, or with more on one line, the rest has no lens. */
export const mostEntries = 300;
export const mostOnLine = 4;

/** How far an entry is looked for, in lines, and in each line. */
const searched = 200;
const searchedInLine = 1_000;

/** All entries by the file that they stand in. What stands in no file is left out. */
export function entriesByFile(servers: Iterable<Server>): Map<string, Entry[]> {
  const byFile = new Map<string, Entry[]>();
  const onLine = new Map<string, number>();
  const add = (file: string, entry: Entry): void => {
    const place = `${entry.line} ${file}`;
    const here = onLine.get(place) ?? 0;
    const entries = byFile.get(file) ?? [];
    if (entry.line > 0 && path.isAbsolute(file) && here < mostOnLine && entries.length < mostEntries) {
      onLine.set(place, here + 1);
      byFile.set(file, [...entries, entry]);
    }
  };
  for (const server of servers) {
    add(server.configFile, { server, line: server.configLine, role: 'counts' });
    for (const { file, line } of server.shadows) {
      add(file, { server, line, role: 'replaced' });
    }
    for (const { file, line } of server.waitingForConsent) {
      add(file, { server, line, role: 'waiting' });
    }
  }
  return byFile;
}

/** The line of an entry in the document as it is now, from 0; undefined: it is not to be found. */
export function lineOf(document: Lines, { line, server }: Entry): number | undefined {
  const told = line - 1;
  const exact = server.state !== ServerState.BROKEN; // of such an entry the hub knows the line of its fault
  const otherwise = !document.isDirty && told < document.lineCount ? told : undefined;
  if (exact && !document.isDirty) {
    return otherwise;
  }
  const name = server.configName || server.name; // in the file it has no scope behind it
  const quoted = JSON.stringify(name);
  const names = (at: number): boolean => {
    if (at < 0 || at >= document.lineCount) {
      return false;
    }
    const text = document.lineAt(at).text.slice(0, searchedInLine);
    return text.includes(quoted) || (text.trimStart().startsWith('[') && text.includes(name));
  };
  for (let off = 0; off <= searched; off++) {
    if (names(told - off)) {
      return told - off;
    }
    if (names(told + off)) {
      return told + off;
    }
  }
  return otherwise;
}
