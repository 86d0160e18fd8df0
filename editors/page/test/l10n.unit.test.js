// The texts of the page: all texts that the user sees go through t or plural, and every language has them.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { languageOf } from '../src/language.js';
import { plural, t } from '../src/words/t.js';

const folder = fileURLToPath(new URL('../src/', import.meta.url));

/** Files of the host package that are part of the page. Their texts go through the translator that they are given. */
const shared = ['launchfacts.ts', 'serverwords.ts'].map((name) => join('../../host/src', name));

/** @typedef {{ name: string, text: string, plural: boolean, values: number, forms: string[] }} Use */

/** Strings for the program that look like words. */
const programs = new Set([
  'McpHub',
  'Cmd+Alt+M',
  'Enter',
  'Escape',
  'Home',
  'Tab',
  'card asks {}',
  'End',
  'Tab',
  'KeyQ',
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
  'JSON', // its own name in every language
  'Markdown',
  '({}) McpHub',
  '+{} ms',
  'json-name muted',
  'noopener noreferrer',
  'ui/notifications/tool-input', // methods and policies of views
  'ui/notifications/host-context-changed',
  'var(--vscode-editor-font-family, monospace)',
  'allow-scripts allow-same-origin',
  'img-src data:{}',
  'media-src data:{}',
  'mcphub demo --web', // lines for a terminal
  'mcphub config add NAME -- COMMAND',
  'mcphub config places',
]);

/** @param {ts.Node} node */
function literal(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return [node.head.text, ...node.templateSpans.map(({ literal: { text } }) => text)].join('{}');
  return undefined;
}

/** For functions that show their arguments, the index of the first shown one. @type {Record<string, number>} */
const shows = {
  announce: 0,
  block: 0,
  commandLink: 3,
  copyButton: 0,
  disclosure: 0,
  h: 2,
  iconButton: 1,
  note: 0,
  plainText: 1,
  setText: 1,
};
/** Attributes and properties that users read. */
const read = /^'?(?:text|textContent|aria-label|title|placeholder|alt|label|note|nodeValue)'?$/;

/** Returns whether the value of this node is shown, as far as its place in the code tells. @param {ts.Node} node */
function isShown(node) {
  let at = node;
  while (
    ts.isConditionalExpression(at.parent)
    || ts.isParenthesizedExpression(at.parent)
    || ts.isTemplateSpan(at.parent)
    || ts.isTemplateExpression(at.parent)
    || (ts.isBinaryExpression(at.parent) && /^(?:\+|\|\||\?\?|&&)$/.test(at.parent.operatorToken.getText()))
  ) {
    if (ts.isConditionalExpression(at.parent) && at.parent.condition === at) return false;
    at = at.parent;
  }
  const { parent } = at;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === at && read.test(parent.name.getText());
  if (ts.isCallExpression(parent)) {
    const first = shows[parent.expression.getText()] ?? Infinity;
    return parent.arguments.findIndex((one) => one === at) >= first;
  }
  return (
    ts.isBinaryExpression(parent)
    && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken
    && ts.isPropertyAccessExpression(parent.left)
    && read.test(parent.left.name.text)
  );
}

