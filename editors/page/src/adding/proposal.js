// Proposals for entries. They come from a registry, a bundle, a host, or a text that a person has pasted. Nothing in
// them is trusted, and nothing is written before a person has seen it in the form.

import { nativeParse } from '../words/jsontext.js';

/** @typedef {import('../../../host/src/gen/mcphub/v1/config_pb.js').ServerFormJson} ServerForm */
/** @typedef {import('../../../host/src/gen/mcphub/v1/config_pb.js').ServerSettingsJson} ServerSettings */
/** @typedef {import('../../../host/src/gen/mcphub/v1/config_pb.js').ConfigEntryJson} ConfigEntry */

/**
 * @typedef {object} Adding
 * @property {(proposal?: Proposal) => void} openAddForm
 * @property {(server: string) => void} openEditForm
 * @property {(server: string) => void} openRemove
 * @property {(write: import('../../../host/src/gen/mcphub/v1/config_pb.js').ConfigWriteJson, did: string) => void}
 *   wrote shows what was written, with a button that undoes it; did: a sentence about the write
 */

/**
 * A value that a person has to fill in. ${input:ID} stands for it in the texts of the proposal.
 * @typedef {object} ProposedInput
 * @property {string} id
 * @property {string} [title] is shown to people instead of the id
 * @property {string} [description]
 * @property {boolean} [secret]
 * @property {boolean} [required]
 * @property {string} [default]
 * @property {string[]} [options] the only allowed values
 * @property {boolean} [ask] the value is asked for when the server starts, if the file can express that and the person
 *   does not choose otherwise
 */

/**
 * A server to add. It has command or url, and entry if the hub has read it.
 * @typedef {object} Proposal
 * @property {string} [name] for the entry
 * @property {string} [title] of the server, for people
 * @property {string} [description] for people
 * @property {string} [source] where the proposal comes from, for people: "the registry registry.example"
 * @property {string[]} [warnings] what a person should know before adding the server
 * @property {string} [command] without arguments
 * @property {string[]} [args]
 * @property {Record<string, string>} [env]
 * @property {string} [cwd]
 * @property {string} [url]
 * @property {'' | 'http' | 'sse'} [transport] for url; '': both are tried
 * @property {Record<string, string>} [headers]
 * @property {ProposedInput[]} [inputs]
 * @property {string} [proposalId] of the hub, which must know what the entry was made from
 * @property {ConfigEntry} [entry] as the hub has read it from a text; parts that the form does not show are kept
 * @property {string} [way] the way (Way.id) that is opened at once; all else is ignored
 * @property {string} [text] a text that the hub reads as if a person had pasted it
 */

/** Reports whether a name suggests that its value is a secret. */
export const looksSecret = (/** @type {string} */ name) =>
  /token|secret|passw|passphrase|credential|authorization|api[_-]?key|access[_-]?key|private[_-]?key|(^|[_-])(key|pat|pwd)$/i.test(
    name,
  );

/** Returns a proposal for an entry that the hub has read. @param {ConfigEntry} entry @returns {Proposal} */
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
      required: true, // matters only where the start of the server cannot ask for it
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
 * Returns arguments as the lines of a field. An argument that is blank, has a line break in it or begins like a JSON
 * string is written as a JSON string.
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
 * Returns the words of a command line, split as a shell does it, but without variables and globs. Returns undefined if
 * a quotation does not end.
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

/** Returns the ids of all ${input:ID} in texts. @param {readonly string[]} texts */
export const inputsIn = (texts) => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(/\$\{input:([^{}]+)\}/g)].map((found) => found[1] ?? ''))),
];
