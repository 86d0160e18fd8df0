// A form for any schema: what is typed is sent, and fields that were not filled in are left out.

import assert from 'node:assert/strict';
import { mainTest, pageTest } from '../harness/pagetest.js';

/** @param {unknown} schema @param {string} [text] of the schema, where JavaScript would change its numbers */
const asking = (schema, text = JSON.stringify(schema)) => ({
  snapshot: {
    prompts: [
      {
        promptId: 'p',
        server: 'files',
        requestId: 'r',
        elicitationForm: { message: 'Please', schemaJson: text, requestJson: '{}' },
      },
    ],
  },
});

/** @typedef {Parameters<Parameters<typeof pageTest>[2]>[0]} Tools */

/** Submits the form, and returns the JSON text that was sent. @param {Tools} tools */
async function submitted({ by, hub, pass }) {
  await pass(700);
  await by('prompt-p').locator('[data-testid="accept"]').click();
  return (await hub.next('answerPrompt')).answerPrompt.accept?.contentJson;
}

/**
 * @param {string} name
 * @param {unknown} schema
 * @param {(card: import('../harness/pagetest.js').Locator, tools: Tools) => Promise<void>} fill
 * @param {string} json
 */
const sends = (name, schema, fill, json) =>
  pageTest(name, asking(schema), async (tools) => {
    const card = tools.by('prompt-p');
    await card.waitFor();
    await fill(card, tools);
    assert.equal(await submitted(tools), json);
  });

sends(
  'numbers are sent as they are typed, and big integers survive',
  { properties: { a: { type: 'number' }, b: { type: 'integer' }, c: { type: 'number' } } },
  async (card) => {
    await card.getByLabel('a', { exact: true }).fill('1.0');
    await card.getByLabel('b', { exact: true }).fill(' 12345678901234567890 ');
    await card.getByLabel('c', { exact: true }).fill('1e-7');
  },
  '{"a":1.0,"b":12345678901234567890,"c":1e-7}',
);

sends(
  'optional fields that are empty are left out, defaults are there from the start, and keys keep their order',
  {
    required: ['yes'],
    properties: {
      zero: { type: 'string' },
      10: { type: 'string', default: 'ten' },
      no: { type: 'integer' },
      yes: { type: 'boolean' },
      maybe: { type: 'boolean' },
      list: { type: 'array', items: { type: 'string' } },
      deep: { type: 'object', required: ['x'], properties: { x: { type: 'string' } } },
      pick: { enum: [1, 'b'], default: 'b' },
    },
  },
  async () => {},
  '{"10":"ten","yes":false,"pick":"b"}',
);

sends(
  'an optional object is sent once it is added, with its defaults',
  {
    properties: {
      deep: {
        type: 'object',
        required: ['x'],
        properties: { x: { type: 'string' }, n: { type: 'integer', default: 3 } },
      },
    },
  },
  async (card, { page }) => {
    await card.getByRole('button', { name: 'Add deep' }).click();
    await page.keyboard.type('here');
  },
  '{"deep":{"x":"here","n":3}}',
);

sends(
  'a list of anything: entries are added, filled and taken away',
  {
    properties: {
      list: {
        type: 'array',
        items: {
          type: 'object',
          properties: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
        },
      },
    },
  },
  async (card) => {
    for (const name of ['one', 'two', 'three']) {
      await card.getByRole('button', { name: 'Add entry' }).last().click();
      await card.getByLabel('name').last().fill(name);
    }
    await card.getByRole('button', { name: 'Remove entry 2' }).click();
  },
  '{"list":[{"name":"one"},{"name":"three"}]}',
);

sends(
  'one of several forms is chosen',
  {
    required: ['where'],
    properties: {
      where: {
        oneOf: [
          {
            title: 'A file',
            properties: { kind: { const: 'file' }, path: { type: 'string' } },
            required: ['kind', 'path'],
          },
          {
            title: 'A page',
            properties: { kind: { const: 'page' }, url: { type: 'string' } },
            required: ['kind', 'url'],
          },
        ],
      },
    },
  },
  async (card) => {
    await card.getByRole('combobox').selectOption({ label: 'A page' });
    await card.getByLabel('url').fill('https://example.com');
  },
  '{"where":{"kind":"page","url":"https://example.com"}}',
);

sends(
  'what may be null is null where something must stand',
  {
    required: ['a'],
    properties: {
      a: { type: ['string', 'null'] },
      b: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      c: { type: ['integer', 'null'] },
    },
  },
  (card) => card.getByLabel('b', { exact: true }).fill('7'),
  '{"a":null,"b":7}',
);

sends(
  'several values are ticked, and yes or no can stay unanswered',
  {
    properties: {
      extras: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'm', title: 'Meal' },
            { const: 'b', title: 'Bike' },
          ],
        },
        default: ['m'],
      },
      sure: { type: 'boolean' },
    },
  },
  async (card) => {
    await card.getByLabel('Bike').check();
    await card.getByLabel('Meal').uncheck();
    await card.getByLabel('sure').selectOption('No');
  },
  '{"extras":["b"],"sure":false}',
);

