// What somebody proposes to add: a registry, a bundle, a host, or what a person has pasted. Nothing of it is trusted,
// and nothing is written before a person has seen it in the form.

import { nativeParse } from '../words/jsontext.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/config_pb.js').ServerFormJson} ServerForm */
/** @typedef {import('../../../host/src/gen/mcphub/v1/config_pb.js').ServerSettingsJson} ServerSettings */
/** @typedef {import('../../../host/src/gen/mcphub/v1/config_pb.js').ConfigEntryJson} ConfigEntry */

/**
 * @typedef {object} Adding
 * @property {(proposal?: Proposal) => void} openAddForm
 * @property {(server: string) => void} openEditForm
 * @property {(server: string) => void} openRemove
 * @property {(write: import('../../../host/src/gen/mcphub/v1/config_pb.js').ConfigWriteJson, did: string) => void} wrote tells what was written, with Undo; did: a sentence
 */

/**
 * A value that a person has to fill in. ${input:ID} stands for it in the texts of the proposal.
 * @typedef {object} ProposedInput
 * @property {string} id
 * @property {string} [title] for people, instead of the id
 * @property {string} [description]
 * @property {boolean} [secret]
 * @property {boolean} [required]
 * @property {string} [default]
 * @property {string[]} [options] the only values that are right
 * @property {boolean} [ask] at the start of the server, unless a person says otherwise, where the file can say that
 */

/**
 * A server to add: with command or url, or with entry.
 * @typedef {object} Proposal
 * @property {string} [name] for the entry
 * @property {string} [title] what it is, for people
 * @property {string} [description] for people
 * @property {string} [source] where it comes from, for people: "the registry registry.example"
 * @property {string[]} [warnings] what a person should know before it is added
 * @property {string} [command] without arguments
 * @property {string[]} [args]
 * @property {Record<string, string>} [env]
 * @property {string} [cwd]
 * @property {string} [url]
 * @property {'' | 'http' | 'sse'} [transport] of a url; '': both are tried
 * @property {Record<string, string>} [headers]
 * @property {ProposedInput[]} [inputs]
 * @property {string} [proposalId] of the hub, which has to know what the entry was made of
 * @property {ConfigEntry} [entry] as the hub has read it of a text; what the form does not show of it is kept
 * @property {string} [way] to be gone at once (Way.id), instead of all else
 * @property {string} [text] to be read by the hub, as if it had been pasted
 */

/** A name that says that its value is a secret. */
export const looksSecret = (/** @type {string} */ name) =>
  /token|secret|passw|passphrase|credential|authorization|api[_-]?key|access[_-]?key|private[_-]?key|(^|[_-])(key|pat|pwd)$/i.test(
    name,
  );

/** A proposal of an entry that the hub has read. @param {ConfigEntry} entry @returns {Proposal} */
export function proposalOf(entry) {
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
      required: true, // where it cannot be asked for
    })),
    entry,
  };
}

/** @param {ServerForm} form @returns {Proposal} */
function ofForm({ command, args, environment, directory, url, transport, headers }) {
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
 * Arguments as lines of a field. One with a line break in it, or that reads as a JSON string, is written as a JSON
 * string.
 * @param {readonly string[]} args
 */
export const asLines = (args) =>
  args.map((arg) => (/[\r\n]|^\s*"|^\s*$/.test(arg) ? JSON.stringify(arg) : arg)).join('\n');

/** @param {string} text @returns {string[]} */
export const ofLines = (text) =>
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
 * The words of a command line as a shell would part them, without its variables and globs. undefined: it has quotes
 * that do not end.
 * @param {string} line
 * @returns {string[] | undefined}
 */
export function wordsOf(line) {
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

/** Ids of ${input:ID} in texts. @param {readonly string[]} texts */
export const inputsIn = (texts) => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(/\$\{input:([^{}]+)\}/g)].map((found) => found[1] ?? ''))),
];
