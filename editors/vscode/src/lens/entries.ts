// The positions of server entries in files, as the hub has read them. This file reads and parses nothing. If a document
// differs from what the hub knows because a user is editing it, the name is searched around the last known line.
import path from 'node:path';
import { ServerState } from '@mcphub/host/contract';
import type { Server } from '@mcphub/host/contract';

export interface Entry {
  readonly server: Server;
  readonly line: number; // from 1, as the hub counts
  /** counts: the entry defines the server. replaced: another entry of its name does. waiting: it will after consent. */
  readonly role: 'counts' | 'replaced' | 'waiting';
}

/** The part of an editor's document that is used. */
export interface Lines {
  readonly isDirty: boolean;
  readonly lineCount: number;
  lineAt(line: number): { readonly text: string };
}

/** Limits of lenses in a file and on a line, since files are untrusted. Further entries get no lens. */
export const mostEntries = 300;
export const mostOnLine = 4;

/** How far an entry is searched for: lines in each direction, and characters of each line. */
const searched = 200;
const searchedInLine = 1_000;

/** Returns all entries by file. Entries that have no file are left out. */
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

/** Returns the current line of an entry in the document, from 0, or undefined if it is not found. */
export function lineOf(document: Lines, { line, server }: Entry): number | undefined {
  const told = line - 1;
  const exact = server.state !== ServerState.BROKEN; // for a broken entry the hub knows only the line of the error
  const otherwise = !document.isDirty && told < document.lineCount ? told : undefined;
  if (exact && !document.isDirty) {
    return otherwise;
  }
  const name = server.configName || server.name; // the name in the file has no scope appended
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