sends(
  'what no field can draw is JSON, checked for its syntax',
  { properties: { free: {}, map: { type: 'object', additionalProperties: { type: 'integer' } } } },
  async (card, tools) => {
    await card.getByLabel('map').fill('{"a":1.0,}');
    await tools.pass(700);
    await card.locator('[data-testid="accept"]').click();
    await card.getByText('This is not JSON. Line 1, column 10').waitFor();
    await card.getByLabel('map').fill('{"a":1.0}');
    await card.getByLabel('free').fill('[1e2,null]');
  },
  '{"free":[1e2,null],"map":{"a":1.0}}',
);

sends(
  'the whole can be edited as JSON, and what no field stands for is kept on the way back',
  { properties: { a: { type: 'string' }, n: { type: 'integer' } } },
  async (card) => {
    await card.getByLabel('a', { exact: true }).fill('x');
    await card.getByRole('button', { name: 'Edit as JSON' }).click();
    const whole = card.getByLabel('All values as JSON');
    assert.equal(await whole.inputValue(), '{\n  "a": "x"\n}');
    await whole.fill('{"a":"y"');
    await card.getByRole('button', { name: 'Edit as JSON' }).click();
    await card.getByText('This is not JSON.').waitFor();
    await whole.fill('{"more":[1.0],"n":98765432109876543210,"a":"y"}');
    await card.getByRole('button', { name: 'Edit as JSON' }).click();
    assert.equal(await card.getByLabel('n', { exact: true }).inputValue(), '98765432109876543210');
  },
  '{"a":"y","n":98765432109876543210,"more":[1.0]}',
);

sends(
  'what the fields cannot show keeps the whole as JSON, and says where it is',
  { properties: { a: { type: 'string' }, n: { type: 'integer' }, list: { type: 'array', items: { type: 'string' } } } },
  async (card) => {
    const turn = card.getByRole('button', { name: 'Edit as JSON' });
    await turn.click();
    const whole = card.getByLabel('All values as JSON');
    await whole.fill('{"a":"x","n":"twelve"}');
    await turn.click();
    await card.getByText('The fields cannot show the value at “n”').waitFor();
    assert.equal(await whole.inputValue(), '{"a":"x","n":"twelve"}', 'nothing is lost');
    await whole.fill('{"a":"x","list":["b",3]}');
    await turn.click();
    await card.getByText('The fields cannot show the value at “list / 1”').waitFor();
    await whole.fill('{"a":"x","n":12,"list":["b"]}');
    await turn.click();
    assert.equal(await card.getByLabel('n', { exact: true }).inputValue(), '12');
  },
  '{"a":"x","n":12,"list":["b"]}',
);

sends(
  'a schema that refers to itself is drawn as far as the user goes',
  {
    $defs: { node: { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } } } },
    properties: { tree: { $ref: '#/$defs/node' } },
  },
  async (card) => {
    await card.getByRole('button', { name: 'Add tree' }).click();
    await card.getByRole('button', { name: 'Add next' }).click();
    await card.getByLabel('name').last().fill('leaf');
  },
  '{"tree":{"next":{"name":"leaf"}}}',
);

mainTest(
  'keys that JavaScript treats in a way of its own are fields like others',
  asking(
    undefined,
    '{"required":["__proto__"],"properties":{"__proto__":{"type":"string","title":"Proto"},"constructor":{"type":"integer","default":1}}}',
  ),
  async (tools) => {
    await tools.by('prompt-p').getByLabel('Proto').fill('x');
    assert.equal(await submitted(tools), '{"__proto__":"x","constructor":1}');
  },
);

const doubling = Object.fromEntries(
  Array.from({ length: 12 }, (_, i) => [
    `d${i}`,
    {
      type: 'object',
      required: ['a', 'b', 'c'],
      properties: Object.fromEntries(
        ['a', 'b', 'c'].map((key) => [key, i < 11 ? { $ref: `#/$defs/d${i + 1}` } : { type: 'string' }]),
      ),
    },
  ]),
);
pageTest(
  'a schema that doubles with every step is drawn up to a limit',
  asking({ $defs: doubling, $ref: '#/$defs/d0' }),
  async ({ by }) => {
    await by('prompt-p').waitFor();
    const fields = await by('prompt-p').locator('input, textarea, select').count();
    assert.ok(fields > 10 && fields < 1000, String(fields));
  },
);

