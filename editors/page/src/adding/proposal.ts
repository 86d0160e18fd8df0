// Proposals for entries. They come from a registry, a bundle, a host, or a text that a person has pasted. Nothing in
// them is trusted, and nothing is written before a person has seen it in the form.

import { nativeParse } from '../words/jsontext.js';
import type {
  ConfigEntryJson as ConfigEntry,
  ConfigWriteJson,
  ServerFormJson as ServerForm,
} from '../../../host/src/gen/mcphub/v1/config_pb.js';

export interface Adding {
  openAddForm: (proposal?: Proposal) => void;
  openEditForm: (server: string) => void;
  openRemove: (server: string) => void;
  /** shows what was written, with a button that undoes it; did: a sentence about the write */
  wrote: (write: ConfigWriteJson, did: string) => void;
}

/** A value that a person has to fill in. ${input:ID} stands for it in the texts of the proposal. */
export interface ProposedInput {
  id: string;
  /** is shown to people instead of the id */
  title?: string;
  description?: string;
  secret?: boolean;
  required?: boolean;
  default?: string;
  /** the only allowed values */
  options?: string[];
  /**
   * the value is asked for when the server starts, if the file can express that and the person does not choose
   * otherwise
   */
  ask?: boolean;
}

/** A server to add. It has command or url, and entry if the hub has read it. */
export interface Proposal {
  /** for the entry */
  name?: string;
  /** of the server, for people */
  title?: string;
  /** for people */
  description?: string;
  /** where the proposal comes from, for people: "the registry registry.example" */
  source?: string;
  /** what a person should know before adding the server */
  warnings?: string[];
  /** without arguments */
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  /** for url; '': both are tried */
  transport?: '' | 'http' | 'sse';
  headers?: Record<string, string>;
  inputs?: ProposedInput[];
  /** of the hub, which must know what the entry was made from */
  proposalId?: string;
  /** as the hub has read it from a text; parts that the form does not show are kept */
  entry?: ConfigEntry;
  /** the way (Way.id) that is opened at once; all else is ignored */
  way?: string;
  /** a text that the hub reads as if a person had pasted it */
  text?: string;
}

/** Reports whether a name suggests that its value is a secret. */
export const looksSecret = (name: string) =>
  /token|secret|passw|passphrase|credential|authorization|api[_-]?key|access[_-]?key|private[_-]?key|(^|[_-])(key|pat|pwd)$/i.test(
    name,
  );

/** Returns a proposal for an entry that the hub has read. */
export function proposalOf(entry: ConfigEntry): Proposal {
  const { form = {}, inputs = [] } = entry;
  return {
    ...(entry.server && { name: entry.server }),
    ...ofForm(form),
    inputs: inputs.map(({ id = '', description, secret, default: given, options }) => ({
      id,
      ...(description && { description }),
      ...(secret && { secret }),
      ...(given && { default: given }),
      ...(options?.length && { options }),
      ask: true,
      required: true, // matters only where the start of the server cannot ask for it
    })),
    entry,
  };
}

function ofForm({ command, args, environment, directory, url, transport, headers }: ServerForm): Proposal {
  if (!url)
    return {
      command: command ?? '',
      args: args ?? [],
      env: environment ?? {},
      ...(directory && { cwd: directory }),
    };
  const via = transport === 'SERVER_TRANSPORT_HTTP' ? 'http' : transport === 'SERVER_TRANSPORT_SSE' ? 'sse' : '';
  return { url, transport: via, headers: headers ?? {} };
}

/**
 * Returns arguments as the lines of a field. An argument that is blank, has a line break in it or begins like a JSON
 * string is written as a JSON string.
 */
export const asLines = (args: readonly string[]) =>
  args.map((arg) => (/[\r\n]|^\s*"|^\s*$/.test(arg) ? JSON.stringify(arg) : arg)).join('\n');

export const ofLines = (text: string): string[] =>
  text.split(/\r?\n/).flatMap((line) => {
    if (line.trim() === '') return [];
    if (/^\s*"(?:[^"\\]|\\.)*"\s*$/.test(line)) {
      try {
        return [String(nativeParse(line))];
      } catch {
        return [line];
      }
    }
    return [line];
  });

/**
 * Returns the words of a command line, split as a shell does it, but without variables and globs. Returns undefined if
 * a quotation does not end.
 */
export function wordsOf(line: string): string[] | undefined {
  const words = [];
  let word = '';
  let begun = false;
  let quote = '';
  for (let i = 0; i < line.length; i++) {
    const char = line[i] ?? '';
    if (quote) {
      if (char === quote) quote = '';
      else if (char === '\\' && quote === '"' && /["\\]/.test(line[i + 1] ?? '')) word += line[++i] ?? '';
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      begun = true;
    } else if (/\s/.test(char)) {
      if (begun) words.push(word);
      word = '';
      begun = false;
    } else {
      word += char;
      begun = true;
    }
  }
  if (quote) return undefined;
  if (begun) words.push(word);
  return words;
}

/** Returns the ids of all ${input:ID} in texts. */
export const inputsIn = (texts: readonly string[]) => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(/\$\{input:([^{}]+)\}/g)].map((found) => found[1] ?? ''))),
];
