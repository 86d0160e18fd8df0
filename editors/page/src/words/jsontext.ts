// JSON as values that keep the spelling of numbers and the order of keys: "1.0", 12345678901234567890 and keys like
// "10" and "__proto__" stay unchanged. JSON.parse loses all of that.

import { fail, indexNow, nativeParse } from './jsonindex.js';
import { t } from './t.js';

export { nativeParse, numberPattern } from './jsonindex.js';

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

const maxDepth = 200; // only a malicious text is nested deeper

/** Parses JSON text. Throws a SyntaxError that says where the fault is, and what it is. */
export function parse(text: string): Json {
  const index = indexNow(text, maxDepth);
  const native = (from: number, to: number): string | boolean | null => {
    try {
      return nativeParse(text.slice(from, to)) as string | boolean | null;
    } catch {
      return fail(text, from, t('this is not JSON'));
    }
  };
  const build = (value: number): Json => {
    const kind = index.kind(value);
    if (kind === 'number') return new JsonNumber(index.source(value));
    if (kind === 'array') return Array.from(index.children(value), build);
    if (kind !== 'object') return native(index.starts.at(value), index.ends.at(value));
    const members = Array.from(index.children(value), (member): [string, Json] => [
      String(native(index.names.at(member), index.nameEnds.at(member))),
      build(member),
    ]);
    return new Map(members);
  };
  return build(0);
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
