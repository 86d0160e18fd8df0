// Checks whether a value fits its schema, with problems in words for a person. The hub and the server check again. This
// check is only for a quick answer, so it accepts everything that it does not know.
import {
  arrayOf,
  compareNumbers,
  equal,
  JsonNumber,
  numberOf,
  objectOf,
  stringify,
  stringOf,
} from '../words/jsontext.js';
import { plural, t } from '../words/t.js';
import type { Json, JsonObject } from '../words/jsontext.js';

/** path: a JSON Pointer */
export type Problem = { path: string; message: string };

const maxDepth = 40; // a $ref may lead back to itself
const maxWork = 20_000; // if a $ref leads to two others, and each of them again to two, the work doubles at every step
const mostCompared = 1000; // entries that are all compared with each other
/** How much work may still be spent on a server's schema. */
export type Work = { left: number };

const allowance = () => ({ left: maxWork });

export const pathTo = (path: string, key: string | number) =>
  `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Returns a schema with local references followed and allOf merged in. */
export function resolve(schema: Json | undefined, root: JsonObject, work: Work = allowance(), depth = 0): JsonObject {
  let found = objectOf(schema);
  const ref = stringOf(found.get('$ref'));
  if (depth > maxDepth || --work.left < 0) return new Map();
  if (ref.startsWith('#')) {
    let target: Json | undefined = root;
    for (const part of ref.slice(1).split('/').slice(1)) {
      target = objectOf(target).get(part.replaceAll('~1', '/').replaceAll('~0', '~'));
    }
    found = new Map([...resolve(target, root, work, depth + 1), ...[...found].filter(([key]) => key !== '$ref')]);
  }
  for (const part of arrayOf(found.get('allOf'))) {
    if (work.left < 0) break;
    const more = resolve(part, root, work, depth + 1);
    const properties = new Map([...objectOf(more.get('properties')), ...objectOf(found.get('properties'))]);
    const required = [...new Set([...arrayOf(more.get('required')), ...arrayOf(found.get('required'))])];
    work.left -= properties.size + required.length;
    found = new Map([...more, ...found, ['properties', properties], ['required', required]]);
  }
  return found;
}

export function typesOf(schema: JsonObject) {
  const type = schema.get('type');
  return (Array.isArray(type) ? type : [type]).map(stringOf).filter(Boolean);
}

// These are Maps, not objects: a server may send a type or a format that is called "constructor".
const kinds: Map<string, [words: string, fits: (value: Json) => boolean]> = new Map([
  ['string', [t('text'), (value) => typeof value === 'string']],
  ['number', [t('a number'), (value) => value instanceof JsonNumber]],
  ['integer', [t('a whole number'), (value) => value instanceof JsonNumber && Number.isInteger(Number(value.text))]],
  ['boolean', [t('true or false'), (value) => typeof value === 'boolean']],
  ['object', [t('an object'), (value) => value instanceof Map]],
  ['array', [t('a list'), Array.isArray]],
  ['null', ['null', (value) => value === null]],
]);
const formats: Map<string, [RegExp, hint: string]> = new Map([
  ['email', [/^[^\s@]+@[^\s@]+$/, t('Enter an e-mail address, for example name@example.com.')]],
  ['uri', [/^[a-z][a-z\d+.-]*:\S+$/i, t('Enter a full URL, for example https://example.com.')]],
  ['date', [/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/, t('Enter a date, for example 2026-03-31.')]],
  [
    'date-time',
    [
      /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/,
      t('Enter a date and time, for example 2026-03-31T18:30:00Z.'),
    ],
  ],
]);
const mostSteps = 2 ** 24;

/**
 * Reports whether a pattern of a server may run in the page. A pattern that repeats a group can keep the page busy for
 * hours, and each unbounded repetition, optional part and alternative multiplies the ways to try. The expressions of
 * the hub do not have this problem, and the hub checks the other patterns.
 */
export function testable(pattern: string, text: string) {
  const plain = pattern.replace(/\\[^]|\[(?:\\[^]|[^\]])*\]/g, 'x').replaceAll('(?', '(');
  if (text.length > 256 || /\\[\dk]/.test(pattern) || /\)[*+{]/.test(plain)) return false;
  const count = (mark: RegExp) => (plain.match(mark) ?? []).length;
  // A pattern is tried at each character, unless it begins with "^". The alternatives of one group are tried one after
  // the other: their numbers add up. The numbers of different groups are multiplied.
  const ways = 256 ** (count(/[*+{]/g) + (plain.startsWith('^') ? 0 : 1)) * 2 ** count(/[^*+}]\?/g);
  return ways * alternatives(plain) <= mostSteps;
}

/** Returns in how many ways the alternatives of a pattern's groups can be combined. */
function alternatives(plain: string) {
  let ways = 1;
  const open = [1];
  for (const char of plain) {
    if (char === '(') open.push(1);
    if (char === '|') open.push((open.pop() ?? 0) + 1);
    if (char === ')') ways *= open.pop() ?? 1;
  }
  return open.reduce((product, one) => product * one, ways);
}

/**
 * Returns the problems of a value.
 * @param root the whole schema, which references point into
 */
export const validate = (schema: Json | undefined, value: Json, root: JsonObject): Problem[] =>
  new Validation(root).of(schema, value, '', 0);

type Say = (message: string) => void;

/** Checks one value, as long as the work for it is left. */
class Validation {
  readonly #root: JsonObject;
  readonly #work = allowance();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  of(rawSchema: Json | undefined, value: Json, path: string, depth: number): Problem[] {
    if (depth > maxDepth || this.#work.left < 0) return [];
    if (rawSchema === false) return [{ path, message: t('Nothing may be here.') }];
    const schema = resolve(rawSchema, this.#root, this.#work);
    if (this.#work.left < 0) return []; // a schema that is only half resolved would report problems of a valid value
    const types = typesOf(schema);
    if (types.length && !types.some((type) => kinds.get(type)?.[1](value) ?? true)) {
      const words = types.map((type) => kinds.get(type)?.[0] ?? type).join(t(' or '));
      return [{ path, message: t('This must be {0}.', words) }];
    }
    const problems: Problem[] = [];
    checkOwn(schema, value, (message) => problems.push({ path, message }));
    if (Array.isArray(value)) problems.push(...this.#items(schema, value, path, depth));
    if (value instanceof Map) problems.push(...this.#members(schema, value, path, depth));
    return [...problems, ...this.#variants(schema, value, path, depth)];
  }

  #items(schema: JsonObject, list: readonly Json[], path: string, depth: number) {
    const items = schema.get('items');
    if (items === undefined) return [];
    return list.flatMap((item, i) => this.of(items, item, pathTo(path, i), depth + 1));
  }

  #members(schema: JsonObject, value: JsonObject, path: string, depth: number) {
    const properties = objectOf(schema.get('properties'));
    const required = new Set(arrayOf(schema.get('required')).map(stringOf));
    const rest = schema.has('patternProperties') ? undefined : schema.get('additionalProperties');
    return [
      ...[...required]
        .filter((name) => !value.has(name))
        .map((name) => ({ path: pathTo(path, name), message: t('This is required.') })),
      ...[...value].flatMap(([name, member]) => {
        const known = properties.has(name);
        if (!known && rest === undefined) return [];
        return this.of(known ? properties.get(name) : rest, member, pathTo(path, name), depth + 1);
      }),
    ];
  }

  /** Returns the problems of the choice that fits best, which help more than "fits none". */
  #variants(schema: JsonObject, value: Json, path: string, depth: number) {
    return ['anyOf', 'oneOf'].flatMap((key) => {
      const attempts = arrayOf(schema.get(key)).map((choice) => this.of(choice, value, path, depth + 1));
      return attempts.length ? attempts.reduce((best, next) => (next.length < best.length ? next : best)) : [];
    });
  }
}

const limit = (schema: JsonObject, key: string) => numberOf(schema.get(key));

/** Checks a value without what is inside it. */
function checkOwn(schema: JsonObject, value: Json, say: Say) {
  if (schema.has('const') && !equal(schema.get('const') ?? null, value))
    say(t('This must be {0}.', stringify(schema.get('const') ?? null)));
  if (schema.has('enum') && !arrayOf(schema.get('enum')).some((choice) => equal(choice, value)))
    say(t('Choose one of the values.'));
  if (typeof value === 'string') checkText(schema, value, say);
  if (value instanceof JsonNumber) checkNumber(schema, value, say);
  if (Array.isArray(value)) checkList(schema, value, say);
}

function checkList(schema: JsonObject, list: readonly Json[], say: Say) {
  const [least, most] = [limit(schema, 'minItems') ?? 0, limit(schema, 'maxItems') ?? Infinity];
  if (list.length < least) say(plural(least, 'Enter at least {0} entry.', 'Enter at least {0} entries.'));
  if (list.length > most) say(plural(most, 'Enter at most {0} entry.', 'Enter at most {0} entries.'));
  const unique = schema.get('uniqueItems') === true && list.length <= mostCompared;
  if (unique && list.some((item, i) => list.findIndex((other) => equal(item, other)) < i))
    say(t('No two entries may be the same.'));
}

function checkText(schema: JsonObject, value: string, say: Say) {
  const { length } = Array.from(value); // characters as JSON Schema counts them, not UTF-16 units
  const [least, most] = [limit(schema, 'minLength') ?? 0, limit(schema, 'maxLength') ?? Infinity];
  if (length < least) say(plural(least, 'Enter at least {0} character.', 'Enter at least {0} characters.'));
  if (length > most)
    say(
      plural(
        most,
        'Enter at most {0} character; these are {1}.',
        'Enter at most {0} characters; these are {1}.',
        length,
      ),
    );
  const [format, hint] = formats.get(stringOf(schema.get('format'))) ?? [];
  if (format && !format.test(value)) say(hint ?? '');
  const pattern = stringOf(schema.get('pattern'));
  if (!pattern || !testable(pattern, value)) return;
  try {
    if (!new RegExp(pattern, 'u').test(value)) say(t('This must match the pattern {0}', pattern));
  } catch {
    // The hub checks an expression that this engine cannot read.
  }
}

function checkNumber(schema: JsonObject, value: JsonNumber, say: Say) {
  const against = (key: string, wrong: (order: number) => boolean, words: (bound: string) => string) => {
    const bound = schema.get(key);
    if (bound instanceof JsonNumber && wrong(compareNumbers(value.text, bound.text))) say(words(bound.text));
  };
  against(
    'minimum',
    (order) => order < 0,
    (bound) => t('Enter a number of at least {0}.', bound),
  );
  against(
    'maximum',
    (order) => order > 0,
    (bound) => t('Enter a number of at most {0}.', bound),
  );
  against(
    'exclusiveMinimum',
    (order) => order <= 0,
    (bound) => t('Enter a number above {0}.', bound),
  );
  against(
    'exclusiveMaximum',
    (order) => order >= 0,
    (bound) => t('Enter a number below {0}.', bound),
  );
  const step = numberOf(schema.get('multipleOf')) ?? 0;
  const times = Number(value.text) / step;
  if (step > 0 && Math.abs(times - Math.round(times)) > 1e-9 * Math.max(1, Math.abs(times)))
    say(t('Enter a multiple of {0}.', step));
}
