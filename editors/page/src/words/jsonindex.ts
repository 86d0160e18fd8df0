// An index of the values in a JSON text. It is made without recursion and, if wanted, in slices of time, so that the
// depth or the size of an untrusted text cannot block the page. The values stay in the text, in their original
// spelling.

import { t } from './t.js';

/** JSON.parse of the browser, for texts that lose nothing by it. */
export const nativeParse: (text: string) => unknown = JSON.parse;

export const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export type Kind = 'object' | 'array' | 'string' | 'number' | 'literal';

const kinds: readonly Kind[] = ['object', 'array', 'string', 'number', 'literal'];
const [objectKind, arrayKind, stringKind, numberKind, literalKind] = [0, 1, 2, 3, 4];

/** Maximum number of values in one text. */
export const mostValues = 1 << 20;
const sliceMs = 8;

/** Lets the page do other work. A message arrives at once even in a hidden page, where timers are slow. */
export function pause() {
  return new Promise((resume) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resume(undefined);
    };
    port2.postMessage(undefined);
  });
}

/** Returns a function that pauses if the current slice of time is used up. */
export function pacer() {
  let began = Date.now();
  return async () => {
    if (Date.now() - began < sliceMs) return;
    await pause();
    began = Date.now();
  };
}

/** Numbers by the index of a value. It grows as needed. */
class Column {
  #values = new Int32Array(256);
  length = 0;

  push(value: number) {
    if (this.length === this.#values.length) {
      const larger = new Int32Array(2 * this.length);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.length++] = value;
  }

  at(index: number) {
    return this.#values[index] ?? -1;
  }

  set(index: number, value: number) {
    this.#values[index] = value;
  }
}

/** The values of a text in their order; a container comes before its content. The value 0 is the whole text. */
export class JsonIndex {
  kinds = new Column();
  starts = new Column();
  ends = new Column();
  /** Where the name of a member begins, at its quote; -1: the value has no name. */
  names = new Column();
  nameEnds = new Column();
  parents = new Column();
  depths = new Column();
  /** How many values are directly in a container. */
  counts = new Column();
  /** The first value after this one and everything in it. */
  behind = new Column();
  /** The place of a value in its container, from 0. */
  places = new Column();

  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get length() {
    return this.kinds.length;
  }

  /**
   * Adds the next value, and returns its number.
   * @param end -1: not known yet
   * @param parent -1: none
   * @param name where the name begins and ends
   */
  add(kind: number, start: number, end: number, parent: number, name: readonly [number, number]) {
    const value = this.length;
    if (value >= mostValues) throw new RangeError(t('It has too many values to be shown as a tree.'));
    this.kinds.push(kind);
    this.starts.push(start);
    this.ends.push(end);
    this.names.push(name[0]);
    this.nameEnds.push(name[1]);
    this.parents.push(parent);
    this.depths.push(parent < 0 ? 0 : this.depths.at(parent) + 1);
    this.counts.push(0);
    this.behind.push(value + 1);
    this.places.push(parent < 0 ? 0 : this.counts.at(parent));
    if (parent >= 0) this.counts.set(parent, this.counts.at(parent) + 1);
    return value;
  }

  kind(value: number): Kind {
    return kinds[this.kinds.at(value)] ?? 'literal';
  }

  isContainer(value: number) {
    return this.kinds.at(value) <= arrayKind;
  }

  /**
   * Returns a value in its original spelling.
   * @param most characters
   */
  source(value: number, most: number = Infinity) {
    const start = this.starts.at(value);
    return this.text.slice(start, Math.min(this.ends.at(value), start + most));
  }

  /** Returns the text of a string, and the spelling of any other value. */
  string(value: number, most: number = Infinity) {
    if (this.kinds.at(value) !== stringKind) return this.source(value, most);
    return unquoted(this.text, this.starts.at(value), this.ends.at(value), most);
  }

  /** Returns the name of a value in an object, or ''. */
  name(value: number, most: number = Infinity) {
    const start = this.names.at(value);
    return start < 0 ? '' : unquoted(this.text, start, this.nameEnds.at(value), most);
  }

  /** Yields the values that are directly in a container, in their order. */
  *children(value: number) {
    if (!this.isContainer(value)) return;
    for (let child = value + 1; child < this.behind.at(value); child = this.behind.at(child)) yield child;
  }

  /** Returns the member with a name, the last one if there are several, or undefined if there is none. */
  member(value: number, name: string) {
    if (this.kinds.at(value) !== objectKind) return undefined;
    let found: number | undefined;
    for (const child of this.children(value)) if (this.name(child, name.length + 1) === name) found = child;
    return found;
  }

  /** Returns the text of a member that is a string, or '' if there is none. */
  said(value: number | undefined, name: string) {
    const member = value === undefined ? undefined : this.member(value, name);
    return member !== undefined && this.kinds.at(member) === stringKind ? this.string(member) : '';
  }
}

