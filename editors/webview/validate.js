// What a value lacks to fit its schema, in words for a person. The hub and the server check again: here it is for a quick answer, so what this does not
// know, it lets pass.
import { arrayOf, compareNumbers, equal, JsonNumber, numberOf, objectOf, stringify, stringOf } from './jsontext.js';
import { plural } from './text.js';

/** @typedef {import('./jsontext.js').Json} Json */
/** @typedef {import('./jsontext.js').JsonObject} JsonObject */
/** @typedef {{ path: string, message: string }} Problem path: a JSON Pointer */

const maxDepth = 40; // a $ref may lead in a circle

/** @param {string} path @param {string | number} key */
export const pathTo = (path, key) => `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/**
 * The schema itself: local references followed, allOf folded in.
 * @param {Json | undefined} schema @param {JsonObject} root
 * @returns {JsonObject}
 */
export function resolve(schema, root, depth = 0) {
  let found = objectOf(schema);
  const ref = stringOf(found.get('$ref'));
  if (depth > maxDepth) return new Map();
  if (ref.startsWith('#')) {
    /** @type {Json | undefined} */
    let target = root;
    for (const part of ref.slice(1).split('/').slice(1)) {
      target = objectOf(target).get(part.replaceAll('~1', '/').replaceAll('~0', '~'));
    }
    found = new Map([...resolve(target, root, depth + 1), ...[...found].filter(([key]) => key !== '$ref')]);
  }
  for (const part of arrayOf(found.get('allOf'))) {
    const more = resolve(part, root, depth + 1);
    found = new Map([...more, ...found,
      ['properties', new Map([...objectOf(more.get('properties')), ...objectOf(found.get('properties'))])],
      ['required', [...arrayOf(more.get('required')), ...arrayOf(found.get('required'))]]]);
  }
  return found;
}

/** @param {JsonObject} schema */
export function typesOf(schema) {
  const type = schema.get('type');
  return (Array.isArray(type) ? type : [type]).map(stringOf).filter(Boolean);
}

/** @type {Record<string, (value: Json) => boolean>} */
const isOf = {
  string: (value) => typeof value === 'string',
  number: (value) => value instanceof JsonNumber,
  integer: (value) => value instanceof JsonNumber && Number.isInteger(Number(value.text)),
  boolean: (value) => typeof value === 'boolean',
  object: (value) => value instanceof Map,
  array: Array.isArray,
  null: (value) => value === null,
};
/** @type {Record<string, string>} */
const typeWords = {
  string: 'a text', number: 'a number', integer: 'a whole number', boolean: 'true or false', object: 'an object', array: 'a list', null: 'null',
};
/** @type {Record<string, [RegExp, string]>} */
const formats = {
  email: [/^[^\s@]+@[^\s@]+$/, 'Enter an e-mail address, name@example.com say.'],
  uri: [/^[a-z][a-z\d+.-]*:\S+$/i, 'Enter a whole address, https://example.com say.'],
  date: [/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/, 'Enter a date, 2026-03-31 say.'],
  'date-time': [/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/, 'Enter a date and time, 2026-03-31T18:30:00Z say.'],
};

/**
 * Whether a pattern of a server may run here at all: one that tries a group again and again, or has many open repetitions, can keep a page busy for
 * hours. The hub's expressions cannot, and it checks the rest.
 * @param {string} pattern @param {string} text
 */
export function testable(pattern, text) {
  const plain = pattern.replace(/\\[^]|\[(?:\\[^]|[^\]])*\]/g, 'x');
  return text.length <= 256 && !/\\\d/.test(pattern) && !/\)[*+{]/.test(plain) && (plain.match(/[*+{]/g) ?? []).length <= (plain.startsWith('^') ? 3 : 2);
}

/**
 * @param {Json | undefined} rawSchema @param {Json} value @param {JsonObject} root where references lead
 * @returns {Problem[]}
 */
export function validate(rawSchema, value, root, path = '', depth = 0) {
  if (depth > maxDepth) return [];
  if (rawSchema === false) return [{ path, message: 'Nothing may be here.' }];
  const schema = resolve(rawSchema, root);
  /** @type {Problem[]} */
  const problems = [];
  const say = (/** @type {string} */ message) => problems.push({ path, message });
  const limit = (/** @type {string} */ key) => numberOf(schema.get(key));
  const types = typesOf(schema);
  if (types.length && !types.some((type) => isOf[type]?.(value) ?? true)) {
    return [{ path, message: `This must be ${types.map((type) => typeWords[type] ?? type).join(' or ')}.` }];
  }
  if (schema.has('const') && !equal(schema.get('const') ?? null, value)) say(`This must be ${stringify(schema.get('const') ?? null)}.`);
  if (schema.has('enum') && !arrayOf(schema.get('enum')).some((choice) => equal(choice, value))) say('Choose one of the values.');
  if (typeof value === 'string') checkText(schema, value, limit, say);
  if (value instanceof JsonNumber) checkNumber(schema, value, say);
  if (Array.isArray(value)) {
    const [least, most] = [limit('minItems') ?? 0, limit('maxItems') ?? Infinity];
    if (value.length < least) say(`At least ${plural(least, 'entry', 'entries')}, please.`);
    if (value.length > most) say(`At most ${plural(most, 'entry', 'entries')}, please.`);
    if (schema.get('uniqueItems') === true && value.some((item, i) => value.slice(0, i).some((other) => equal(item, other)))) say('No entry may come twice.');
    if (schema.has('items')) value.forEach((item, i) => problems.push(...validate(schema.get('items'), item, root, pathTo(path, i), depth + 1)));
  }
  if (value instanceof Map) {
    const properties = objectOf(schema.get('properties'));
    for (const name of new Set(arrayOf(schema.get('required')).map(stringOf))) {
      if (!value.has(name)) problems.push({ path: pathTo(path, name), message: 'This is required.' });
    }
    const rest = schema.has('patternProperties') ? undefined : schema.get('additionalProperties');
    for (const [name, member] of value) {
      if (properties.has(name) || rest !== undefined) {
        problems.push(...validate(properties.has(name) ? properties.get(name) : rest, member, root, pathTo(path, name), depth + 1));
      }
    }
  }
  for (const key of ['anyOf', 'oneOf']) {
    const attempts = arrayOf(schema.get(key)).map((choice) => validate(choice, value, root, path, depth + 1));
    // What the likeliest choice lacks says more than "fits none".
    if (attempts.length) problems.push(...attempts.reduce((best, next) => (next.length < best.length ? next : best)));
  }
  return problems;
}

/**
 * @param {JsonObject} schema @param {string} value @param {(key: string) => number | undefined} limit @param {(message: string) => void} say
 */
function checkText(schema, value, limit, say) {
  const length = [...value].length; // characters as JSON Schema counts them, not UTF-16 units
  const [least, most] = [limit('minLength') ?? 0, limit('maxLength') ?? Infinity];
  if (length < least) say(`Enter at least ${plural(least, 'character')}.`);
  if (length > most) say(`Enter at most ${plural(most, 'character')}; these are ${length}.`);
  const [format, hint] = formats[stringOf(schema.get('format'))] ?? [];
  if (format && !format.test(value)) say(hint ?? '');
  const pattern = stringOf(schema.get('pattern'));
  if (!pattern || !testable(pattern, value)) return;
  try {
    if (!new RegExp(pattern, 'u').test(value)) say(`This must match the pattern ${pattern}`);
  } catch {
    // An expression that this engine cannot read is the hub's to judge.
  }
}

/** @param {JsonObject} schema @param {JsonNumber} value @param {(message: string) => void} say */
function checkNumber(schema, value, say) {
  const against = (/** @type {string} */ key, /** @type {(order: number) => boolean} */ wrong, /** @type {string} */ words) => {
    const bound = schema.get(key);
    if (bound instanceof JsonNumber && wrong(compareNumbers(value.text, bound.text))) say(`Enter a number ${words} ${bound.text}.`);
  };
  against('minimum', (order) => order < 0, 'of at least');
  against('maximum', (order) => order > 0, 'of at most');
  against('exclusiveMinimum', (order) => order <= 0, 'above');
  against('exclusiveMaximum', (order) => order >= 0, 'below');
  const step = numberOf(schema.get('multipleOf')) ?? 0;
  const times = Number(value.text) / step;
  if (step > 0 && Math.abs(times - Math.round(times)) > 1e-9 * Math.max(1, Math.abs(times))) say(`Enter a multiple of ${step}.`);
}