/** Returns whether a text looks like English: several words, or one with a capital. @param {string} text */
const readsAsWords = (text) =>
  !programs.has(text)
  && !/^(?:[.#:[(/]|data:|\{"|page\.html|the history has no|an empty list has no|input[:,])/.test(text)
  && !/[\x00-\x1f]/.test(text)
  && (/^[A-Z][a-z]{2,}(?:$|[ …?:.,])/.test(text) || /[a-z]{2,}[,.:;…?!”]? (?:\{\}|[a-z]+) ?[a-z{(.]/i.test(text));

/** Returns whether a text is a refusal to a view, which only the view's author reads. @param {ts.Node} node */
function isRefusal(node) {
  let { parent } = node;
  while (ts.isConditionalExpression(parent)) ({ parent } = parent);
  return ts.isNewExpression(parent) && parent.expression.getText() === 'Refusal';
}

/** Returns whether a text is a name of a class or of a method of the hub, or a selector. @param {ts.Node} node */
const isForProgram = ({ parent }) =>
  (ts.isPropertyAssignment(parent) && /^'?(?:class|testid)'?$/.test(parent.name.getText()))
  || (ts.isCallExpression(parent)
    && /\b(?:querySelector(?:All)?|matches|closest|longClass|call)$/.test(parent.expression.getText()));

/** @param {string} name @param {string} source */
export function textsIn(name, source) {
  /** @type {Use[]} */
  const uses = [];
  /** @type {string[]} */
  const faults = [];
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
  const where = (/** @type {ts.Node} */ node) =>
    `${name}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
  /** @param {ts.Node} node */
  const look = (node) => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    const called = ts.isCallExpression(node) ? node.expression.getText() : '';
    if (ts.isCallExpression(node) && (/^(?:l10n\.)?t$/.test(called) || called === 'plural')) {
      const literals = called === 'plural' ? node.arguments.slice(1, 3) : node.arguments.slice(0, 1);
      const forms = literals.filter((one) => ts.isStringLiteral(one)).map(({ text }) => text);
      const text = forms.at(-1);
      if (forms.length !== (called === 'plural' ? 2 : 1) || text === undefined)
        faults.push(`${where(node)}: the text of ${called} is no literal`);
      else {
        const values = node.arguments.length - (called === 'plural' ? 2 : 1);
        uses.push({ name: where(node), text, plural: called === 'plural', values, forms });
      }
      for (const one of node.arguments) if (!ts.isStringLiteral(one)) look(one);
      return;
    }
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'html') {
      // Of a template, what stands between its tags is shown, and some attributes.
      const markup = literal(node.template) ?? '';
      const read = markup.matchAll(/(?:aria-label|title|alt|placeholder)="([^"]*)"/g);
      const shown = [markup.replaceAll(/<[^<>]*>/g, ' '), ...[...read].map(([, value]) => value)].join(' ');
      if (/[a-z]{2,}/i.test(shown)) faults.push(`${where(node)}: “${shown.trim()}” is not in the language of the page`);
      if (ts.isTemplateExpression(node.template)) for (const span of node.template.templateSpans) look(span.expression);
      return;
    }
    const text = literal(node);
    if (text !== undefined && !isForProgram(node) && !isRefusal(node)) {
      // A single word counts where it is shown, and a sentence everywhere.
      const shown = isShown(node) && /[a-z]{2,}/i.test(text.replaceAll(/\{\}/g, '')) && !programs.has(text);
      if (shown || readsAsWords(text)) faults.push(`${where(node)}: “${text}” is not in the language of the page`);
    }
    ts.forEachChild(node, look);
  };
  look(file);
  return { uses, faults };
}

async function allTexts() {
  const names = (await readdir(folder, { recursive: true })).filter(
    (name) => name.endsWith('.ts') && !/^(?:gen|l10n)\//.test(name) && !['words/t.ts', 'language.ts'].includes(name),
  );
  const all = await Promise.all(
    [...names, ...shared].map(async (name) => textsIn(name, await readFile(join(folder, name), 'utf8'))),
  );
  return { uses: all.flatMap(({ uses }) => uses), faults: all.flatMap(({ faults }) => faults) };
}

/** @param {string} text */
const placeholders = (text) => [...new Set([...text.matchAll(/\{\d\}/g)].map(([one]) => one))].sort();

test('every text that the page shows is one of t or plural, and a literal', async () => {
  const { faults, uses } = await allTexts();
  assert.deepEqual(faults, []);
  assert.ok(uses.length > 500, `${uses.length} texts`);
});

test('a text beside t is found', () => {
  for (const bad of [
    `h('p', { text: 'Nothing here' })`,
    `h('p', { text: some ? 'nothing' : t('Some') })`,
    `h('button', { 'aria-label': \`Stop \${name}\` })`,
    `setText(line, 'done')`,
    `announce('Ready')`,
    `h('p', {}, 'and', name)`,
    `element.textContent = 'ready'`,
    `const words = { a: 'This is a sentence.' }`,
    `t(name)`,
    `plural(n, one, 'many')`,
  ])
    assert.equal(textsIn('a.js', bad).faults.length, 1, bad);
  for (const good of [
    `h('p', { 'class': 'muted card-status', 'text': t('Some') })`,
    `element.querySelector('article.card h3')`,
    `setText(line, \`\${a}: \${b}\`)`,
    `if (event.key === 'Enter') run()`,
  ])
    assert.deepEqual(textsIn('a.js', good).faults, [], good);
});

test('a text has as many values as it names', async () => {
  const { uses } = await allTexts();
  for (const { name, forms, values } of uses)
    for (const text of forms) {
      const named = placeholders(text);
      assert.deepEqual(
        named,
        Array.from({ length: named.length }, (_, i) => `{${i}}`),
        `${name}: ${text}`,
      );
      assert.equal(named.length, values, `${name}: ${text}`);
    }
});

const languages = await readdir(join(folder, 'l10n'));
for (const name of languages) {
  test(`${name} has every text of the page, no other, and their values`, async () => {
    /** @type {unknown} */
    const imported = await import(`../src/l10n/${name.replace('.ts', '.js')}`);
    const { default: texts } = /** @type {{ default: import('../src/texts.js').Texts }} */ (imported);
    const { uses } = await allTexts();
    const wanted = new Map(uses.map((use) => [use.text, use]));
    assert.deepEqual(
      [...wanted].filter(([text]) => !Object.hasOwn(texts, text)).map(([text, use]) => `${use.name}: ${text}`),
      [],
      'texts that are missing',
    );
    assert.deepEqual(
      Object.keys(texts).filter((text) => !wanted.has(text)),
      [],
      'texts that nothing uses',
    );
    const categories = new Intl.PluralRules(name.replace('.ts', '')).resolvedOptions().pluralCategories.sort();
    for (const [text, use] of wanted) {
      const found = texts[text] ?? '';
      assert.equal(typeof found === 'object', use.plural, text);
      if (typeof found === 'object') assert.deepEqual(Object.keys(found).sort(), categories, text);
      for (const form of typeof found === 'object' ? Object.values(found) : [found]) {
        assert.notEqual(form, '', text);
        assert.deepEqual(placeholders(form), placeholders(text), text);
        assert.equal(/^ /.test(form), /^ /.test(text), `blank before: ${text}`);
        assert.equal(/ $/.test(form), / $/.test(text), `blank behind: ${text}`);
      }
    }
  });
}

test('what page.html says by itself is translated, too', async () => {
  const html = await readFile(join(folder, 'page.html'), 'utf8');
  const frame = textsIn('frame.ts', await readFile(join(folder, 'frame.ts'), 'utf8')).uses.map(({ text }) => text);
  const said = [
    ...[...html.matchAll(/aria-label="([^"]+)"/g)].map(([, text]) => text),
    ...[...html.matchAll(/>([^<>]*[A-Za-z]{2,}[^<>]*)</g)].map(([, text]) => text?.trim()),
  ].filter((text) => text !== 'McpHub');
  assert.deepEqual(
    said.filter((text) => !frame.includes(text ?? '')),
    [],
  );
});

test('without a page the texts are English, in their form', () => {
  assert.equal(t('Tools of {0}', 'a {1} b'), 'Tools of a {1} b');
  assert.equal(plural(1, '{0} tool', '{0} tools'), '1 tool');
  assert.equal(plural(2, '{0} tool of {1}', '{0} tools of {1}', 'files'), '2 tools of files');
  assert.equal(plural(0, '{0} tool', '{0} tools'), '0 tools');
});

test('the first language of a reader that the page has is taken', () => {
  for (const [wanted, language] of /** @type {[string[], string][]} */ ([
    [['de'], 'de'],
    [['de-AT', 'en'], 'de'],
    [['DE-ch'], 'de'],
    [['fr', 'de', 'en'], 'de'],
    [['en-GB', 'de'], 'en'],
    [['constructor', 'fr'], 'en'],
    [[], 'en'],
  ]))
    assert.equal(languageOf(wanted), language, wanted.join());
});