pageTest(
  'a field says what is wrong once it was left, and takes it back as soon as it is right',
  asking({
    required: ['n'],
    properties: { n: { type: 'integer', title: 'Seats', minimum: 1 }, m: { type: 'string', title: 'Other' } },
  }),
  async ({ by, page }) => {
    const card = by('prompt-p');
    const seats = card.getByLabel('Seats');
    await seats.focus();
    await page.keyboard.type('0');
    assert.equal(await seats.getAttribute('aria-invalid'), null, 'not while the first word is typed');
    await page.keyboard.press('Tab');
    assert.equal(await seats.getAttribute('aria-invalid'), 'true');
    await card.getByText('Enter a number of at least 1.').waitFor();
    await seats.fill('1');
    assert.equal(await seats.getAttribute('aria-invalid'), null);
  },
);

pageTest(
  'the sign that a field is wrong takes no click away from the button below',
  asking({ required: ['n'], properties: { n: { type: 'string', title: 'Name' } } }),
  async ({ by, hub, page, pass }) => {
    await by('prompt-p').getByLabel('Name').focus();
    await pass(700);
    await by('prompt-p').locator('[data-testid="decline"]').hover();
    await page.mouse.down();
    await page.mouse.up();
    assert.ok((await hub.next('answerPrompt')).answerPrompt.decline);
  },
);

pageTest(
  'a pattern of a hostile server does not hold up the page',
  asking({ properties: { a: { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(60)}!` } } }),
  async (tools) => {
    assert.equal(await submitted(tools), JSON.stringify({ a: `${'a'.repeat(60)}!` }));
  },
);

sends(
  'a default of several lines is sent as it came, and shown with its lines',
  { properties: { text: { type: 'string', default: 'one\r\ntwo\nthree' } } },
  async (card) => {
    assert.equal(await card.getByLabel('text', { exact: true }).inputValue(), 'one\ntwo\nthree');
  },
  '{"text":"one\\r\\ntwo\\nthree"}',
);

sends(
  'a proposed text that would hold up the page is left out, and others are not',
  {
    properties: {
      arabic: { type: 'string', default: '\u0644'.repeat(20_000) },
      accents: { type: 'string', default: `z${'\u0301'.repeat(20_000)}` },
      latin: { type: 'string', maxLength: 10_000, default: 'x'.repeat(5_000) },
      short: { type: 'string', default: 'مرحبا' },
    },
  },
  async (card) => {
    assert.equal(await card.getByText('The proposed value is left out: a field cannot show it.').count(), 2);
  },
  JSON.stringify({ latin: 'x'.repeat(5_000), short: 'مرحبا' }),
);

sends(
  'the one value of an optional field is sent only when it is chosen',
  { required: ['kind'], properties: { kind: { const: 'file' }, force: { const: true }, wipe: { const: 'all' } } },
  async (card) => {
    await card.getByLabel('wipe').selectOption({ label: 'all' });
  },
  '{"kind":"file","wipe":"all"}',
);

/**
 * Tests that the page draws few elements for a large schema, and answers.
 *
 * @param {string} name
 * @param {object} schema
 * @param {number} most
 */
const bounded = (name, schema, most) =>
  pageTest(name, asking(schema), async ({ by, page, settle }) => {
    const card = by('prompt-p');
    await card.waitFor();
    await settle();
    assert.ok((await page.locator('*').count()) < most, `${await page.locator('*').count()} elements`);
    await card.locator('[data-testid="accept"]').focus();
    await settle();
  });

pageTest(
  'a form of 20,000 fields says so, and is filled in as JSON',
  asking({ properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, { type: 'string' }])) }),
  async (tools) => {
    const whole = tools.by('prompt-p').getByLabel('All values as JSON');
    assert.equal(await whole.inputValue(), '{}');
    await whole.fill('{"f7": "x"}');
    assert.equal(await submitted(tools), '{"f7":"x"}');
  },
);

bounded(
  'a form of 20,000 fields is a text field for JSON',
  { properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, { type: 'string' }])) },
  500,
);
bounded(
  '20,000 fields in an object of the form are one field for JSON',
  {
    required: ['all'],
    properties: {
      all: {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, { type: 'string' }])),
      },
    },
  },
  500,
);
bounded(
  '20,000 forms to choose from are one field for JSON',
  { properties: { one: { oneOf: Array.from({ length: 20_000 }, (_, i) => ({ title: `t${i}`, type: 'string' })) } } },
  500,
);
bounded(
  'a value of 20,000 ones is typed, and not chosen from a list',
  {
    properties: {
      one: { enum: Array.from({ length: 20_000 }, (_, i) => `v${i}`) },
      some: { type: 'array', items: { enum: Array.from({ length: 20_000 }, (_, i) => `v${i}`) } },
    },
  },
  500,
);
sends(
  'a list with 20,000 entries by default is one field for JSON, and keeps them',
  {
    properties: {
      list: { type: 'array', items: { type: 'integer' }, default: Array.from({ length: 20_000 }, () => 1) },
    },
  },
  async (card, { page }) => {
    await card.getByLabel('list').waitFor();
    assert.ok((await page.locator('*').count()) < 500);
  },
  `{"list":[${Array.from({ length: 20_000 }, () => 1).join(',')}]}`,
);
