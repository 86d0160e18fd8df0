// A parser of JSON that keeps the spelling of numbers and the order of keys: "1.0", 12345678901234567890 and keys like
// "10" and "__proto__" stay unchanged. JSON.parse loses all of that.

import { t } from './t.js';

/** JSON.parse of the browser, for texts that lose nothing by it. */
export const nativeParse: (text: string) => unknown = JSON.parse;

/** A number in its original spelling. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Json = null | boolean | string | JsonNumber | JsonArray | JsonObject;

export type JsonArray = Json[];

export type JsonObject = Map<string, Json>;

export const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const token =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(-?\d[^\s,\]}]*|true|false|null))/y;
const maxDepth = 200; // only a malicious text is nested deeper

/** Parses JSON text. Throws a SyntaxError that says where the fault is, and what it is. */
export function parse(text: string): Json {
  let at = 0;
  let depth = 0;
  const fail = (what: string): never => {
    const before = text.slice(0, at).split('\n');
    throw new SyntaxError(t('Line {0}, column {1}: {2}.', before.length, (before.at(-1) ?? '').length + 1, what));
  };
  const next = () => {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) {
      at += /^\s*/.exec(text.slice(at))?.[0].length ?? 0;
      return fail(at < text.length ? t('this is not JSON') : t('the text ends too early'));
    }
    at = token.lastIndex;
    return match[0].trimStart();
  };
  const peek = () => {
    const back = at;
    const found = next();
    at = back;
    return found;
  };
  const value = (): Json => {
    const found = next();
    if (found === '{' || found === '[') {
      if (++depth > maxDepth) fail(t('this is nested too deeply'));
      const result = found === '{' ? object() : array();
      depth--;
      return result;
    }
    if (found[0] === '"') return nativeParse(found) as string;
    if (found === 'true' || found === 'false') return found === 'true';
    if (found === 'null') return null;
    if (numberPattern.test(found)) return new JsonNumber(found);
    at -= found.length;
    return fail(/[\d-]/.test(found.charAt(0)) ? t('this is not a number') : t('a value is missing'));
  };
  const members = (end: string, member: () => void) => {
    if (peek() === end) {
      next();
      return;
    }
    for (;;) {
      member();
      const mark = next();
      if (mark === end) return;
      if (mark !== ',') {
        at -= mark.length;
        fail(t('"," or "{0}" is missing', end));
      }
    }
  };
  const object = () => {
    const result: JsonObject = new Map();
    members('}', () => {
      const key = next();
      if (key[0] !== '"') {
        at -= key.length;
        fail(t('a name in double quotes is missing'));
      }
      if (next() !== ':') {
        at--;
        fail(t('":" is missing'));
      }
      result.set(nativeParse(key) as string, value());
    });
    return result;
  };
  const array = () => {
    const result: JsonArray = [];
    members(']', () => result.push(value()));
    return result;
  };
  const result = value();
  if (text.slice(at).trim() !== '') fail(t('the value is over, and more follows'));
  return result;
}

export function stringify(value: Json): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`;
  if (value instanceof Map)
    return `{${[...value].map(([key, member]) => `${JSON.stringify(key)}:${stringify(member)}`).join(',')}}`;
  return JSON.stringify(value);
}

/**
 * Returns a value if it is an object, else an empty object: schemas and requests of servers may have the wrong form.
 */
export const objectOf = (value: Json | undefined) => (value instanceof Map ? value : (new Map() as JsonObject));
export const arrayOf = (value: Json | undefined) => (Array.isArray(value) ? value : []);
export const stringOf = (value: Json | undefined) => (typeof value === 'string' ? value : '');
export const numberOf = (value: Json | undefined) => (value instanceof JsonNumber ? Number(value.text) : undefined);

/**
 * Reports whether two values are equal according to JSON Schema: numbers by their value, objects in any order of keys.
 */
export function equal(a: Json, b: Json): boolean {
  if (a instanceof JsonNumber && b instanceof JsonNumber) return compareNumbers(a.text, b.text) === 0;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i] ?? null));
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([key, member]) => b.has(key) && equal(member, b.get(key) ?? null));
  }
  return a === b;
}

/**
 * Returns the path of the first value that is in a but not in b, as the list of keys that lead there. Returns undefined
 * if b has everything that a has; b may have more.
 */
export function lostAt(a: Json, b: Json | undefined): string[] | undefined {
  const pairs =
    a instanceof Map && b instanceof Map
      ? [...a].map(([key, member]) => [key, member, b.get(key)] as const)
      : Array.isArray(a) && Array.isArray(b) && a.length === b.length
        ? a.map((item, i) => [String(i), item, b[i]] as const)
        : undefined;
  if (!pairs) return b !== undefined && equal(a, b) ? undefined : [];
  for (const [key, own, other] of pairs) {
    const at = lostAt(own, other);
    if (at) return [key, ...at];
  }
  return undefined;
}

/** Compares numbers: exactly for integers of any size, otherwise as doubles. */
export function compareNumbers(a: string, b: string) {
  const integer = /^-?\d+$/;
  if (integer.test(a) && integer.test(b)) {
    const [x, y] = [BigInt(a), BigInt(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  }
  return Math.sign(Number(a) - Number(b));
}