function unquoted(text: string, start: number, end: number, most: number) {
  // An escape has at most six characters. An escape that was cut is left out.
  const cut = end - start - 2 > 6 * most;
  const inside = cut ? text.slice(start + 1, start + 1 + 6 * most) : text.slice(start + 1, end - 1);
  if (!inside.includes('\\')) return inside.slice(0, most);
  try {
    return (nativeParse(`"${cut ? withoutHalf(inside) : inside}"`) as string).slice(0, most);
  } catch {
    return inside.slice(0, most);
  }
}

/** Removes an escape that was cut at the end. */
function withoutHalf(inside: string) {
  const end = /(\\+)(?:u[\da-fA-F]{0,3})?$/.exec(inside);
  return end && (end[1] ?? '').length % 2 === 1 ? inside.slice(0, end.index + (end[1] ?? '').length - 1) : inside;
}

/** Throws an error that says where the fault is, and what it is. */
export function fail(text: string, at: number, what: string): never {
  const before = text.slice(0, at).split('\n');
  const fault = at < text.length ? what : t('the text ends too early');
  throw new SyntaxError(t('Line {0}, column {1}: {2}.', before.length, (before.at(-1) ?? '').length + 1, fault));
}

/** Returns the end of the string that begins at a quote. */
function endOfString(text: string, start: number) {
  for (let quote = start + 1; ; quote++) {
    quote = text.indexOf('"', quote);
    if (quote < 0) return fail(text, text.length, '');
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
}

const blank = /[ \t\r\n]*/y;
const word = /true|false|null|-?\d[\d.eE+-]*/y;

/** Makes the index of a text in slices of time. It rejects as indexing throws. */
export async function indexJson(text: string): Promise<JsonIndex> {
  const pace = pacer();
  const steps = indexing(text);
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    await pace();
  }
}

/** Makes the index of a text at once. It throws as indexing does. */
export function indexNow(text: string, deepest: number): JsonIndex {
  const steps = indexing(text, deepest);
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
  }
}

function afterBlanks(text: string, at: number) {
  blank.lastIndex = at;
  blank.test(text);
  return blank.lastIndex;
}

/** Returns the kind and the end of a value that contains no others. */
function scalarAt(text: string, at: number): [kind: number, end: number] {
  if (text[at] === '"') return [stringKind, endOfString(text, at)];
  word.lastIndex = at;
  const found = word.exec(text)?.[0] ?? fail(text, at, t('a value is missing'));
  const number = found[0] === '-' || (found[0] ?? '') <= '9';
  if (number && !numberPattern.test(found)) fail(text, at, t('this is not a number'));
  return [number ? numberKind : literalKind, at + found.length];
}

const unnamed = [-1, -1] as const;

/**
 * Makes the index of a text. It yields where it may pause. It throws a SyntaxError that says what is wrong, or a
 * RangeError if the text has too many values.
 */
function* indexing(text: string, deepest: number = Infinity): Generator<void, JsonIndex> {
  const index = new JsonIndex(text);
  let at = afterBlanks(text, 0);
  let container = -1;

  const skip = (to: number) => (at = afterBlanks(text, to));
  const close = () => {
    index.ends.set(container, at + 1);
    index.behind.set(container, index.length);
    container = index.parents.at(container);
    skip(at + 1);
  };
  const readName = (): readonly [number, number] => {
    if (index.kinds.at(container) !== objectKind) return unnamed;
    if (text[at] !== '"') fail(text, at, t('a name in double quotes is missing'));
    const name = [at, endOfString(text, at)] as const;
    skip(name[1]);
    if (text[at] !== ':') fail(text, at, t('":" is missing'));
    skip(at + 1);
    return name;
  };
  /** Reads a value, or the beginning of a container. Reports whether the value is a container that is not empty. */
  const readValue = () => {
    const name = readName();
    const char = text[at];
    if (char !== '{' && char !== '[') {
      const [kind, end] = scalarAt(text, at);
      index.add(kind, at, end, container, name);
      skip(end);
      return false;
    }
    if (container >= 0 && index.depths.at(container) + 1 >= deepest) fail(text, at, t('this is nested too deeply'));
    container = index.add(char === '{' ? objectKind : arrayKind, at, -1, container, name);
    skip(at + 1);
    if (text[at] !== (char === '{' ? '}' : ']')) return true;
    close();
    return false;
  };
  /** Reads the ends of containers up to a comma. Reports whether there is one. */
  const readEnds = () => {
    while (container >= 0) {
      const end = index.kinds.at(container) === objectKind ? '}' : ']';
      if (text[at] === ',') {
        skip(at + 1);
        return true;
      }
      if (text[at] !== end) fail(text, at, t('"," or "{0}" is missing', end));
      close();
    }
    return false;
  };

  for (let values = 1; readValue() || readEnds(); values++) if (values % 512 === 0) yield;
  if (at < text.length) fail(text, at, t('the value is over, and more follows'));
  return index;
}
